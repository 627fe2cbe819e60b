//! The tokenizer of a remote model, where its user has the model's `tokenizer.json` (C1).

mod check;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokenizers::{PostProcessorWrapper, Tokenizer};

/// A sentence that every tokenizer of a chat model cuts somehow.
const SENTENCE: &str = "The keeper of the lamps counts 12 ships.";

/// A `tokenizer.json` of Hugging Face's format that was read and tried. Threads may share it.
pub struct TokenizerJson(Tokenizer);

/// Why a file cannot count.
#[derive(Debug, thiserror::Error)]
pub enum TokenizerJsonError {
    #[error("the file has {mebibytes} MiB; a tokenizer.json may have {}", TokenizerJson::MAX_BYTES >> 20)]
    TooLarge { mebibytes: usize },
    #[error("this is no tokenizer.json: {0}")]
    NotOne(#[source] serde_json::Error),
    #[error("this tokenizer.json asks for more than any real one does: {what}")]
    Excessive { what: &'static str },
    #[error("this tokenizer.json cuts by chance (`dropout`), so it gives no count twice")]
    ByChance,
    #[error("this tokenizer.json cannot be used: {reason}")]
    Unusable { reason: String },
    #[error("this tokenizer.json is damaged: its parts do not fit together")]
    Damaged,
}

impl TokenizerJson {
    /// The largest files of this kind have some 35 MB.
    pub const MAX_BYTES: usize = 64 << 20;

    /// Reads a file's bytes and tries them on a sentence. Takes up to seconds, and some ten times the file's size of memory.
    ///
    /// # Errors
    /// [`TokenizerJsonError`]; hostile files are refused or count nothing, and none of them panics.
    pub fn parse(json: &[u8]) -> Result<Self, TokenizerJsonError> {
        check::check(json)?;
        let read = contained(|| Tokenizer::from_bytes(json)).ok_or(TokenizerJsonError::Damaged)?;
        let mut tokenizer = read.map_err(unusable)?;
        // A text is counted as it is and whole, so what the file would add, cut off or fill up is left away.
        tokenizer.with_post_processor(None::<PostProcessorWrapper>).with_padding(None);
        tokenizer.with_truncation(None).map_err(unusable)?;
        let tokenizer = Self(tokenizer);
        match tokenizer.count(SENTENCE) {
            Some(1..) => Ok(tokenizer),
            _ => Err(TokenizerJsonError::Damaged),
        }
    }

    /// Tokens of `text`, the same ones every time; `None` where the tokenizer has no answer.
    pub fn count(&self, text: &str) -> Option<u32> {
        let encoded = contained(|| self.0.encode_fast(text, false))?.ok()?;
        u32::try_from(encoded.len()).ok()
    }
}

impl std::fmt::Debug for TokenizerJson {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TokenizerJson").finish_non_exhaustive()
    }
}

/// The crate takes some files at their word and panics where they break it. Nothing that it was changing is looked at again:
/// a tokenizer that was being built is gone, and counting changes only the words that it remembers.
fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn unusable(error: tokenizers::Error) -> TokenizerJsonError {
    /// Characters of the crate's message that are passed on; it may quote the file at length.
    const QUOTE: usize = 300;
    TokenizerJsonError::Unusable { reason: error.to_string().chars().take(QUOTE).collect() }
}
