//! Counts tokens with a `tokenizer.json` that the user provides for a remote model.

mod check;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokenizers::{PostProcessorWrapper, Tokenizer};

/// Test sentence that every tokenizer of a chat model can encode.
const SENTENCE: &str = "The keeper of the lamps counts 12 ships.";

/// A parsed and tested Hugging Face `tokenizer.json`. Threads may share it.
pub struct TokenizerJson(Tokenizer);

/// Reason why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerJsonError {
    #[error("the file has {mebibytes} MiB; a tokenizer.json may have at most {}", TokenizerJson::MAX_BYTES >> 20)]
    TooLarge { mebibytes: usize },
    #[error("this file is not a tokenizer.json: {0}")]
    NotTokenizerJson(#[source] serde_json::Error),
    #[error("this tokenizer.json exceeds a safety limit: {what}")]
    Excessive { what: &'static str },
    #[error(
        "this tokenizer.json splits text at random (`dropout`), so its counts are not repeatable"
    )]
    Dropout,
    #[error("this tokenizer.json cannot be used: {reason}")]
    Unusable { reason: String },
    #[error("this tokenizer.json is damaged: its parts do not fit together; download it again")]
    Damaged,
}

impl TokenizerJson {
    /// The largest known files have about 35 MB.
    pub const MAX_BYTES: usize = 64 << 20;

    /// Parses a file and tests it on a sentence. May take seconds, and about ten times the file's
    /// size in memory.
    ///
    /// # Errors
    /// [`TokenizerJsonError`]. A hostile file is refused or counts nothing; it never panics.
    pub fn parse(json: &[u8]) -> Result<Self, TokenizerJsonError> {
        check::check(json)?;
        let read = contained(|| Tokenizer::from_bytes(json)).ok_or(TokenizerJsonError::Damaged)?;
        let mut tokenizer = read.map_err(unusable)?;
        // The file's own additions, truncation and padding would change the count of the plain
        // text.
        tokenizer
            .with_post_processor(None::<PostProcessorWrapper>)
            .with_padding(None);
        tokenizer.with_truncation(None).map_err(unusable)?;
        let tokenizer = Self(tokenizer);
        match tokenizer.count(SENTENCE) {
            Some(1..) => Ok(tokenizer),
            _ => Err(TokenizerJsonError::Damaged),
        }
    }

    /// Counts the tokens of `text`, always with the same result; `None` if the tokenizer cannot
    /// encode it.
    pub fn count(&self, text: &str) -> Option<u32> {
        let encoded = contained(|| self.0.encode_fast(text, false))?.ok()?;
        u32::try_from(encoded.len()).ok()
    }
}

impl std::fmt::Debug for TokenizerJson {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TokenizerJson")
            .finish_non_exhaustive()
    }
}

/// Catches panics: the crate trusts some parts of a file and panics if they are wrong. Unwind
/// safety holds because a tokenizer under construction is dropped, and counting changes only a
/// cache.
fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn unusable(error: tokenizers::Error) -> TokenizerJsonError {
    /// Maximum characters of the crate's message, which may quote the file at length.
    const QUOTE: usize = 300;
    TokenizerJsonError::Unusable {
        reason: error.to_string().chars().take(QUOTE).collect(),
    }
}
