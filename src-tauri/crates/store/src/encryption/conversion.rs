//! Encrypts or decrypts one database file: copies, converts, verifies and flushes it, before the copy
//! replaces it in one step.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::NamedTempFile;

use crate::connection::{guard, quick_check};
use crate::encryption::cipher::{self, FileForm};
use crate::{FolderKeys, StoreError, backup, files};

/// The result of encrypting or decrypting a data folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Converted {
    /// Number of databases that were converted, including copies.
    pub databases: usize,
    /// Number of files of assets that were converted, including those of backups.
    pub files: usize,
    /// Files that stay as they were, each with the reason.
    pub failed: Vec<(PathBuf, String)>,
}

/// The keys of a folder before and after; one of them is `None`.
#[derive(Clone, Copy)]
pub(crate) struct KeyChange<'k> {
    pub(crate) from: Option<&'k FolderKeys>,
    pub(crate) to: Option<&'k FolderKeys>,
}

impl<'k> KeyChange<'k> {
    /// The keys of the protected folder.
    pub(crate) fn keys(self) -> Option<&'k FolderKeys> {
        self.from.or(self.to)
    }

    /// Whether a file has the wanted form.
    pub(crate) fn is_done(self, database: &Path) -> bool {
        let wanted = if self.to.is_some() {
            FileForm::Encrypted
        } else {
            FileForm::Plain
        };
        FileForm::of(database).is_ok_and(|form| form == wanted)
    }
}

/// Replaces a database with its converted copy. A database that was set aside may have a log.
pub(crate) fn replace(database: &Path, change: KeyChange<'_>) -> Result<(), StoreError> {
    let copy = copy_with_log(database, change)?;
    files::keep(copy, database).map_err(|error| file_error(error, database))
}

/// Like [`converted_copy`], of a database that may have a log.
pub(crate) fn copy_with_log(
    database: &Path,
    change: KeyChange<'_>,
) -> Result<NamedTempFile, StoreError> {
    let folder = database.parent().unwrap_or(database);
    files::sweep(folder).map_err(|error| file_error(error, database))?;
    merge_log(database, change.from)?;
    converted_copy(database, change)
}

/// A verified copy of a database without a log, next to it.
pub(crate) fn converted_copy(
    database: &Path,
    change: KeyChange<'_>,
) -> Result<NamedTempFile, StoreError> {
    let failed = |error| file_error(error, database);
    let folder = database.parent().unwrap_or(Path::new("."));
    let mut copy = files::partial(folder).map_err(failed)?;
    fs::File::open(database)
        .and_then(|mut file| io::copy(&mut file, &mut copy))
        .map_err(failed)?;
    cipher::convert_copy(copy.path(), change.from, change.to)?;
    if !change.is_done(copy.path()) {
        return Err(bad(database, "its copy has the wrong form"));
    }
    backup::verify_copy(copy.path(), change.to)?;
    let rows = |path: &Path, keys| backup::read_only(path, keys).and_then(|conn| row_counts(&conn));
    if rows(database, change.from)? != rows(copy.path(), change.to)? {
        return Err(bad(database, "its copy has other rows"));
    }
    Ok(copy)
}

/// Merges the log into the file and removes it: SQLite would apply it to the converted file.
fn merge_log(database: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
    let conn = Connection::open(database)?;
    cipher::unlock(&conn, keys)?;
    guard(&conn)?;
    // A damaged database keeps its log.
    cipher::keep_log(&conn)?;
    quick_check(&conn).map_err(|detail| bad(database, &detail))?;
    conn.pragma_update(None, "journal_mode", "DELETE")?;
    drop(conn);
    let left = ["-wal", "-journal"].map(|ending| files::beside(database, ending));
    if left.iter().any(|log| log.exists()) {
        return Err(bad(database, "its log is in use by another program"));
    }
    Ok(())
}

/// Name and number of rows of every table.
fn row_counts(conn: &Connection) -> rusqlite::Result<Vec<(String, i64)>> {
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
         ORDER BY name";
    let names: Vec<String> = conn
        .prepare(tables)?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let count = |name: String| -> rusqlite::Result<(String, i64)> {
        let sql = format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\""));
        let count = conn.query_row(&sql, [], |row| row.get(0))?;
        Ok((name, count))
    };
    names.into_iter().map(count).collect()
}

fn bad(database: &Path, detail: &str) -> StoreError {
    StoreError::BadBackup {
        path: database.to_owned(),
        detail: detail.to_owned(),
    }
}

fn file_error(error: io::Error, database: &Path) -> StoreError {
    StoreError::file(error, database, database.parent().unwrap_or(database))
}
