//! Benchmark of the guess of a text's emotion.

use domain::emotion::{DEFAULT_LABELS, NEUTRAL, labels};
use provider::ProviderError;

use crate::recall_service::embeddings::emotion_guess::{Prototypes, nearest};
use crate::recall_service::embeddings::encoder::Encoder;

/// The guesses for `texts` among the default labels, in order.
///
/// # Errors
/// The encoder cannot run.
pub async fn guess(encoder: &Encoder, texts: &[&str]) -> Result<Vec<String>, ProviderError> {
    let prototypes = Prototypes::default();
    let labels = labels(DEFAULT_LABELS);
    let mut guesses = Vec::with_capacity(texts.len());
    for text in texts {
        let label = nearest(encoder, &prototypes, text, &labels).await?;
        guesses.push(label.unwrap_or_else(|| NEUTRAL.to_owned()));
    }
    Ok(guesses)
}
