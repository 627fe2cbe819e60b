//! Files of saved caches: their names, and the seal that shows whether a file is complete and in
//! its place.
//!
//! llama.cpp aborts on some damaged files and accepts others. The seal is a checksum against
//! accidents. It needs no flush to disk, because a file torn by a power cut has a wrong seal.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

/// File extension of a complete file.
pub const ENDING: &str = "kv";
/// File extension during writing.
pub const WRITING: &str = "part";
/// File extension during reading. After a crash the file keeps it and is never read again.
pub const READING: &str = "loading";

const MARK: [u8; 12] = *b"inglenook-kv";
/// Length of the seal: the mark, and the checksum as u32 in little-endian order. llama.cpp ignores
/// bytes after its own data.
const SEAL: u64 = MARK.len() as u64 + 4;

/// Separates the hash of the cache key from the mark of a part in a file name.
pub const PART: char = '-';

/// Returns the file name for the cache of `cache_key`. It has a fixed length for any key.
pub fn file_name(cache_key: &str) -> String {
    format!("{}.{ENDING}", hashed(cache_key))
}

/// Returns the file name for the part of the cache before the last reply.
pub fn file_name_of_earlier_part(cache_key: &str) -> String {
    format!("{}{PART}earlier.{ENDING}", hashed(cache_key))
}

fn hashed(cache_key: &str) -> String {
    hex::encode(&Sha256::digest(cache_key.as_bytes())[..16])
}

/// Appends the seal. `place` identifies the owner of the file.
///
/// # Errors
/// The file cannot be read or written.
pub fn seal(path: &Path, place: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let sum = checksum(&mut file, length, place)?;
    file.write_all(&MARK)?;
    file.write_all(&sum.to_le_bytes())
}

/// Whether the file is unchanged since it was sealed for `place`.
///
/// # Errors
/// The file cannot be read.
pub fn is_sealed(path: &Path, place: &str) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let Some(length) = file.metadata()?.len().checked_sub(SEAL) else {
        return Ok(false);
    };
    let sum = checksum(&mut file, length, place)?;
    let mut seal = Vec::with_capacity(MARK.len() + 4);
    file.seek(SeekFrom::Start(length))?;
    file.read_to_end(&mut seal)?;
    Ok(seal == [&MARK[..], &sum.to_le_bytes()].concat())
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
        let name = file_name("../../etc/passwd");
        assert_eq!(name.len(), 32 + 3);
        assert!(name.ends_with(".kv") && !name.contains('/'), "{name}");
        assert_ne!(name, file_name("../../etc/passwd "));
    }

    #[test]
    fn seal_covers_the_whole_file_and_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.kv");
        let whole = {
            std::fs::write(&path, vec![7; 3_000_000]).unwrap();
            seal(&path, "model/a.kv").unwrap();
            std::fs::read(&path).unwrap()
        };
        assert!(is_sealed(&path, "model/a.kv").unwrap());
        assert!(!is_sealed(&path, "other/a.kv").unwrap());
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
                !is_sealed(&path, "model/a.kv").unwrap(),
                "{} bytes",
                bytes.len()
            );
        }
    }
}
