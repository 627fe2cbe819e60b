//! The key file of a data folder, and its copies next to the backups.
//!
//! A backup needs a key file to be opened elsewhere, and a damaged key file needs a copy. So each
//! folder with backups has one, named after the data folder, because several may share a second
//! place.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use protection::{KEY_FILE_NAME, KeyFile};
use store::Store;

use crate::api::ProtectionFailure;
use crate::base::protection::error::UnlockError;

const COPY_PREFIX: &str = "protection-";
const COPY_ENDING: &str = ".json";
/// More bytes than any key file has.
const READ_LIMIT: u64 = 128 << 10;
/// Prefix of temporary files, which every start of the store removes.
const PARTIAL: &str = ".partial-";

/// The key files of a data folder.
#[derive(Debug, Clone)]
pub(crate) struct KeyFiles {
    dir: PathBuf,
}

/// A key file that could be read.
pub(crate) struct FoundKeyFile {
    pub(crate) path: PathBuf,
    pub(crate) file: KeyFile,
}

impl KeyFiles {
    pub(crate) fn of(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.join(KEY_FILE_NAME)
    }

    /// Whether the folder has a key file, readable or not.
    pub(crate) fn exists(&self) -> bool {
        Store::has_key_file(&self.dir)
    }

    /// Whether the folder is protected: it has a key file, or an encrypted database and a copy of
    /// its key file. A second place can have copies of other folders, so it does not count.
    pub(crate) fn is_protected(&self) -> bool {
        let has_copy = || !key_files_in(&Store::backup_folder(&self.dir)).is_empty();
        self.exists() || (self.has_no_plain_database() && has_copy())
    }

    /// Whether restoring an encrypted backup would replace a database without encryption.
    pub(crate) fn has_plain_database(&self) -> bool {
        Store::has_plain_header(&self.dir).unwrap_or(false)
    }

    /// Whether the database has content that is not plain.
    fn has_no_plain_database(&self) -> bool {
        Store::has_plain_header(&self.dir).is_some_and(|plain| !plain)
    }

    /// The key file in the data folder.
    ///
    /// # Errors
    /// `Damaged` and `File`.
    pub(crate) fn main(&self) -> Result<KeyFile, UnlockError> {
        read(&self.path())
    }

    /// The key file in the data folder if it can be read, then its copies.
    pub(crate) fn all(&self) -> Vec<FoundKeyFile> {
        let main = self.main().ok().map(|file| FoundKeyFile {
            path: self.path(),
            file,
        });
        let id = main.as_ref().and_then(|main| main.file.folder_id());
        let copies = self.copies().into_iter();
        let own = copies.filter(|copy| id.is_none() || copy.file.folder_id() == id);
        main.into_iter().chain(own).collect()
    }

    /// The copies next to the backups. A second place can also have those of other data folders.
    fn copies(&self) -> Vec<FoundKeyFile> {
        self.backup_folders()
            .iter()
            .flat_map(|folder| key_files_in(folder))
            .collect()
    }

    fn backup_folders(&self) -> Vec<PathBuf> {
        Store::backup_folders(&self.dir)
    }

    /// Writes the key file. It is complete or unchanged.
    pub(crate) fn write(&self, file: &KeyFile) -> Result<(), UnlockError> {
        let path = self.path();
        write(&path, file).map_err(|error| UnlockError::file(&path, error))
    }

    /// Replaces the key file with `file`, after `verify` has unlocked what was written.
    pub(crate) fn replace(
        &self,
        file: &KeyFile,
        verify: impl FnOnce(&KeyFile) -> Result<(), UnlockError>,
    ) -> Result<(), UnlockError> {
        let path = self.path();
        let failed = |error| UnlockError::file(&path, error);
        let written = partial(&self.dir, file).map_err(failed)?;
        verify(&read(written.path())?)?;
        keep(written, &path).map_err(failed)?;
        for failure in self.write_copies(file) {
            tracing::warn!(reason = failure.reason, "a copy of the key file is old");
        }
        Ok(())
    }

