//! Encrypts all files of a folder that have content, or decrypts them: the current database, those
//! that were set aside, the backups and the assets.
//!
//! Guarantees
//! - A whole and verified copy of each file is on disk at any time.
//! - A repeated call finishes the work after a kill or an error, and does nothing after that. Until
//!   then, the folder does not open.
//! - A file that cannot be converted stays as it is and is reported.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::asset_conversion::convert_files;
use crate::asset_folder::AssetFolder;
use crate::encryption::cipher::{self, FileForm};
use crate::encryption::conversion::{Converted, KeyChange, copy_with_log};
use crate::open::lock::Lock;
use crate::{FolderKeys, StoreError, backup, files};

/// Encrypts a closed folder.
///
/// # Errors
/// `WrongKey` if the folder has no key file, or that of another key: the data would be lost with
/// the key.
pub(crate) fn protect(dir: &Path, keys: &FolderKeys) -> Result<Converted, StoreError> {
    if cipher::is_unconfirmed(dir, keys) {
        return Err(StoreError::WrongKey {
            dir: dir.to_owned(),
        });
    }
    let change = KeyChange {
        from: None,
        to: Some(keys),
    };
    convert(dir, change)
}

/// Decrypts a closed folder. Its key file is left to the caller.
///
/// # Errors
/// `WrongKey` if the database is encrypted with another key.
pub(crate) fn unprotect(dir: &Path, keys: &FolderKeys) -> Result<Converted, StoreError> {
    let change = KeyChange {
        from: Some(keys),
        to: None,
    };
    convert(dir, change)
}

/// A plain database next to a key file says that the conversion is not finished, so that nobody
/// works with a folder of two forms: such a folder does not open. The database is the last file to be
/// encrypted and the first to be decrypted. Its copy is made before anything else changes, because
/// most failures are those of the largest file.
fn convert(dir: &Path, change: KeyChange<'_>) -> Result<Converted, StoreError> {
    let mut lock = Lock::take(dir)?;
    if backup::restore_is_pending(dir) {
        return Err(StoreError::Conflict {
            detail: "a backup will be restored at the next start".into(),
        });
    }
    let mut converted = Converted::default();
    let copy = DatabaseCopy::make(dir, &mut lock, change)?;
    converted.databases += usize::from(copy.is_some());
    let (first, last) = match change.to {
        Some(_) => (None, copy),
        None => (copy, None),
    };
    first.map_or(Ok(()), |copy| copy.put_in_place(dir, &mut lock))?;
    backup::convert(dir, change, &mut converted)?;
    convert_files(dir, change, None, &mut converted)
        .and_then(|()| remove_thumbnails(dir))
        .map_err(|error| StoreError::file(error, dir, dir))?;
    last.map_or(Ok(()), |copy| copy.put_in_place(dir, &mut lock))?;
    Ok(converted)
}

/// The converted copy of the current database.
struct DatabaseCopy {
    file: NamedTempFile,
    /// Otherwise the next start still has to report what the last session lost.
    was_closed_cleanly: bool,
}

impl DatabaseCopy {
    /// `None` if there is no database, or if it has the wanted form.
    fn make(
        dir: &Path,
        lock: &mut Lock,
        change: KeyChange<'_>,
    ) -> Result<Option<Self>, StoreError> {
        let failed = |error| StoreError::file(error, dir, dir);
        let database = dir.join(files::DATABASE);
        if !has_content(&database).map_err(failed)? {
            return Ok(None);
        }
        require_readable(dir, &database, change)?;
        if change.is_done(&database) {
            return Ok(None);
        }
        let was_closed_cleanly = lock.closed_cleanly(&database);
        let file = copy_with_log(&database, change).map_err(|error| damaged(error, dir))?;
        if was_closed_cleanly {
            // Merging the log has changed the file.
            lock.mark_closed(&database).map_err(failed)?;
        }
        Ok(Some(Self {
            file,
            was_closed_cleanly,
        }))
    }

    fn put_in_place(self, dir: &Path, lock: &mut Lock) -> Result<(), StoreError> {
        let failed = |error| StoreError::file(error, dir, dir);
        let database = dir.join(files::DATABASE);
        files::keep(self.file, &database).map_err(failed)?;
        if self.was_closed_cleanly {
            lock.mark_closed(&database).map_err(failed)?;
        }
        Ok(())
    }
}

fn remove_thumbnails(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir.join(files::THUMBNAILS)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The files of a protected folder that can be read without its keys.
pub(crate) fn plain_leftovers(dir: &Path, keys: &FolderKeys) -> Vec<PathBuf> {
    let database = dir.join(files::DATABASE);
    let mut found = Vec::new();
    if matches!(FileForm::of(&database), Ok(FileForm::Plain)) {
        found.push(database);
    }
    for folder in [
        AssetFolder::assets(dir, Some(keys)),
        AssetFolder::thumbnails(dir, Some(keys)),
    ] {
        let files = folder.unsealed_files().into_iter();
        found.extend(files.map(|file| file.path));
    }
    found.extend(backup::plain_leftovers(dir, keys));
    found
}

fn has_content(database: &Path) -> io::Result<bool> {
    match fs::metadata(database) {
        Ok(file) => Ok(file.len() > 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// # Errors
/// `WrongKey` if the database is encrypted with another key.
fn require_readable(dir: &Path, database: &Path, change: KeyChange<'_>) -> Result<(), StoreError> {
    let is_encrypted = FileForm::of(database).is_ok_and(|form| form == FileForm::Encrypted);
    match change.from.or(change.to) {
        Some(keys) if is_encrypted && !cipher::opens(database, keys) => Err(StoreError::WrongKey {
            dir: dir.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// A failed check of the current database is damage of it.
fn damaged(error: StoreError, dir: &Path) -> StoreError {
    match error {
        StoreError::BadBackup { detail, .. } => StoreError::Damaged {
            path: dir.join(files::DATABASE),
            detail,
        },
        other => other.at(dir),
    }
}
