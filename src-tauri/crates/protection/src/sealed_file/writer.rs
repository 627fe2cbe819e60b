//! Writes a sealed file.

use std::io::{self, Write};

use aead_stream::StreamPrimitive as _;
use zeroize::Zeroizing;

use super::layout::{CHUNK_BYTES, ChunkCipher, SEALED_CHUNK_BYTES, SealedHeader};
use crate::keys::FileKey;
use crate::sealed_name::SealedName;

/// Seals what is written to it. [`finish`](Self::finish) completes the file: without it, the file
/// does not open, so an interrupted write cannot be taken for a whole file.
pub struct SealedWriter<W> {
    file: W,
    cipher: ChunkCipher,
    associated_data: Vec<u8>,
    /// Content of the next chunk.
    buffer: Zeroizing<Vec<u8>>,
    /// Number of the next chunk. `None` after a failed write, because sealing other content with
    /// the same nonce would break the encryption.
    next: Option<u32>,
}

impl<W: Write> SealedWriter<W> {
    /// Begins a sealed file. Use each name for one content at a time.
    ///
    /// # Errors
    /// The file cannot be written, or the system has no random bytes.
    pub fn new(file: W, key: &FileKey, name: &SealedName) -> io::Result<Self> {
        let header = SealedHeader::random().map_err(io::Error::other)?;
        Self::with_header(file, header, key, name)
    }

    fn with_header(
        mut file: W,
        header: SealedHeader,
        key: &FileKey,
        name: &SealedName,
    ) -> io::Result<Self> {
        file.write_all(&header.bytes())?;
        Ok(Self {
            file,
            cipher: header.cipher(key),
            associated_data: header.associated_data(name).to_vec(),
            // Growing would leave content in freed memory.
            buffer: Zeroizing::new(Vec::with_capacity(SEALED_CHUNK_BYTES)),
            next: Some(0),
        })
    }

    /// Writes the last chunk and returns the file, which is flushed.
    ///
    /// # Errors
    /// The file cannot be written, or an earlier write failed.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        self.file.flush()?;
        Ok(self.file)
    }

    fn seal(&mut self, last: bool) -> io::Result<()> {
        let chunk = self.next.take().ok_or_else(|| {
            io::Error::other("the encrypted file cannot be continued after a failed write")
        })?;
        let sealed = self
            .cipher
            .encrypt_in_place(chunk, last, &self.associated_data, &mut *self.buffer)
            .map_err(io::Error::other);
        let written = sealed.and_then(|()| self.file.write_all(&self.buffer));
        self.buffer.clear();
        written?;
        self.next = chunk.checked_add(1);
        Ok(())
    }
}

impl<W: Write> Write for SealedWriter<W> {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        // The last chunk has a flag, so a full one waits until more content follows.
        if self.buffer.len() == CHUNK_BYTES && !content.is_empty() {
            self.seal(false)?;
        }
        let taken = content.len().min(CHUNK_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&content[..taken]);
        Ok(taken)
    }

    /// Flushes the complete chunks. The rest waits for [`finish`](SealedWriter::finish).
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use sha2_11::{Digest as _, Sha256};

    use super::*;
    use crate::keys::DataKey;

    /// Written with libsodium.
    #[test]
    fn file_equals_that_of_libsodium() {
        let key = FileKey::from_bytes(&counted(64));
        let name = SealedName::parse(&hex::encode(counted::<32>(0))).unwrap();
        let header = SealedHeader::with_nonce(counted(0));
        let content: Vec<u8> = (0..2 * CHUNK_BYTES + 5)
            .map(|place| (place % 251) as u8)
            .collect();
        let mut writer = SealedWriter::with_header(Vec::new(), header, &key, &name).unwrap();
        writer.write_all(&content).unwrap();
        let file = writer.finish().unwrap();
        assert_eq!(file.len(), 131_153);
        assert_eq!(
            hex::encode(Sha256::digest(&file)),
            "34fbbd5ed4e95a4f59d4b0476611477c36117801d4f138babf2548ef66187757"
        );
    }

    fn counted<const N: usize>(first: u8) -> [u8; N] {
        std::array::from_fn(|step| first + step as u8)
    }

    /// A disk that is full after `room` writes.
    struct FullDisk {
        room: usize,
    }

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.room = self.room.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nothing_is_sealed_after_a_failed_write() {
        let key = DataKey::generate().unwrap();
        let name = key.name_key().sealed_name("lamp");
        // Room for the header and one chunk.
        let disk = FullDisk { room: 2 };
        let mut writer = SealedWriter::new(disk, &key.file_key(), &name).unwrap();
        writer.write_all(&vec![7; 2 * CHUNK_BYTES]).unwrap();
        assert_eq!(
            writer.write(b"x").unwrap_err().kind(),
            io::ErrorKind::StorageFull
        );
        assert!(writer.buffer.is_empty());
        writer.write_all(b"x").unwrap();
        let again = writer.finish().err().unwrap();
        assert!(
            again.to_string().contains("after a failed write"),
            "{again}"
        );
    }
}
