//! Opens a file and reads its first bytes: the magic number and the version.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use super::error::GgufFault;
use super::purpose;
use super::reader::GgufReader;

/// Maximum number of key-value pairs; real files have 20 to 60.
pub(super) const MAX_PAIRS: u64 = 65_536;
/// Maximum number of tensors; the largest published models have a few thousand.
pub(super) const MAX_TENSORS: u64 = 262_144;

pub(super) fn open(path: &Path) -> Result<(BufReader<File>, u64), GgufFault> {
    // Opening a pipe would wait for a writer forever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(GgufFault::NotRegularFile);
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((BufReader::with_capacity(64 * 1024, file), length))
}

pub(super) fn begin<R: Read + Seek>(reader: &mut GgufReader<R>) -> Result<u32, GgufFault> {
    if reader.length() == 0 {
        return Err(GgufFault::Empty);
    }
    let magic: [u8; 4] = reader.bytes()?;
    if &magic != b"GGUF" {
        return Err(GgufFault::NotGguf(purpose::of_magic(magic)));
    }
    match reader.u32()? {
        version @ (2 | 3) => Ok(version),
        version if version.swap_bytes() <= 3 => Err(GgufFault::BigEndian),
        version => Err(GgufFault::Version(version)),
    }
}
