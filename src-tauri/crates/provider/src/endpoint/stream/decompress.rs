//! Decompresses bodies that a server or a proxy compressed without being asked.

use std::io::Write;

use bytes::Bytes;
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

/// Compressed bytes per step. A decompression bomb expands them at most about a thousand times.
const STEP: usize = 4 << 10;

/// Decompresses the pieces of one body.
#[derive(Debug)]
pub(crate) enum Decompressor {
    /// No bytes have come yet, so the first ones may still show gzip.
    Unknown,
    Plain,
    Gzip(GzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
    Deflate(DeflateDecoder<Vec<u8>>),
}

/// Reason why a body cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecompressionError {
    /// The compression is not supported.
    Unknown(String),
    Damaged,
}

impl Decompressor {
    /// Selects the decoder by the `Content-Encoding` header.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, DecompressionError> {
        let named = headers
            .get(CONTENT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        match named.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Unknown),
            "gzip" | "x-gzip" => Ok(Self::Gzip(GzDecoder::new(Vec::new()))),
            "deflate" => Ok(Self::Zlib(ZlibDecoder::new(Vec::new()))),
            other => Err(DecompressionError::Unknown(
                other
                    .chars()
                    .filter(char::is_ascii_graphic)
                    .take(20)
                    .collect(),
            )),
        }
    }

    /// Whether the next piece needs no decompression, and therefore no copy.
    pub(crate) fn is_plain(&mut self, bytes: &[u8]) -> bool {
        self.recognise(bytes);
        matches!(self, Self::Unknown | Self::Plain)
    }

    /// Decompresses the next piece into `sink`, which may refuse more data.
    pub(crate) fn push<E: From<DecompressionError>>(
        &mut self,
        bytes: &Bytes,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.recognise(bytes);
        if let Self::Unknown | Self::Plain = self {
            return sink(bytes);
        }
        for step in bytes.chunks(STEP) {
            let unpacked = self.step(step).map_err(|_| DecompressionError::Damaged)?;
            sink(&unpacked)?;
        }
        Ok(())
    }

    /// Detects the format by the first bytes. Servers do not always declare compression, and
    /// `deflate` names two formats.
    fn recognise(&mut self, bytes: &[u8]) {
        match (&self, bytes) {
            (Self::Unknown, []) => {}
            (Self::Unknown, [0x1F, 0x8B, ..]) => *self = Self::Gzip(GzDecoder::new(Vec::new())),
            (Self::Unknown, _) => *self = Self::Plain,
            (Self::Zlib(decoder), [first, ..]) if decoder.total_in() == 0 && first & 0x0F != 8 => {
                *self = Self::Deflate(DeflateDecoder::new(Vec::new()));
            }
            _ => {}
        }
    }

    fn step(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        fn unpack<W: Write>(decoder: &mut W, bytes: &[u8]) -> std::io::Result<()> {
            decoder.write_all(bytes)?;
            decoder.flush()
        }
        match self {
            Self::Unknown | Self::Plain => Ok(bytes.to_vec()),
            Self::Gzip(decoder) => {
                unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder) => {
                unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut()))
            }
            Self::Deflate(decoder) => {
                unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut()))
            }
        }
    }
}
