//! The text of documents: plain text, Markdown, HTML, EPUB and PDF, cut into passages that name
//! their heading or page.

mod epub;
mod error;
mod html;
mod kind;
mod markup;
mod pdf;
mod splitter;
mod text_block;

use domain::document::Passage;
pub use epub::read as read_epub;
pub use html::read as read_html;
pub use kind::DocumentKind;
pub use pdf::read as read_pdf;
use splitter::PassageSplitter;
use text_block::{bounded, plain};

pub use self::error::DocumentError;
pub use self::text_block::{MAX_BYTES, MAX_FILE, MAX_PASSAGES, TextBlock, cut};

/// Reads a text file and splits it into passages, in order. Takes linear time.
///
/// # Errors
/// [`DocumentError`] if the file cannot be read. There is no partial result.
pub fn read(file: &[u8]) -> Result<Vec<Passage>, DocumentError> {
    if file.len() > MAX_BYTES {
        return Err(DocumentError::TooLarge {
            bytes: file.len(),
            limit: MAX_BYTES,
        });
    }
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let text = std::str::from_utf8(file).map_err(|_| DocumentError::NotText)?;
    // NUL bytes occur in most binary files and not in text.
    if text.contains('\0') {
        return Err(DocumentError::NotText);
    }
    bounded(passages(text))
}

/// Splits a text into passages. Keeps paragraphs whole if they fit, and starts a new passage at
/// each heading. A longer paragraph is split at the end of a sentence, else between words, else
/// between characters.
pub fn passages(text: &str) -> Vec<Passage> {
    let mut cutter = PassageSplitter::default();
    let mut fenced = false;
    for line in text.lines().flat_map(|line| line.split('\r')) {
        let line = plain(line);
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        match heading(line) {
            _ if cutter.count() > MAX_PASSAGES => break,
            Some(heading) if !fenced => cutter.begin(heading),
            _ if line.is_empty() => cutter.end_paragraph(),
            _ => cutter.line(line),
        }
    }
    cutter.finish()
}

/// Returns the text of a Markdown heading.
fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let depth = line.len() - words.len();
    let words = words
        .strip_prefix(' ')
        .filter(|_| (1..=6).contains(&depth))?;
    Some(words.trim_end_matches('#').trim()).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use domain::document::MAX_PASSAGE;

    use super::*;

    /// Formats each passage as `heading: text`, with line breaks as `/`.
    fn shown(text: &str) -> Vec<String> {
        let passages = read(text.as_bytes()).unwrap();
        passages
            .iter()
            .map(|passage| format!("{}: {}", passage.heading, passage.text.replace('\n', "/")))
            .collect()
    }

    #[test]
    fn a_heading_starts_a_new_passage() {
        let text = "\u{feff}The tower is old.\r\n\r\nIt leans.\n\n## The lamp ##\nIt burns\nwhale oil.\n\n#no heading\n\n# \n";
        assert_eq!(
            shown(text),
            [
                ": The tower is old./It leans.",
                "The lamp: It burns/whale oil./#no heading/#"
            ]
        );
        assert_eq!(
            shown("```\n# a comment\n```\n# Alone\n"),
            [": ```/# a comment/```"]
        );
    }

    #[test]
    fn paragraphs_stay_whole_if_they_fit() {
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
        assert!(
            passages
                .iter()
                .all(|passage| passage.text.len() <= MAX_PASSAGE)
        );
    }

    #[test]
    fn long_paragraphs_split_at_sentence_then_word() {
        check_cut(
            format!("{}end. {}", "word ".repeat(120), "more ".repeat(120)),
            "end.",
        );
        check_cut("word ".repeat(400), "word");
        check_cut("灯塔很老。".repeat(200), "灯塔很老。");
        check_cut("ü".repeat(2_000), "ü");
    }

    #[test]
    fn refuses_files_that_are_not_text() {
        let refused = |file: &[u8]| read(file).unwrap_err();
        assert_eq!(refused(b" \n\t\r\n"), DocumentError::Empty);
        assert_eq!(refused(b"# Only\n## headings\n"), DocumentError::Empty);
        assert_eq!(refused(b"caf\xe9"), DocumentError::NotText);
        assert_eq!(refused(b"\xff\xfet\0e\0x\0t\0"), DocumentError::NotText);
        assert_eq!(refused(b"GIF89a\0"), DocumentError::NotText);
        assert_eq!(
            refused(&vec![b'a'; MAX_BYTES + 1]),
            DocumentError::TooLarge {
                bytes: MAX_BYTES + 1,
                limit: MAX_BYTES
            }
        );
        assert_eq!(
            refused("# a\nb\n".repeat(MAX_PASSAGES + 1).as_bytes()),
            DocumentError::TooManyPassages
        );
    }

    #[test]
    fn pieces_split_like_text_without_markdown_headings() {
        let pieces = [
            TextBlock::Paragraph("Before.".into()),
            TextBlock::Heading("The\u{7} lamp".into()),
            TextBlock::Paragraph("# It burns\n\nwhale oil.".into()),
            TextBlock::Paragraph("```".into()),
            TextBlock::Heading("Nothing below".into()),
        ];
        let shown: Vec<String> = cut(&pieces)
            .unwrap()
            .into_iter()
            .map(|one| format!("{}: {}", one.heading, one.text))
            .collect();
        assert_eq!(
            shown,
            [": Before.", "The lamp: # It burns\nwhale oil.\n```"]
        );
        assert_eq!(
            cut(&[TextBlock::Heading("Alone".into())]),
            Err(DocumentError::Empty)
        );
        assert_eq!(
            cut(&[TextBlock::Paragraph("a".repeat(MAX_BYTES + 1))]),
            Err(DocumentError::TooMuchText)
        );
    }

    #[test]
    fn splits_the_longest_allowed_line() {
        let passages = read(&vec![b'a'; MAX_BYTES]).unwrap();
        assert_eq!(
            passages
                .iter()
                .map(|passage| passage.text.len())
                .sum::<usize>(),
            MAX_BYTES
        );
    }

    proptest! {
        /// Passages contain every word exactly once and never exceed the size limit.
        #[test]
        fn passages_contain_the_whole_text(text in "([a-zäß灯。. ]{0,400}\n{0,3}){0,12}") {
            let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
            let passages = read(text.as_bytes()).unwrap_or_default();
            let all: String = passages.iter().map(|passage| letters(&passage.text)).collect();
            prop_assert_eq!(all, letters(&text));
            prop_assert!(passages.iter().all(|passage| !passage.text.is_empty() && passage.text.len() <= MAX_PASSAGE));
        }
    }
}
