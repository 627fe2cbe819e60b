//! The bytes of a sealed file.
//!
//! | Offset | Bytes | Content |
//! |---|---|---|
//! | 0 | 8 | `NOOKSEAL` |
//! | 8 | 1 | version, 1 |
//! | 9 | 19 | random part of the nonces |
//! | 28 | | chunks of 65,536 bytes, each followed by its tag of 16 bytes; the last may be shorter |

use std::io::{self, Read};

use aead_stream::{NewStream as _, StreamBE32};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit as _;

use super::SealedFileError;
use crate::keys::FileKey;
use crate::random::{RandomError, random_bytes};
use crate::sealed_name::SealedName;

/// Content of a chunk, in bytes. Only the last chunk can be shorter.
pub(super) const CHUNK_BYTES: usize = 64 << 10;
pub(super) const TAG_BYTES: usize = 16;
/// A chunk in the file, in bytes.
pub(super) const SEALED_CHUNK_BYTES: usize = CHUNK_BYTES + TAG_BYTES;

/// The first bytes of every sealed file.
pub const SEALED_MAGIC: &[u8; 8] = b"NOOKSEAL";
const VERSION: u8 = 1;
/// The nonce of XChaCha20-Poly1305 without the five bytes that STREAM fills.
const NONCE_BYTES: usize = 19;
pub(super) const HEADER_BYTES: usize = SEALED_MAGIC.len() + 1 + NONCE_BYTES;
/// Header and name.
const ASSOCIATED_BYTES: usize = HEADER_BYTES + 32;

pub(super) type ChunkCipher = StreamBE32<XChaCha20Poly1305>;

/// The beginning of a sealed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SealedHeader {
    nonce: [u8; NONCE_BYTES],
}

impl SealedHeader {
    pub(super) fn random() -> Result<Self, RandomError> {
        random_bytes().map(Self::with_nonce)
    }

    pub(super) fn with_nonce(nonce: [u8; NONCE_BYTES]) -> Self {
        Self { nonce }
    }

    pub(super) fn read(mut file: impl Read) -> Result<Self, SealedFileError> {
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact(&mut bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => SealedFileError::NotSealed,
                _ => error.into(),
            })?;
        let (magic, rest) = bytes.split_at(SEALED_MAGIC.len());
        let (version, random) = rest.split_at(1);
        if magic != SEALED_MAGIC || version[0] == 0 {
            return Err(SealedFileError::NotSealed);
        }
        if version[0] > VERSION {
            return Err(SealedFileError::NewerVersion { found: version[0] });
        }
        let mut nonce = [0; NONCE_BYTES];
        nonce.copy_from_slice(random);
        Ok(Self { nonce })
    }

    pub(super) fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let (magic, rest) = bytes.split_at_mut(SEALED_MAGIC.len());
        let (version, random) = rest.split_at_mut(1);
        magic.copy_from_slice(SEALED_MAGIC);
        version[0] = VERSION;
        random.copy_from_slice(&self.nonce);
        bytes
    }

    pub(super) fn cipher(&self, key: &FileKey) -> ChunkCipher {
        let cipher = XChaCha20Poly1305::new(key.expose().into());
        ChunkCipher::from_aead(cipher, (&self.nonce).into())
    }

    pub(super) fn associated_data(&self, name: &SealedName) -> [u8; ASSOCIATED_BYTES] {
        let mut bytes = [0; ASSOCIATED_BYTES];
        let (header, rest) = bytes.split_at_mut(HEADER_BYTES);
        header.copy_from_slice(&self.bytes());
        rest.copy_from_slice(name.bytes());
        bytes
    }
}

/// The chunks of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkTable {
    /// At least one: an empty file has an empty chunk.
    pub(super) count: u32,
    /// Bytes of the last chunk in the file, with its tag.
    last_sealed: usize,
}

impl ChunkTable {
    /// `size`: bytes of the whole sealed file.
    pub(super) fn of(size: u64) -> Result<Self, SealedFileError> {
        let chunk = SEALED_CHUNK_BYTES as u64;
        let body = size.saturating_sub(HEADER_BYTES as u64);
        let last_sealed = match body % chunk {
            0 if body > 0 => chunk,
            rest => rest,
        };
        if last_sealed < TAG_BYTES as u64 {
            return Err(SealedFileError::Truncated);
        }
        Ok(Self {
            count: u32::try_from(body.div_ceil(chunk)).map_err(|_| SealedFileError::TooLarge)?,
            last_sealed: last_sealed as usize,
        })
    }

    pub(super) fn is_last(self, chunk: u32) -> bool {
        chunk == self.count - 1
    }

    /// Bytes of a chunk in the file, with its tag.
    pub(super) fn sealed_bytes(self, chunk: u32) -> usize {
        if self.is_last(chunk) {
            self.last_sealed
        } else {
            SEALED_CHUNK_BYTES
        }
    }

    /// Bytes of the content.
    pub(super) fn content_bytes(self) -> u64 {
        u64::from(self.count - 1) * CHUNK_BYTES as u64 + (self.last_sealed - TAG_BYTES) as u64
    }
}

/// Bytes of the content of a sealed file that has `sealed_bytes` bytes on the disk.
///
/// # Errors
/// [`SealedFileError`] if no sealed file has this size.
pub fn sealed_content_bytes(sealed_bytes: u64) -> Result<u64, SealedFileError> {
    ChunkTable::of(sealed_bytes).map(ChunkTable::content_bytes)
}

/// Place of a chunk in the file.
pub(super) fn offset(chunk: u32) -> u64 {
    HEADER_BYTES as u64 + u64::from(chunk) * SEALED_CHUNK_BYTES as u64
}
