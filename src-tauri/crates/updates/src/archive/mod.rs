//! Unpacks the archive of a version into a new folder, within limits.

mod destination;
mod tar_zst;
mod zip_file;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use self::destination::Destination;
use crate::folders::InstallStep;
use crate::manifest::UpdateArchive;

/// First bytes of a Zstandard frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// First bytes of a ZIP file.
const ZIP: [u8; 4] = *b"PK\x03\x04";
/// Bytes that are hashed at a time.
const BLOCK: usize = 256 << 10;

/// Why a version is not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("the downloaded archive is not the one that the manifest names")]
    Checksum,
    #[error("the archive is damaged: {problem}")]
    Damaged { problem: String },
    #[error("the archive has an entry that is not allowed, {name:?}: {why}")]
    Entry { name: String, why: &'static str },
    #[error("the disk is full")]
    Full { path: PathBuf },
    #[error("cannot access {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("there is no earlier version to go back to")]
    NoPrevious,
}

impl InstallError {
    /// Whether another try with the same archive would fail as well.
    pub(crate) fn is_about_archive(&self) -> bool {
        matches!(
            self,
            Self::Checksum | Self::Damaged { .. } | Self::Entry { .. }
        )
    }
}

/// The error of a file that cannot be read or written.
pub(crate) fn failed(path: &Path, source: io::Error) -> InstallError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => InstallError::Full { path },
        _ => InstallError::File { path, source },
    }
}

fn damaged(problem: impl ToString) -> InstallError {
    InstallError::Damaged {
        problem: problem.to_string(),
    }
}

/// Compares size and checksum of a downloaded file.
///
/// # Errors
/// [`InstallError::Checksum`], or the file cannot be read.
pub(crate) fn check(file: &Path, archive: &UpdateArchive) -> Result<(), InstallError> {
    let length = fs::metadata(file).map_or(0, |about| about.len());
    if length != archive.size {
        return Err(InstallError::Checksum);
    }
    let found = sha256(file).map_err(|source| failed(file, source))?;
    if found.eq_ignore_ascii_case(&archive.sha256) {
        Ok(())
    } else {
        Err(InstallError::Checksum)
    }
}

fn sha256(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            length => hasher.update(&block[..length]),
        }
    }
}

/// Unpacks a `.tar.zst` or `.zip` file into the empty folder `into`. Its first bytes tell which it
/// is.
///
/// # Errors
/// [`InstallError`].
pub(crate) fn unpack(
    archive: &Path,
    into: &Path,
    observe: &mut dyn FnMut(InstallStep),
) -> Result<(), InstallError> {
    let mut start = [0; 4];
    let file = File::open(archive).map_err(|source| failed(archive, source))?;
    (&file).read_exact(&mut start).map_err(damaged)?;
    drop(file);
    let destination = Destination::new(into, observe);
    match start {
        ZSTD => tar_zst::unpack(archive, destination),
        ZIP => zip_file::unpack(archive, destination),
        _ => Err(damaged("it is neither a .tar.zst nor a .zip file")),
    }
}

/// Writes the names in a folder and all folders below it to the disk.
///
/// # Errors
/// A folder cannot be read or written.
pub(crate) fn sync_folders(folder: &Path) -> Result<(), InstallError> {
    for entry in fs::read_dir(folder).map_err(|source| failed(folder, source))? {
        let path = entry.map_err(|source| failed(folder, source))?.path();
        if path.is_dir() {
            sync_folders(&path)?;
        }
    }
    sync_folder(folder)
}

/// Writes the names in a folder to the disk. Windows does this by itself.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), InstallError> {
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| failed(folder, source))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_told_apart() {
        let path = Path::new("versions/0.2.0.partial/bin/nook");
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let error = failed(path, kind.into());
            assert!(matches!(error, InstallError::Full { .. }), "{error:?}");
        }
        let error = failed(path, io::ErrorKind::PermissionDenied.into());
        assert!(matches!(error, InstallError::File { .. }), "{error:?}");
    }
}
