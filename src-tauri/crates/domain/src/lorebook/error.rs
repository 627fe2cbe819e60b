//! What can be wrong with a book, and with one of its entries.

use crate::lenient_json::JsonError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    #[error("the file has {bytes} bytes, at most {limit} are read")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the lorebook is not valid JSON, line {line}, column {column}: {problem}")]
    Json { line: usize, column: usize, problem: String },
    #[error("the JSON has {what}, at most {limit} are read")]
    TooComplex { what: &'static str, limit: usize },
    #[error("this is no lorebook: a list or map of \"entries\" is expected")]
    NoEntries,
}

impl From<JsonError> for BookError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLarge { bytes, limit } => Self::TooLarge { bytes, limit },
            JsonError::TooComplex { what, limit } => Self::TooComplex { what, limit },
            JsonError::Syntax { line, column, problem } => Self::Json { line, column, problem },
        }
    }
}

/// An entry that could not be understood. It is kept in the book and written back as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {place} is left out: {why}")]
pub struct Skipped {
    /// Its name in the map, or its index in the list.
    pub place: String,
    pub why: &'static str,
}
