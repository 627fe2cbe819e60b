//! Documents: texts that people attach to a chat, and the passages that are found in them (S4.27).

use crate::{ChatId, DocumentId, Timestamp};

/// Bytes of a file that is taken in: a long novel.
pub const MAX_BYTES: usize = 4 << 20;
/// Bytes of a passage at the most: about 200 tokens, so that a small share of a small context holds one.
pub const MAX_PASSAGE: usize = 800;
/// Passages of a document. Text in paragraphs has a quarter of them; more headings than this are no text.
pub const MAX_PASSAGES: usize = 20_000;
/// Letters of a heading that are kept.
const MAX_HEADING: usize = 100;

/// A text that is attached to a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: DocumentId,
    pub chat: ChatId,
    /// What the file was called; passages are cited by it.
    pub name: String,
    /// Size of the file.
    pub bytes: u64,
    pub created: Timestamp,
}

/// A part of a document that can be read by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The Markdown heading that it stands under; empty without one.
    pub heading: String,
    /// At most [`MAX_PASSAGE`] bytes, never empty.
    pub text: String,
}

/// Why a file is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("it has {bytes} bytes, and {MAX_BYTES} is the most")]
    TooLarge { bytes: usize },
    #[error("it is not text in UTF-8")]
    NotText,
    #[error("there is no text in it")]
    Empty,
    #[error("it falls into more than {MAX_PASSAGES} passages")]
    TooManyPassages,
}

/// Reads the file of a document and cuts it into passages, in their order. Takes time linear in its size.
///
/// # Errors
/// [`DocumentError`]: what it cannot be read for. Never half of it.
pub fn read(file: &[u8]) -> Result<Vec<Passage>, DocumentError> {
    if file.len() > MAX_BYTES {
        return Err(DocumentError::TooLarge { bytes: file.len() });
    }
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let text = std::str::from_utf8(file).map_err(|_| DocumentError::NotText)?;
    // No text has it, and most other files do.
    if text.contains('\0') {
        return Err(DocumentError::NotText);
    }
    let passages = passages(text);
    match passages.len() {
        0 => Err(DocumentError::Empty),
        count if count > MAX_PASSAGES => Err(DocumentError::TooManyPassages),
        _ => Ok(passages),
    }
}

/// Whole paragraphs as long as there is room for them. A heading begins a passage; what is longer than one is cut at the end
/// of a sentence, else between two words, else between two letters.
pub fn passages(text: &str) -> Vec<Passage> {
    let mut cutter = Cutter::default();
    let mut fenced = false;
    for line in text.lines().flat_map(|line| line.split('\r')) {
        let line: String = line.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect();
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        match heading(line) {
            _ if cutter.passages.len() > MAX_PASSAGES => break,
            Some(heading) if !fenced => cutter.begin(heading),
            _ if line.is_empty() => cutter.end_paragraph(),
            _ => cutter.line(line),
        }
    }
    cutter.finish()
}

/// The words of a Markdown heading.
fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let depth = line.len() - words.len();
    let words = words.strip_prefix(' ').filter(|_| (1..=6).contains(&depth))?;
    Some(words.trim_end_matches('#').trim()).filter(|words| !words.is_empty())
}

#[derive(Default)]
struct Cutter {
    passages: Vec<Passage>,
    heading: String,
    passage: String,
    paragraph: String,
}

impl Cutter {
    fn begin(&mut self, heading: &str) {
        self.end_passage();
        self.heading = heading.chars().take(MAX_HEADING).collect();
    }

    fn line(&mut self, line: &str) {
        if !self.paragraph.is_empty() {
            self.paragraph.push('\n');
        }
        self.paragraph.push_str(line);
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let mut rest = paragraph.trim_end();
        if self.passage.len() + 1 + rest.len() > MAX_PASSAGE {
            self.push();
        }
        while rest.len() > MAX_PASSAGE {
            let (first, others) = cut(rest);
            self.passage.push_str(first);
            self.push();
            rest = others;
        }
        if !self.passage.is_empty() && !rest.is_empty() {
            self.passage.push('\n');
        }
        self.passage.push_str(rest);
    }

    fn end_passage(&mut self) {
        self.end_paragraph();
        self.push();
    }

    fn push(&mut self) {
        let text = std::mem::take(&mut self.passage);
        if !text.trim().is_empty() {
            self.passages.push(Passage { heading: self.heading.clone(), text });
        }
    }

