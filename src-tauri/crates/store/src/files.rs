//! Atomic file operations: a file is complete or absent.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// File name of the database.
pub(crate) const DATABASE: &str = "inglenook.db";
pub(crate) const ASSETS: &str = "assets";
/// Folder of thumbnails, which can be created again.
pub(crate) const THUMBNAILS: &str = "thumbnails";
pub(crate) const BACKUPS: &str = "backups";
/// Free space that the files next to the database need, in bytes.
const ROOM: usize = 128 * 1024;
const PARTIAL: &str = ".partial-";

/// Creates a folder and its missing parents, readable only by the owner. Existing folders keep
/// their permissions, because the user may share them on purpose. On Windows, home folders are
/// already private.
///
/// # Errors
/// When the folder does not exist and cannot be created.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Makes a file readable only by its owner, in any folder. A missing file is created empty; an
/// existing one loses the permissions of others. On Windows, home folders are already private.
///
/// # Errors
/// When the file cannot be created or its permissions cannot be changed.
pub(crate) fn make_private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    close_to_others(&file)
}

/// Removes the permissions of other users from a file.
pub(crate) fn close_to_others(file: &fs::File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = file.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(mode & 0o700))?;
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Creates a temporary file. It becomes visible with [`keep`] and is removed otherwise.
pub(crate) fn partial(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(PARTIAL).tempfile_in(folder)
}

/// Renames a finished file to its final name, durably.
pub(crate) fn keep(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder_of(path)
}

/// Writes a whole file and creates its folder.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_private_folder(folder)?;
    let mut file = partial(folder)?;
    file.write_all(bytes)?;
    keep(file, path)
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes partial files of a killed process, including in folders of assets and their thumbnails.
pub(crate) fn sweep_assets(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    sweep(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sweep(&entry.path())?;
        }
    }
    Ok(())
}

/// Whether the disk has no space for the files that a start writes next to the database.
pub(crate) fn is_full(folder: &Path) -> bool {
    let tried = partial(folder).and_then(|mut file| {
        file.write_all(&[0; ROOM])?;
        file.as_file().sync_all()
    });
    tried.is_err_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    })
}

/// The path of a file that SQLite writes next to a database, such as `-wal`.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Removes partial files of a killed process.
pub(crate) fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PARTIAL) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Flushes the folder, because a new file name is durable only then. Only Unix supports this; NTFS
/// has its own journal.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        fs::File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
