//! Files that are either whole or absent.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

pub(crate) const ASSETS: &str = "assets";
pub(crate) const BACKUPS: &str = "backups";
const PARTIAL: &str = ".partial-";

/// A file that becomes visible with `keep`, and is removed if it never is.
pub(crate) fn partial(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(PARTIAL).tempfile_in(folder)
}

/// Gives a finished file its name, in a way that survives a power cut.
pub(crate) fn keep(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder_of(path)
}

/// Writes a whole file, and the folder it is in.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let mut file = partial(folder)?;
    file.write_all(bytes)?;
    keep(file, path)
}

/// Removes what a process that was killed left half-written.
pub(crate) fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A new name is on the disk once its folder is. Only Unix can ask for that; NTFS keeps its own journal.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        fs::File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
