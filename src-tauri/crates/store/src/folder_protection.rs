//! Encrypts all databases of a folder, or decrypts them: the current one, those that were set aside
//! and the backups.
//!
//! Guarantees
//! - A whole and verified database is on disk at any time.
//! - A repeated call finishes the work after a kill, and does nothing after that.
//! - A copy that cannot be converted stays as it is and is reported.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use protection::DatabaseKey;

use crate::cipher::{self, FileForm};
use crate::conversion::{Converted, KeyChange, replace};
use crate::lock::Lock;
use crate::{StoreError, backup, files};

/// Encrypts a closed folder.
///
/// # Errors
/// `WrongKey` if the folder has no key file, or that of another key: the data would be lost with
/// the key.
pub(crate) fn protect(dir: &Path, key: &DatabaseKey) -> Result<Converted, StoreError> {
    if cipher::is_unconfirmed(dir, key) {
        return Err(StoreError::WrongKey {
            dir: dir.to_owned(),
        });
    }
    let change = KeyChange {
        from: None,
        to: Some(key),
    };
    convert(dir, change)
}

/// Decrypts a closed folder. Its key file is left to the caller.
///
/// # Errors
/// `WrongKey` if the database is encrypted with another key.
pub(crate) fn unprotect(dir: &Path, key: &DatabaseKey) -> Result<Converted, StoreError> {
    let change = KeyChange {
        from: Some(key),
        to: None,
    };
    convert(dir, change)
}

fn convert(dir: &Path, change: KeyChange<'_>) -> Result<Converted, StoreError> {
    let mut lock = Lock::take(dir)?;
    if backup::restore_is_pending(dir) {
        return Err(StoreError::Conflict {
            detail: "a backup will be restored at the next start".into(),
        });
    }
    let failed = |error| StoreError::file(error, dir, dir);
    let mut converted = Converted::default();
    let database = dir.join(files::DATABASE);
    if has_content(&database).map_err(failed)? {
        require_readable(dir, &database, change)?;
        if !change.is_done(&database) {
            // Otherwise the next start still has to report what the last session lost.
            let is_clean = lock.closed_cleanly(&database);
            replace(&database, change).map_err(|error| damaged(error, dir))?;
            if is_clean {
                lock.mark_closed(&database).map_err(failed)?;
            }
            converted.databases += 1;
        }
    }
    backup::convert(dir, change, &mut converted)?;
    Ok(converted)
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
        Some(key) if is_encrypted && !cipher::opens(database, key) => Err(StoreError::WrongKey {
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
