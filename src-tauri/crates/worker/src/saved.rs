//! Files of saved caches: their names, their keys in a protected folder, and the checksum that
//! shows whether a plain file is complete and in its place.
//!
//! llama.cpp aborts on some damaged files and accepts others. The checksum finds accidents. It
//! needs no flush to disk, because a file torn by a power cut has a wrong checksum. Encrypted files
//! need none.

mod keys;

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub use keys::CacheKeys;
use protection::SealedName;
use sha2::{Digest, Sha256};

/// File extension of a complete file.
pub const ENDING: &str = "kv";
/// File extension during writing.
pub const WRITING: &str = "part";
/// File extension during reading. After a crash the file keeps it and is never read again.
pub const READING: &str = "loading";

/// Start of the worker's messages about saved caches on stderr. They have no content of chats, so
/// the supervisor writes them to the log.
pub const NOTICE: &str = "inglenook-worker: saved caches: ";

const MARK: [u8; 12] = *b"inglenook-kv";
/// Bytes after llama.cpp's own data, which it ignores: the mark, and the checksum as u32 in
/// little-endian order.
const TRAILER: u64 = MARK.len() as u64 + 4;

/// Which part of a chat's cache a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// The part before the last reply, of a model that cannot go back to it.
    Earlier,
}

impl Part {
    pub const ALL: [Self; 2] = [Self::Whole, Self::Earlier];

    /// Returns the name of the plain file with this part of the cache of `cache_key`. It has a fixed
    /// length for any key.
    pub fn file_name(self, cache_key: &str) -> String {
        let hash = hashed(cache_key);
        match self {
            Self::Whole => format!("{hash}.{ENDING}"),
            Self::Earlier => format!("{hash}-earlier.{ENDING}"),
        }
    }
}

/// Returns the name of an encrypted file on the disk.
pub fn sealed_file_name(name: &SealedName) -> String {
    format!("{name}.{ENDING}")
}

/// Whether the file has the name of an encrypted cache, complete or not.
pub fn has_sealed_name(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str);
    stem.and_then(SealedName::parse).is_some()
}

fn hashed(cache_key: &str) -> String {
    hex::encode(&Sha256::digest(cache_key.as_bytes())[..16])
}

/// Completes a plain file with its checksum. `place` identifies the owner of the file.
///
/// # Errors
/// The file cannot be read or written.
pub fn append_checksum(path: &Path, place: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let sum = checksum(&mut file, length, place)?;
    file.write_all(&MARK)?;
    file.write_all(&sum.to_le_bytes())
}

/// Whether the plain file is unchanged since its checksum was appended for `place`.
///
/// # Errors
/// The file cannot be read.
pub fn has_valid_checksum(path: &Path, place: &str) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let Some(length) = file.metadata()?.len().checked_sub(TRAILER) else {
        return Ok(false);
    };
    let sum = checksum(&mut file, length, place)?;
    let mut trailer = Vec::with_capacity(MARK.len() + 4);
    file.seek(SeekFrom::Start(length))?;
    file.read_to_end(&mut trailer)?;
    Ok(trailer == [&MARK[..], &sum.to_le_bytes()].concat())
}

/// Checksum over the place and the first `length` bytes.
fn checksum(file: &mut File, length: u64, place: &str) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(place.as_bytes());
    let (mut buffer, mut rest) = (vec![0; 1 << 20], file.take(length));
    loop {
        match rest.read(&mut buffer)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_cannot_escape_the_folder() {
        let name = Part::Whole.file_name("../../etc/passwd");
        assert_eq!(name.len(), 32 + 3);
        assert!(name.ends_with(".kv") && !name.contains('/'), "{name}");
        assert_ne!(name, Part::Whole.file_name("../../etc/passwd "));
    }

    #[test]
    fn name_tells_encrypted_files_from_plain_ones() {
        let sealed = SealedName::parse(&"0a".repeat(32)).unwrap();
        let sealed = sealed_file_name(&sealed);
        assert_eq!(sealed.len(), 64 + 3);
        for ending in [ENDING, WRITING, READING] {
            assert!(has_sealed_name(&Path::new(&sealed).with_extension(ending)));
            for part in Part::ALL {
                let plain = part.file_name("chat");
                assert!(!has_sealed_name(&Path::new(&plain).with_extension(ending)));
            }
        }
    }

    #[test]
    fn checksum_covers_the_whole_file_and_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kv");
        let whole = {
            std::fs::write(&path, vec![7; 3_000_000]).unwrap();
            append_checksum(&path, "model/a.kv").unwrap();
            std::fs::read(&path).unwrap()
        };
        assert!(has_valid_checksum(&path, "model/a.kv").unwrap());
        assert!(!has_valid_checksum(&path, "other/a.kv").unwrap());
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let longer = [&whole[..], b"x"].concat();
        let damaged = [
            vec![],
            whole[..10].to_vec(),
            whole[..whole.len() - 1].to_vec(),
            longer,
            flipped(0),
        ];
        for bytes in damaged
            .into_iter()
            .chain([flipped(2_999_999), flipped(whole.len() - 1)])
        {
            std::fs::write(&path, &bytes).unwrap();
            assert!(
                !has_valid_checksum(&path, "model/a.kv").unwrap(),
                "{} bytes",
                bytes.len()
            );
        }
    }
}
