//! Frame format: a length (u32, little-endian), then that many bytes of JSON.
//!
//! A frame can hold keys, so its bytes are overwritten when they are dropped.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

/// Maximum bytes of JSON per frame.
pub const LIMIT: usize = 8 * 1024 * 1024;

/// Bytes of the length prefix.
pub const HEAD: usize = 4;

/// First size of the buffer of a frame, in bytes. A frame with keys fits into it: growing would
/// leave a copy in freed memory.
const ROOM: usize = 16 * 1024;

/// Reason why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("a frame of {bytes} bytes exceeds the limit of {LIMIT}")]
    TooLarge { bytes: usize },
    #[error("the pipe ended inside a frame, after {got} of {wanted} bytes")]
    Cut { wanted: usize, got: usize },
    /// The frame boundary is intact, so the next frame can be read. The text does not quote the
    /// frame, because logs must hold no content.
    #[error("a frame does not follow the protocol: {:?} error at byte {}", .0.classify(), .0.column())]
    Malformed(#[source] serde_json::Error),
    #[error("the pipe failed: {0}")]
    Pipe(#[from] io::Error),
}

/// Encodes one frame, including its length.
///
/// # Errors
/// [`FrameError::TooLarge`].
pub fn encode(message: &impl Serialize) -> Result<Zeroizing<Vec<u8>>, FrameError> {
    let mut bytes = Zeroizing::new(Vec::<u8>::with_capacity(ROOM));
    bytes.resize(HEAD, 0);
    serde_json::to_writer(&mut *bytes, message).map_err(FrameError::Malformed)?;
    let length = bytes.len() - HEAD;
    let head = u32::try_from(length)
        .ok()
        .filter(|_| length <= LIMIT)
        .ok_or(FrameError::TooLarge { bytes: length })?;
    bytes[..HEAD].copy_from_slice(&head.to_le_bytes());
    Ok(bytes)
}

/// Returns the number of JSON bytes after `head`.
///
/// # Errors
/// [`FrameError::TooLarge`]: the sender does not speak the protocol.
pub fn length(head: [u8; HEAD]) -> Result<usize, FrameError> {
    let bytes = u32::from_le_bytes(head) as usize;
    if bytes > LIMIT {
        Err(FrameError::TooLarge { bytes })
    } else {
        Ok(bytes)
    }
}

/// Decodes the JSON of one frame.
///
/// # Errors
/// [`FrameError::Malformed`].
pub fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, FrameError> {
    serde_json::from_slice(json).map_err(FrameError::Malformed)
}

/// Writes one frame and flushes it.
///
/// # Errors
/// [`FrameError::TooLarge`], with nothing written, and [`FrameError::Pipe`].
pub fn write(pipe: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    pipe.write_all(&encode(message)?)?;
    Ok(pipe.flush()?)
}

/// Reads one frame; `None` if the pipe ends between two frames.
///
/// # Errors
/// Any [`FrameError`]. After all but [`FrameError::Malformed`] the pipe is unusable.
pub fn read<T: DeserializeOwned>(pipe: &mut impl Read) -> Result<Option<T>, FrameError> {
    let mut head = Vec::with_capacity(HEAD);
    pipe.take(HEAD as u64).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let head = head.as_slice().try_into().map_err(|_| FrameError::Cut {
        wanted: HEAD,
        got: head.len(),
    })?;
    let wanted = length(head)?;
    let mut json = Zeroizing::new(Vec::<u8>::with_capacity(wanted));
    let got = pipe.take(wanted as u64).read_to_end(&mut json)?;
    if got < wanted {
        Err(FrameError::Cut { wanted, got })
    } else {
        decode(&json).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::{ErrorCode, WireSegment, WorkerReply, WorkerRequest};

    fn framed(json: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(json.len()).unwrap().to_le_bytes().to_vec();
        bytes.extend_from_slice(json);
        bytes
    }

    #[test]
    fn reads_frames_in_order_until_the_pipe_ends() {
        let sent = [
            WorkerRequest::Count {
                id: 7,
                texts: vec![WireSegment {
                    text: "naïve \u{0} 🦀".into(),
                    control: false,
                }],
            },
            WorkerRequest::Cancel { id: 7 },
            WorkerRequest::Shutdown,
        ];
        let mut pipe = Vec::new();
        for request in &sent {
            write(&mut pipe, request).unwrap();
        }
        let mut pipe = pipe.as_slice();
        for request in sent {
            assert_eq!(read(&mut pipe).unwrap(), Some(request));
        }
        assert_eq!(read::<WorkerRequest>(&mut pipe).unwrap(), None);
    }

    #[test]
    fn refuses_a_frame_above_the_limit() {
        let text = "x".repeat(9 * 1024 * 1024);
        let mut pipe = Vec::new();
        let (id, tokens) = (1, Vec::new());
        let error = write(&mut pipe, &WorkerReply::Text { id, text, tokens }).unwrap_err();
        assert!(matches!(error, FrameError::TooLarge { bytes } if bytes > 9 * 1024 * 1024));
        assert!(pipe.is_empty());
        assert!(matches!(
            read::<WorkerReply>(&mut b"garbage".as_slice()),
            Err(FrameError::TooLarge { .. })
        ));
    }

    #[test]
    fn next_frame_is_readable_after_a_malformed_one() {
        let bytes = [
            framed(b"{\"type\":\"dance\"}"),
            encode(&WorkerRequest::Shutdown).unwrap().to_vec(),
        ]
        .concat();
        let mut pipe = bytes.as_slice();
        assert!(matches!(
            read::<WorkerRequest>(&mut pipe),
            Err(FrameError::Malformed(_))
        ));
        assert_eq!(read(&mut pipe).unwrap(), Some(WorkerRequest::Shutdown));
    }

    #[test]
    fn error_does_not_quote_the_frame() {
        let bytes = framed(b"{\"type\":\"Anna is ill\"}");
        let error = read::<WorkerRequest>(&mut bytes.as_slice()).unwrap_err();
        assert!(!error.to_string().contains("Anna"), "{error}");
    }

    #[test]
    fn deep_nesting_is_malformed_json() {
        let bytes = framed("[".repeat(100_000).as_bytes());
        assert!(matches!(
            read::<WorkerRequest>(&mut bytes.as_slice()),
            Err(FrameError::Malformed(_))
        ));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut pipe = bytes.as_slice();
            while let Ok(Some(_)) | Err(FrameError::Malformed(_)) = read::<WorkerRequest>(&mut pipe) {}
        }

        #[test]
        fn truncated_frame_reports_missing_bytes(keep in 0.0..1.0f64) {
            let whole = encode(&WorkerReply::Error { id: None, code: ErrorCode::Load, message: "why".into() }).unwrap();
            let cut = &whole[..(whole.len() as f64 * keep) as usize];
            match read::<WorkerReply>(&mut &*cut) {
                Ok(None) => prop_assert!(cut.is_empty()),
                Err(FrameError::Cut { wanted, got }) => prop_assert!(got < wanted),
                other => prop_assert!(false, "{other:?}"),
            }
        }

        #[test]
        fn flipped_bytes_never_panic(at in 0usize..400, flip in 1u8..) {
            let mut bytes = Vec::new();
            for id in 0..4 {
                write(&mut bytes, &WorkerReply::Prefill { id, done: 64, total: 300, reused: 0 }).unwrap();
            }
            let at = at % bytes.len();
            bytes[at] ^= flip;
            let mut pipe = bytes.as_slice();
            while let Ok(Some(_)) | Err(FrameError::Malformed(_)) = read::<WorkerReply>(&mut pipe) {}
        }
    }
}
