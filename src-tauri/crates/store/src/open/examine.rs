//! Examines the database file before a start changes anything. A foreign, empty or missing database
//! is treated as damage if the folder has backups or pictures. A fresh start would look as if
//! everything was lost.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::identity::{FOREIGN, ours};
use crate::lock::Lock;
use crate::{StoreError, backup, files, migrate};

/// Whether the database in the folder has content.
///
/// # Errors
/// `Damaged` if expected content is missing, or the content is not ours.
pub(crate) fn examine(dir: &Path, lock: &Lock) -> Result<bool, StoreError> {
    let path = dir.join(files::DATABASE);
    let damaged = |detail: &str| StoreError::Damaged {
        path: path.clone(),
        detail: detail.into(),
    };
    let expected = || !lock.allows_fresh() && (has_assets(dir) || backup::is_there(dir));
    match fs::metadata(&path) {
        Err(_) if expected() => Err(damaged("the file is missing")),
        Ok(file) if file.len() == 0 && expected() => Err(damaged("the file is empty")),
        Err(_) => Ok(false),
        Ok(file) if file.len() == 0 => Ok(false),
        Ok(_) => match contents(&path).map_err(|error| StoreError::Sqlite(error).at(dir))? {
            Contents::Ours => Ok(true),
            Contents::Foreign => Err(damaged(FOREIGN)),
            Contents::Nothing if expected() => Err(damaged("the file has no content")),
            Contents::Nothing => Ok(false),
        },
    }
}

enum Contents {
    Ours,
    Foreign,
    Nothing,
}

/// Inspects the file before anything is changed. The normal setup would add a write-ahead log to a
/// foreign file.
fn contents(path: &Path) -> rusqlite::Result<Contents> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
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
