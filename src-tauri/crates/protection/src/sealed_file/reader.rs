//! Reads a sealed file, from any place.

use std::io::{self, Read, Seek, SeekFrom};

use aead_stream::StreamPrimitive as _;
use zeroize::Zeroizing;

use super::SealedFileError;
use super::layout::{CHUNK_BYTES, ChunkCipher, ChunkTable, SealedHeader, offset};
use crate::keys::FileKey;
use crate::sealed_name::SealedName;

/// The content of a sealed file. It returns only bytes of chunks that are whole and unchanged.
///
/// Each chunk is decrypted for itself, so a part of a large file can be read alone. Errors of
/// [`Read`] contain a [`SealedFileError`].
pub struct SealedReader<R> {
    file: R,
    cipher: ChunkCipher,
    associated_data: Vec<u8>,
    chunks: ChunkTable,
    /// Content of the chunk `loaded`.
    buffer: Zeroizing<Vec<u8>>,
    loaded: Option<u32>,
    /// Place in the content.
    position: u64,
}

impl<R: Read + Seek> SealedReader<R> {
    /// Opens a sealed file and decrypts its last chunk, so that a file whose end is missing is
    /// refused before its content is used.
    ///
    /// # Errors
    /// [`SealedFileError`].
    pub fn open(mut file: R, key: &FileKey, name: &SealedName) -> Result<Self, SealedFileError> {
        let size = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let header = SealedHeader::read(&mut file)?;
        let chunks = ChunkTable::of(size)?;
        let mut reader = Self {
            file,
            cipher: header.cipher(key),
            associated_data: header.associated_data(name).to_vec(),
            // Growing would leave content in freed memory. The first chunk is a largest one.
            buffer: Zeroizing::new(Vec::with_capacity(chunks.sealed_bytes(0))),
            chunks,
            loaded: None,
            position: 0,
        };
        reader.load(chunks.count - 1)?;
        Ok(reader)
    }

    /// Bytes of the whole content.
    #[must_use]
    pub fn content_bytes(&self) -> u64 {
        self.chunks.content_bytes()
    }

    /// Reads the whole content, into memory that is overwritten when it is dropped. The caller
    /// checks [`content_bytes`](Self::content_bytes) first if the file may be too large for memory.
    ///
    /// # Errors
    /// [`SealedFileError`].
    pub fn read_all(&mut self) -> Result<Zeroizing<Vec<u8>>, SealedFileError> {
        let size = usize::try_from(self.content_bytes()).map_err(|_| SealedFileError::TooLarge)?;
        let mut content = Zeroizing::new(Vec::<u8>::with_capacity(size));
        for chunk in 0..self.chunks.count {
            self.load(chunk)?;
            content.extend_from_slice(&self.buffer);
        }
        Ok(content)
    }

    /// Decrypts a chunk into the buffer.
    fn load(&mut self, chunk: u32) -> Result<(), SealedFileError> {
        if self.loaded == Some(chunk) {
            return Ok(());
        }
        self.loaded = None;
        let last = self.chunks.is_last(chunk);
        if self.decrypts(chunk, last)? {
            self.loaded = Some(chunk);
            return Ok(());
        }
        // The chunk is whole but was followed by others.
        if last && self.decrypts(chunk, false)? {
            return Err(SealedFileError::Truncated);
        }
        Err(SealedFileError::Damaged { chunk })
    }

    /// Whether the chunk is whole and unchanged.
    fn decrypts(&mut self, chunk: u32, last: bool) -> io::Result<bool> {
        self.file.seek(SeekFrom::Start(offset(chunk)))?;
        self.buffer.resize(self.chunks.sealed_bytes(chunk), 0);
        self.file.read_exact(&mut self.buffer)?;
        let opened =
            self.cipher
                .decrypt_in_place(chunk, last, &self.associated_data, &mut *self.buffer);
        Ok(opened.is_ok())
    }
}

impl<R: Read + Seek> Read for SealedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() || self.position >= self.content_bytes() {
            return Ok(0);
        }
        let chunk_bytes = CHUNK_BYTES as u64;
        let chunk = u32::try_from(self.position / chunk_bytes).map_err(io::Error::other)?;
        self.load(chunk)?;
        let start = (self.position % chunk_bytes) as usize;
        let content = &self.buffer[start..];
        let read = content.len().min(into.len());
        into[..read].copy_from_slice(&content[..read]);
        self.position += read as u64;
        Ok(read)
    }
}

impl<R: Read + Seek> Seek for SealedReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(step) => self.content_bytes().checked_add_signed(step),
            SeekFrom::Current(step) => self.position.checked_add_signed(step),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "a place before the beginning of the file was asked for",
            )
        })?;
        Ok(self.position)
    }
}
