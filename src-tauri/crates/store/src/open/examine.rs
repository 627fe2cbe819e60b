//! Examines the database file before a start changes anything. A foreign, empty or missing database
//! is treated as damage if the folder has backups or pictures. A fresh start would look as if
//! everything was lost.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::encryption::cipher::{self, FileForm};
use crate::identity::{FOREIGN, ours};
use crate::open::lock::Lock;
use crate::{FolderKeys, StoreError, backup, files, migrate};

/// Whether the database in the folder has content.
///
/// # Errors
/// `Damaged` if expected content is missing, or the content is not ours. `WrongKey` and
/// `Unprotected` if the key is not the one of the database.
pub(crate) fn examine(
    dir: &Path,
    lock: &Lock,
    keys: Option<&FolderKeys>,
) -> Result<bool, StoreError> {
    let path = dir.join(files::DATABASE);
    let damaged = |detail: &str| StoreError::Damaged {
        path: path.clone(),
        detail: detail.into(),
    };
    let lack = match contents(dir, &path, keys)? {
        Contents::Ours => return Ok(true),
        Contents::Foreign => return Err(damaged(FOREIGN)),
        Contents::Missing => "the file is missing",
        Contents::Empty => "the file is empty",
        Contents::Nothing => "the file has no content",
    };
    if keys.is_some_and(|keys| cipher::is_unconfirmed(dir, keys)) {
        return Err(StoreError::WrongKey {
            dir: dir.to_owned(),
        });
    }
    if !lock.allows_fresh() && (has_assets(dir) || backup::is_there(dir)) {
        return Err(damaged(lack));
    }
    Ok(false)
}

enum Contents {
    Missing,
    Empty,
    Ours,
    Foreign,
    Nothing,
}

fn contents(dir: &Path, path: &Path, keys: Option<&FolderKeys>) -> Result<Contents, StoreError> {
    match fs::metadata(path) {
        Err(_) => return Ok(Contents::Missing),
        Ok(file) if file.len() == 0 => return Ok(Contents::Empty),
        Ok(_) => {}
    }
    let is_plain = matches!(FileForm::of(path), Ok(FileForm::Plain));
    let found = content(path, keys.filter(|_| !is_plain)).map_err(|error| match keys {
        Some(keys) if is_unreadable(&error) && cipher::is_unconfirmed(dir, keys) => {
            StoreError::WrongKey {
                dir: dir.to_owned(),
            }
        }
        _ => StoreError::Sqlite(error).at(dir),
    })?;
    match found {
        Contents::Ours if is_plain && keys.is_some() => Err(StoreError::Unprotected {
            dir: dir.to_owned(),
        }),
        found => Ok(found),
    }
}

/// Whether the first page cannot be read. A wrong key and damage look the same.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::NotADatabase)
}

/// Inspects the file before anything is changed. The normal setup would add a write-ahead log to a
/// foreign file.
fn content(path: &Path, keys: Option<&FolderKeys>) -> rusqlite::Result<Contents> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    if keys.is_some() {
        cipher::keep_log(&conn)?;
    }
    cipher::unlock(&conn, keys)?;
    conn.busy_timeout(std::time::Duration::from_secs(10))?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match tables {
        0 if migrate::format(&conn)? == 0 => Contents::Nothing,
        _ if ours(&conn)? => Contents::Ours,
        _ => Contents::Foreign,
    })
}

/// Whether the folder has any picture or imported file.
fn has_assets(dir: &Path) -> bool {
    let shelves = fs::read_dir(dir.join(files::ASSETS))
        .into_iter()
        .flatten()
        .flatten();
    shelves
        .filter_map(|shelf| fs::read_dir(shelf.path()).ok())
        .any(|mut files| files.next().is_some())
}
