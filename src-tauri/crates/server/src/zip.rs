//! Writes a ZIP archive entry by entry while it is sent. Files are stored uncompressed, because
//! pictures do not compress.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zip::result::ZipResult;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

/// An archive that is being built.
pub(crate) struct ZipStream {
    writer: ZipWriter<StreamWriter<PendingBytes>>,
    unsent: PendingBytes,
    names: HashSet<String>,
}

/// Bytes that the writer has produced and that were not sent yet.
#[derive(Clone, Default)]
struct PendingBytes(Arc<Mutex<Vec<u8>>>);

impl ZipStream {
    pub(crate) fn new() -> Self {
        let unsent = PendingBytes::default();
        Self {
            writer: ZipWriter::new_stream(unsent.clone()),
            unsent,
            names: HashSet::new(),
        }
    }

    /// Adds a file and returns the new bytes of the archive. A duplicate name gets a number.
    pub(crate) fn file(&mut self, name: &str, bytes: &[u8]) -> ZipResult<Vec<u8>> {
        // A fixed date makes archives of the same files identical.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(u32::try_from(bytes.len()).is_err());
        let name = self.free(name);
        self.writer.start_file(name, options)?;
        self.writer.write_all(bytes)?;
        Ok(self.unsent.take())
    }

    /// Returns the bytes after the last file.
    pub(crate) fn end(self) -> ZipResult<Vec<u8>> {
        self.writer.finish()?;
        Ok(self.unsent.take())
    }

    fn free(&mut self, name: &str) -> String {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let numbered = (2_u32..).map(|number| format!("{stem}-{number}.{ending}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        // Some file systems ignore case.
        names
            .find(|name| self.names.insert(name.to_lowercase()))
            .unwrap_or_default()
    }
}

impl PendingBytes {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes())
    }
}

impl Write for PendingBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use zip::ZipArchive;

    use super::*;

    #[test]
    fn streamed_bytes_are_an_archive_of_all_files() {
        let mut zip = ZipStream::new();
        let mut sent = zip.file("Mira.json", b"{}").unwrap();
        assert!(
            !sent.is_empty(),
            "each file is sent before the next is added"
        );
        sent.extend(zip.file("mira.json", b"[1]").unwrap());
        sent.extend(zip.end().unwrap());

        let mut archive = ZipArchive::new(Cursor::new(sent)).unwrap();
        let mut files = Vec::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            files.push((file.name().unwrap().into_owned(), text));
        }
        let expected = [("Mira.json", "{}"), ("mira-2.json", "[1]")];
        assert_eq!(
            files,
            expected.map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
    }
}
