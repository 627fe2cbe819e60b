//! Errors of lorebooks and of single entries.

use crate::lenient_json::JsonError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    #[error(
        "the lorebook takes {bytes} bytes, and the limit is {limit}. Split it into several lorebooks"
    )]
    TooLarge { bytes: usize, limit: usize },
    #[error("the lorebook is not valid JSON, line {line}, column {column}: {problem}")]
    Json {
        line: usize,
        column: usize,
        problem: String,
    },
    #[error("the lorebook has {what}; the limit is {limit}. Split it into several lorebooks")]
    TooComplex { what: &'static str, limit: usize },
    #[error("this is not a lorebook: it has no list or map of \"entries\"")]
    NoEntries,
}

impl From<JsonError> for BookError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLarge { bytes, limit } => Self::TooLarge { bytes, limit },
            JsonError::TooComplex { what, limit } => Self::TooComplex { what, limit },
            JsonError::Syntax {
                line,
                column,
                problem,
            } => Self::Json {
                line,
                column,
                problem,
            },
        }
    }
}

/// An unreadable entry. The book keeps it and writes it back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {place} was skipped: {why}")]
pub struct Skipped {
    /// Key in the map, or index in the list.
    pub place: String,
    pub why: &'static str,
}