    fn finish(mut self) -> Vec<Passage> {
        self.end_passage();
        self.passages
    }
}

/// A passage's worth of `text`, which is longer than one, and what follows.
fn cut(text: &str) -> (&str, &str) {
    let end = (0..=MAX_PASSAGE).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let late = || text[..end].char_indices().rev().take_while(|(at, _)| *at >= end / 2);
    let behind = |(at, letter): (usize, char)| at + letter.len_utf8();
    let sentence = late().find(|(at, letter)| ends_sentence(*letter, &text[at + letter.len_utf8()..])).map(behind);
    let word = || late().find(|(_, letter)| letter.is_whitespace()).map(behind);
    let (first, rest) = text.split_at(sentence.or_else(word).unwrap_or(end));
    (first.trim_end(), rest.trim_start())
}

fn ends_sentence(letter: char, rest: &str) -> bool {
    match letter {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' | '…' => rest.starts_with(char::is_whitespace),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each passage as `heading: text`, line breaks as `/`.
    fn shown(text: &str) -> Vec<String> {
        let passages = read(text.as_bytes()).unwrap();
        passages.iter().map(|passage| format!("{}: {}", passage.heading, passage.text.replace('\n', "/"))).collect()
    }

    #[test]
    fn paragraphs_share_a_passage_and_a_heading_begins_one() {
        let text =
            "\u{feff}The tower is old.\r\n\r\nIt leans.\n\n## The lamp ##\nIt burns\nwhale oil.\n\n#no heading\n\n# \n";
        assert_eq!(shown(text), [": The tower is old./It leans.", "The lamp: It burns/whale oil./#no heading/#"]);
        assert_eq!(shown("```\n# a comment\n```\n# Alone\n"), [": ```/# a comment/```"]);
    }

    #[test]
    fn paragraphs_stay_whole_while_they_can() {
        let long = |letter: &str| letter.repeat(500);
        assert_eq!(
            shown(&[long("a"), long("b")].join("\n\n")),
            [format!(": {}", long("a")), format!(": {}", long("b"))]
        );
    }

    #[track_caller]
    fn check_cut(text: String, first: &str) {
        let passages = read(text.as_bytes()).unwrap();
        assert!(passages[0].text.ends_with(first), "{:?}", passages[0].text);
        assert!(passages.iter().all(|passage| passage.text.len() <= MAX_PASSAGE));
    }

    #[test]
    fn what_is_too_long_is_cut_where_it_hurts_least() {
        check_cut(format!("{}end. {}", "word ".repeat(120), "more ".repeat(120)), "end.");
        check_cut("word ".repeat(400), "word");
        check_cut("灯塔很老。".repeat(200), "灯塔很老。");
        check_cut("ü".repeat(2_000), "ü");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let refused = |file: &[u8]| read(file).unwrap_err();
        assert_eq!(refused(b" \n\t\r\n"), DocumentError::Empty);
        assert_eq!(refused(b"# Only\n## headings\n"), DocumentError::Empty);
        assert_eq!(refused(b"caf\xe9"), DocumentError::NotText);
        assert_eq!(refused(b"\xff\xfet\0e\0x\0t\0"), DocumentError::NotText);
        assert_eq!(refused(b"GIF89a\0"), DocumentError::NotText);
        assert_eq!(refused(&vec![b'a'; MAX_BYTES + 1]), DocumentError::TooLarge { bytes: MAX_BYTES + 1 });
        assert_eq!(refused("# a\nb\n".repeat(MAX_PASSAGES + 1).as_bytes()), DocumentError::TooManyPassages);
    }

    #[test]
    fn the_longest_line_there_may_be_is_cut() {
        let passages = read(&vec![b'a'; MAX_BYTES]).unwrap();
        assert_eq!(passages.iter().map(|passage| passage.text.len()).sum::<usize>(), MAX_BYTES);
    }

    proptest! {
        /// No word is lost, none is added, and every passage is bounded.
        #[test]
        fn passages_are_the_text(text in "([a-zäß灯。. ]{0,400}\n{0,3}){0,12}") {
            let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
            let passages = read(text.as_bytes()).unwrap_or_default();
            let all: String = passages.iter().map(|passage| letters(&passage.text)).collect();
            prop_assert_eq!(all, letters(&text));
            prop_assert!(passages.iter().all(|passage| !passage.text.is_empty() && passage.text.len() <= MAX_PASSAGE));
        }
    }
}