    /// Writes the copies that differ. Returns those that failed.
    pub(crate) fn write_copies(&self, file: &KeyFile) -> Vec<ProtectionFailure> {
        let Some(name) = copy_name(file) else {
            return Vec::new();
        };
        let json = file.to_json();
        let paths = self
            .backup_folders()
            .into_iter()
            .map(|folder| folder.join(&name));
        let is_whole = file.is_whole();
        let outdated = paths.filter(|path| {
            let differs = fs::read(path).ok().as_deref() != Some(json.as_bytes());
            // A damaged key file must not replace a copy that can repair it.
            differs && (is_whole || !read(path).is_ok_and(|copy| copy.is_whole()))
        });
        outdated
            .filter_map(|path| failure(write(&path, file), &path))
            .collect()
    }

    /// Writes the first key file.
    ///
    /// # Errors
    /// There is one, or the folder cannot be written to.
    pub(crate) fn create(&self, file: &KeyFile) -> Result<(), UnlockError> {
        let path = self.path();
        let failed = |error| UnlockError::file(&path, error);
        let written = partial(&self.dir, file).map_err(failed)?;
        written
            .persist_noclobber(&path)
            .map_err(|error| failed(error.error))?;
        sync_folder_of(&path).map_err(failed)
    }

    /// Whether a copy of `file` is next to the backups.
    pub(crate) fn has_copy(&self, file: &KeyFile) -> bool {
        let id = file.folder_id();
        let copies = self.copies();
        id.is_some() && copies.iter().any(|copy| copy.file.folder_id() == id)
    }

    /// Removes the key file.
    pub(crate) fn remove(&self) -> Result<(), UnlockError> {
        let path = self.path();
        remove(&path).map_err(|error| UnlockError::file(&path, error))
    }

    /// Removes the copies of `file`. Returns those that remain.
    pub(crate) fn remove_copies(&self, file: &KeyFile) -> Vec<ProtectionFailure> {
        let Some(name) = copy_name(file) else {
            return Vec::new();
        };
        let paths = self
            .backup_folders()
            .into_iter()
            .map(|folder| folder.join(&name));
        paths
            .filter_map(|path| failure(remove(&path), &path))
            .collect()
    }
}

/// The key files in a folder that can be read.
pub(crate) fn key_files_in(folder: &Path) -> Vec<FoundKeyFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name == KEY_FILE_NAME || (name.starts_with(COPY_PREFIX) && name.ends_with(COPY_ENDING))
        })
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let readable = paths.into_iter().filter_map(|path| {
        let file = read(&path).ok()?;
        Some(FoundKeyFile { path, file })
    });
    readable.collect()
}

fn copy_name(file: &KeyFile) -> Option<String> {
    let id = file.folder_id()?;
    Some(format!("{COPY_PREFIX}{id:08x}{COPY_ENDING}"))
}

fn read(path: &Path) -> Result<KeyFile, UnlockError> {
    let mut json = Vec::new();
    File::open(path)
        .and_then(|file| file.take(READ_LIMIT).read_to_end(&mut json))
        .map_err(|error| UnlockError::file(path, error))?;
    KeyFile::parse(&json).map_err(|error| UnlockError::damaged(path, &error))
}

fn write(path: &Path, file: &KeyFile) -> io::Result<()> {
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    keep(partial(folder, file)?, path)
}

/// A temporary file with the key file, on the disk. Only its owner can read it.
fn partial(folder: &Path, file: &KeyFile) -> io::Result<tempfile::NamedTempFile> {
    store::make_private_folder(folder)?;
    let mut partial = tempfile::Builder::new()
        .prefix(PARTIAL)
        .tempfile_in(folder)?;
    partial.write_all(file.to_json().as_bytes())?;
    partial.as_file().sync_all()?;
    Ok(partial)
}

fn keep(file: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map_err(|error| error.error)?;
    sync_folder_of(path)
}

/// A missing file is removed already.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.and_then(|()| sync_folder_of(path)),
    }
}

/// A new name is durable only when its folder is flushed. NTFS has its own journal.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn failure(done: io::Result<()>, path: &Path) -> Option<ProtectionFailure> {
    let error = done.err()?;
    Some(ProtectionFailure {
        file: path.display().to_string(),
        reason: error.to_string(),
    })
}
