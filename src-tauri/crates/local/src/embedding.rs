//! Decodes the embeddings in the worker's frames.

use ::worker::protocol;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::embedding::Embedding;
use provider::{ProviderError, ProviderErrorKind};

/// # Errors
/// The frame's parts do not match.
pub(crate) fn read(sent: protocol::EncodedEmbedding) -> Result<Embedding, ProviderError> {
    let decode = |text: &str| {
        STANDARD
            .decode(text)
            .map_err(|error| malformed(&error.to_string()))
    };
    let vectors: Vec<i8> = decode(&sent.vectors)?
        .into_iter()
        .map(u8::cast_signed)
        .collect();
    let numbers = decode(&sent.mean)?;
    let (numbers, rest) = numbers.as_chunks::<4>();
    let mean: Vec<f32> = numbers
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    if !rest.is_empty() || vectors.len() != mean.len() * sent.tokens.len() {
        return Err(malformed("the vectors and the tokens do not match"));
    }
    Ok(Embedding {
        tokens: sent.tokens,
        vectors,
        mean,
    })
}

pub(crate) fn malformed(why: &str) -> ProviderError {
    let message = format!("the worker sent invalid vectors: {why}");
    ProviderError::new(ProviderErrorKind::Malformed, message, "reinstall Inglenook")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(tokens: Vec<i32>, vectors: &[u8], mean: &[u8]) -> protocol::EncodedEmbedding {
        protocol::EncodedEmbedding {
            tokens,
            vectors: STANDARD.encode(vectors),
            mean: STANDARD.encode(mean),
        }
    }

    #[test]
    fn refuses_parts_that_do_not_match() {
        let half = 0.5_f32.to_le_bytes();
        let embedding = read(sent(vec![101, 102], &[127, 129], &half)).unwrap();
        assert_eq!(
            (embedding.vectors, embedding.mean),
            (vec![127, -127], vec![0.5])
        );
        assert!(read(sent(vec![101], &[1, 2], &half)).is_err());
        assert!(read(sent(vec![101], &[1], &half[..3])).is_err());
        assert!(
            read(protocol::EncodedEmbedding {
                vectors: "?".into(),
                ..sent(vec![], &[], &[])
            })
            .is_err()
        );
    }
}
