//! A text as vectors, as the worker's frames carry it.

use ::worker::protocol;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use provider::{ProviderError, ProviderErrorKind};

/// A text as an encoder understands it.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// The pieces of the text, with the model's marks at both ends.
    pub tokens: Vec<i32>,
    /// A vector for each token, one behind the other, of length 1 and times [`Embedding::SCALE`].
    pub vectors: Vec<i8>,
    /// The mean of all, of length 1.
    pub mean: Vec<f32>,
}

impl Embedding {
    /// What 1 is in [`Embedding::vectors`].
    pub const SCALE: f32 = protocol::Embedding::SCALE;

    /// # Errors
    /// The frame does not hold what it says.
    pub(crate) fn read(sent: protocol::Embedding) -> Result<Self, ProviderError> {
        let decode = |text: &str| STANDARD.decode(text).map_err(|error| malformed(&error.to_string()));
        let vectors: Vec<i8> = decode(&sent.vectors)?.into_iter().map(u8::cast_signed).collect();
        let numbers = decode(&sent.mean)?;
        let (numbers, rest) = numbers.as_chunks::<4>();
        let mean: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if !rest.is_empty() || vectors.len() != mean.len() * sent.tokens.len() {
            return Err(malformed("the vectors and the tokens do not match"));
        }
        Ok(Self { tokens: sent.tokens, vectors, mean })
    }
}

pub(crate) fn malformed(why: &str) -> ProviderError {
    let message = format!("the worker's vectors make no sense: {why}");
    ProviderError::new(ProviderErrorKind::Malformed, message, "reinstall Inglenook")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tokens: Vec<i32>, vectors: &[u8], mean: &[u8]) -> protocol::Embedding {
        protocol::Embedding { tokens, vectors: STANDARD.encode(vectors), mean: STANDARD.encode(mean) }
    }

    #[test]
    fn what_does_not_match_is_refused() {
        let half = 0.5_f32.to_le_bytes();
        let read = Embedding::read(sent(vec![101, 102], &[127, 129], &half)).unwrap();
        assert_eq!((read.vectors, read.mean), (vec![127, -127], vec![0.5]));
        assert!(Embedding::read(sent(vec![101], &[1, 2], &half)).is_err());
        assert!(Embedding::read(sent(vec![101], &[1], &half[..3])).is_err());
        assert!(Embedding::read(protocol::Embedding { vectors: "?".into(), ..sent(vec![], &[], &[]) }).is_err());
    }
}
