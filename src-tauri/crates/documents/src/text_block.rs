//! Blocks of text, and the limits of a document.

use domain::document::Passage;

use crate::error::DocumentError;
use crate::splitter::PassageSplitter;

/// Maximum text size of a document in any format, in bytes. A long novel fits.
pub const MAX_BYTES: usize = 4 << 20;

/// Maximum size of a file that contains more than text, such as pictures, fonts and markup, in
/// bytes.
pub const MAX_FILE: usize = 32 << 20;

/// Maximum number of passages of a document. Normal text of the maximum size has a quarter of that.
pub const MAX_PASSAGES: usize = 20_000;

/// A part of a document in a format other than plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextBlock {
    /// Passages up to the next heading cite it.
    Heading(String),
    /// One or more lines that belong together.
    Paragraph(String),
}

impl TextBlock {
    /// Size in bytes, including a separator.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Heading(text) | Self::Paragraph(text) => text.len() + 1,
        }
    }
}

/// Splits pieces of another format into passages, in order.
///
/// # Errors
/// [`DocumentError::Empty`] without text, [`DocumentError::TooMuchText`] or
/// [`DocumentError::TooManyPassages`] above the limits.
pub fn cut(pieces: &[TextBlock]) -> Result<Vec<Passage>, DocumentError> {
    if pieces.iter().map(TextBlock::size).sum::<usize>() > MAX_BYTES {
        return Err(DocumentError::TooMuchText);
    }
    let mut cutter = PassageSplitter::default();
    for piece in pieces {
        match piece {
            _ if cutter.count() > MAX_PASSAGES => break,
            TextBlock::Heading(words) => cutter.begin(plain(words).trim()),
            TextBlock::Paragraph(text) => {
                let lines = text.lines().map(plain);
                lines
                    .filter(|line| !line.trim().is_empty())
                    .for_each(|line| cutter.line(line.trim_end()));
                cutter.end_paragraph();
            }
        }
    }
    bounded(cutter.finish())
}

pub(crate) fn bounded(passages: Vec<Passage>) -> Result<Vec<Passage>, DocumentError> {
    match passages.len() {
        0 => Err(DocumentError::Empty),
        count if count > MAX_PASSAGES => Err(DocumentError::TooManyPassages),
        _ => Ok(passages),
    }
}

/// Removes control characters, because terminals interpret them.
pub(crate) fn plain(line: &str) -> String {
    line.chars()
        .filter(|letter| !letter.is_control() || *letter == '\t')
        .collect()
}
