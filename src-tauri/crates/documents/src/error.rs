//! Errors of reading a document.

use crate::text_block::{MAX_BYTES, MAX_PASSAGES};
use domain::archive::ArchiveError;

/// Why a file cannot be used as a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("it has {bytes} bytes, and the limit is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("it contains more than {MAX_BYTES} bytes of text")]
    TooMuchText,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it contains no text")]
    Empty,
    #[error("it has more than {MAX_PASSAGES} passages")]
    TooManyPassages,
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("it is an archive, but not an EPUB book")]
    NotABook,
    #[error("the book is damaged: its {part} is missing or empty")]
    DamagedBook { part: &'static str },
    #[error("the book unpacks to more than {limit} bytes")]
    Unpacked { limit: usize },
    #[error("the book is copy-protected")]
    CopyProtected,
    #[error("the PDF is damaged")]
    DamagedPdf,
    #[error("the PDF is locked with a password")]
    Locked,
    #[error("the pages of the PDF are pictures without text")]
    OnlyPictures,
    #[error("it takes too long to read")]
    TooSlow,
    #[error("an unexpected error occurred while reading it")]
    Unreadable,
}
