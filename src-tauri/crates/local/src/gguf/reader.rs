//! Reads numbers and strings from a file of known length.

use std::io::{Read, Seek, SeekFrom};

use super::error::GgufFault;

/// Reads little-endian values, never beyond `length`.
pub(super) struct GgufReader<R> {
    source: R,
    at: u64,
    length: u64,
    part: &'static str,
}

impl<R: Read + Seek> GgufReader<R> {
    pub(super) fn new(source: R, length: u64) -> Self {
        Self {
            source,
            at: 0,
            length,
            part: "header",
        }
    }

    /// Names the part that is read next, for [`GgufFault::CutHeader`].
    pub(super) fn begin(&mut self, part: &'static str) {
        self.part = part;
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], GgufFault> {
        self.take(N as u64)?;
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, GgufFault> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, GgufFault> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// Reads a count of `what` and checks its limit.
    pub(super) fn count(&mut self, what: &'static str, limit: u64) -> Result<u64, GgufFault> {
        match self.u64()? {
            count if count > limit => Err(GgufFault::TooMany { what, count, limit }),
            count => Ok(count),
        }
    }

    /// Reads a string. Returns `None` for one longer than `limit` bytes, which is skipped. Replaces
    /// invalid UTF-8.
    pub(super) fn string(&mut self, limit: u64) -> Result<Option<String>, GgufFault> {
        let length = self.u64()?;
        if length > limit {
            self.skip(length)?;
            return Ok(None);
        }
        self.take(length)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| self.cut())?];
        self.source.read_exact(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), GgufFault> {
        self.take(bytes)?;
        // `take` has checked the sum against the file's length, which fits into i64.
        Ok(self.source.seek_relative(bytes as i64)?)
    }

    /// Returns to `at`, a position that was read before.
    pub(super) fn rewind(&mut self, at: u64) -> Result<(), GgufFault> {
        self.at = self.source.seek(SeekFrom::Start(at))?;
        Ok(())
    }

    fn take(&mut self, bytes: u64) -> Result<(), GgufFault> {
        self.at = self
            .at
            .checked_add(bytes)
            .filter(|end| *end <= self.length)
            .ok_or_else(|| self.cut())?;
        Ok(())
    }

    fn cut(&self) -> GgufFault {
        GgufFault::CutHeader {
            part: self.part,
            length: self.length,
        }
    }
}
