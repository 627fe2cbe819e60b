//! Verifies that a copy of the database can be restored.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::folder::assets_of;
use super::manifest::{self, Manifest};
use super::pool;
use crate::connection::{guard, quick_check};
use crate::{StoreError, checksum, identity, migrate};

/// Opens a copy read-only, with the same protection against hostile files as the database itself.
pub(super) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    guard(&conn)?;
    Ok(conn)
}

/// Like [`verify`], and also checks that every picture and file of the backup is next to it and unchanged.
pub(crate) fn verify_with_files(path: &Path) -> Result<(), StoreError> {
    verify(path)?;
    let (Some(assets), Some(folder)) = (assets_of(path), path.parent()) else { return Ok(()) };
    // Backups of earlier versions have no files.
    match Manifest::read(path).map_or(0, |_| pool::damaged(&pool::of(folder), &assets)) {
        0 => Ok(()),
        count => {
            let detail = format!("{count} of its {} pictures and files are missing or changed", assets.len());
            Err(StoreError::BadBackup { path: path.to_owned(), detail })
        }
    }
}

/// Checks that the structure is intact and that the database is Inglenook's in a known format.
/// Every message text must match its checksum, and the file must be unchanged since it was written.
pub(crate) fn verify(path: &Path) -> Result<(), StoreError> {
    let bad = |detail: String| StoreError::BadBackup { path: path.to_owned(), detail };
    let conn = read_only(path).map_err(|error| bad(error.to_string()))?;
    quick_check(&conn).map_err(bad)?;
    let format = migrate::format(&conn).map_err(|error| bad(error.to_string()))?;
    identity::ours(&conn)
        .map_err(|error| bad(error.to_string()))?
        .then_some(())
        .ok_or_else(|| bad(identity::FOREIGN.into()))?;
    migrate::refuse_newer(format, migrate::MIGRATIONS)?;
    checksum::check(&conn).map_err(bad)?;
    match Manifest::read(path) {
        Some(manifest) if manifest::sha256(path).ok().as_ref() != Some(&manifest.sha256) => {
            Err(bad("it has changed since it was made".into()))
        }
        _ => Ok(()),
    }
}
