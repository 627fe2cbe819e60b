//! Sealed files: content in chunks, encrypted with XChaCha20-Poly1305 in the STREAM construction.
//!
//! The nonce of a chunk contains its number and whether it is the last one, so a file that was cut,
//! reordered or extended does not open. The header and the name of the file are associated data of
//! every chunk, so a file does not open under another name.

mod layout;
mod reader;
mod writer;

use std::io;

pub use layout::{SEALED_MAGIC, sealed_content_bytes};
pub use reader::SealedReader;
pub use writer::SealedWriter;

/// Why a sealed file is not read.
#[derive(Debug, thiserror::Error)]
pub enum SealedFileError {
    #[error(
        "the file is not encrypted by Inglenook, or its beginning is damaged; \
         use a copy from a backup"
    )]
    NotSealed,
    #[error("the file has the format {found} of a newer Inglenook; update the app")]
    NewerVersion { found: u8 },
    #[error("the end of the encrypted file is missing; use a copy from a backup")]
    Truncated,
    /// Chunks are counted from 0. Another key and another name of the file look the same.
    #[error(
        "part {chunk} of the encrypted file is damaged, or the file is of another folder or name; \
         use a copy from a backup"
    )]
    Damaged { chunk: u32 },
    #[error("the encrypted file has more than 256 TiB, which Inglenook does not write")]
    TooLarge,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<SealedFileError> for io::Error {
    fn from(error: SealedFileError) -> Self {
        match error {
            SealedFileError::Io(error) => error,
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}
