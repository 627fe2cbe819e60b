//! Documents: texts that people attach to a chat, a character or a lorebook, and the passages that are found in them (S4.27).

mod cutter;
mod epub;
mod html;
mod kind;
mod markup;

use crate::archive::ArchiveError;
use crate::{CharacterId, ChatId, DocumentId, LorebookId, Timestamp};
use cutter::Cutter;
pub use epub::read as read_epub;
pub use html::read as read_html;
pub use kind::DocumentKind;

/// Bytes of a text that is taken in, whatever file it comes in: a long novel.
pub const MAX_BYTES: usize = 4 << 20;
/// Bytes of a file that holds more than its text: pictures, fonts, markup.
pub const MAX_FILE: usize = 32 << 20;
/// Bytes of a passage at the most: about 200 tokens, so that a small share of a small context holds one.
pub const MAX_PASSAGE: usize = 800;
/// Passages of a document. Text in paragraphs has a quarter of them; more headings than this are no text.
pub const MAX_PASSAGES: usize = 20_000;

/// What a text is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentOwner {
    Chat(ChatId),
    /// In all chats of the character.
    Character(CharacterId),
    /// Wherever the book counts.
    Lorebook(LorebookId),
}

/// A text that is attached to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: DocumentId,
    pub owner: DocumentOwner,
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

/// A part of a text that came in another form than plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// What stands under it, up to the next one, is cited by it.
    Heading(String),
    /// Lines that belong together.
    Paragraph(String),
}

impl Piece {
    /// Bytes of it, and one for what parts it from the next.
    fn size(&self) -> usize {
        match self {
            Self::Heading(text) | Self::Paragraph(text) => text.len() + 1,
        }
    }
}

/// Why a file is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("it has {bytes} bytes, and {limit} is the most")]
    TooLarge { bytes: usize, limit: usize },
    #[error("it holds more than {MAX_BYTES} bytes of text")]
    TooMuchText,
    #[error("it is not text in UTF-8")]
    NotText,
    #[error("there is no text in it")]
    Empty,
    #[error("it falls into more than {MAX_PASSAGES} passages")]
    TooManyPassages,
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("it is an archive, and no EPUB")]
    NotABook,
    #[error("the book is damaged: its {part} is missing or says nothing")]
    DamagedBook { part: &'static str },
    #[error("the book unpacks to more than {limit} bytes")]
    Unpacked { limit: usize },
    #[error("the book is copy-protected")]
    CopyProtected,
    #[error("the PDF is damaged, or no PDF")]
    DamagedPdf,
    #[error("the PDF is locked with a password")]
    Locked,
    #[error("the pages of the PDF are pictures: there is no text in them")]
    OnlyPictures,
    #[error("it takes too long to read")]
    TooSlow,
    #[error("something in it stopped its reader")]
    Unreadable,
}

/// Reads the file of a document and cuts it into passages, in their order. Takes time linear in its size.
///
/// # Errors
/// [`DocumentError`]: what it cannot be read for. Never half of it.
pub fn read(file: &[u8]) -> Result<Vec<Passage>, DocumentError> {
    if file.len() > MAX_BYTES {
        return Err(DocumentError::TooLarge { bytes: file.len(), limit: MAX_BYTES });
    }
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let text = std::str::from_utf8(file).map_err(|_| DocumentError::NotText)?;
    // No text has it, and most other files do.
    if text.contains('\0') {
        return Err(DocumentError::NotText);
    }
    bounded(passages(text))
}

/// Cuts what was read from another form of text into passages, in their order.
///
/// # Errors
/// [`DocumentError::Empty`] without text, [`DocumentError::TooMuchText`] and [`DocumentError::TooManyPassages`] with too much.
pub fn cut(pieces: &[Piece]) -> Result<Vec<Passage>, DocumentError> {
    if pieces.iter().map(Piece::size).sum::<usize>() > MAX_BYTES {
        return Err(DocumentError::TooMuchText);
    }
    let mut cutter = Cutter::default();
    for piece in pieces {
        match piece {
            _ if cutter.count() > MAX_PASSAGES => break,
            Piece::Heading(words) => cutter.begin(plain(words).trim()),
            Piece::Paragraph(text) => {
                let lines = text.lines().map(plain);
                lines.filter(|line| !line.trim().is_empty()).for_each(|line| cutter.line(line.trim_end()));
                cutter.end_paragraph();
            }
        }
    }
    bounded(cutter.finish())
}

fn bounded(passages: Vec<Passage>) -> Result<Vec<Passage>, DocumentError> {
    match passages.len() {
        0 => Err(DocumentError::Empty),
        count if count > MAX_PASSAGES => Err(DocumentError::TooManyPassages),
        _ => Ok(passages),
    }
}

/// A line without what steers terminals.
fn plain(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_control() || *letter == '\t').collect()
}

/// Whole paragraphs as long as there is room for them. A heading begins a passage; what is longer than one is cut at the end
/// of a sentence, else between two words, else between two letters.
pub fn passages(text: &str) -> Vec<Passage> {
    let mut cutter = Cutter::default();
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

/// The words of a Markdown heading.
fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let depth = line.len() - words.len();
    let words = words.strip_prefix(' ').filter(|_| (1..=6).contains(&depth))?;
    Some(words.trim_end_matches('#').trim()).filter(|words| !words.is_empty())
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
        assert_eq!(
            refused(&vec![b'a'; MAX_BYTES + 1]),
            DocumentError::TooLarge { bytes: MAX_BYTES + 1, limit: MAX_BYTES }
        );
        assert_eq!(refused("# a\nb\n".repeat(MAX_PASSAGES + 1).as_bytes()), DocumentError::TooManyPassages);
    }

    #[test]
    fn pieces_are_cut_like_a_text_and_no_line_of_theirs_is_a_heading() {
        let pieces = [
            Piece::Paragraph("Before.".into()),
            Piece::Heading("The\u{7} lamp".into()),
            Piece::Paragraph("# It burns\n\nwhale oil.".into()),
            Piece::Paragraph("```".into()),
            Piece::Heading("Nothing below".into()),
        ];
        let shown: Vec<String> =
            cut(&pieces).unwrap().into_iter().map(|one| format!("{}: {}", one.heading, one.text)).collect();
        assert_eq!(shown, [": Before.", "The lamp: # It burns\nwhale oil.\n```"]);
        assert_eq!(cut(&[Piece::Heading("Alone".into())]), Err(DocumentError::Empty));
        assert_eq!(cut(&[Piece::Paragraph("a".repeat(MAX_BYTES + 1))]), Err(DocumentError::TooMuchText));
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
