//! Reads the content of a copy of the database: its rows, and the files that it names.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::manifest::{self, Manifest};
use crate::connection::guard;
use crate::encryption::cipher;
use crate::{AssetHash, FolderKeys};

/// Opens a copy read-only, with the same protection against hostile files as the database itself.
pub(crate) fn read_only(path: &Path, keys: Option<&FolderKeys>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    cipher::unlock(&conn, cipher::key_of(path, keys))?;
    guard(&conn)?;
    Ok(conn)
}

/// The files that a backup names, from its manifest or else from its database.
pub(super) fn assets_of(
    database: &Path,
    keys: Option<&FolderKeys>,
) -> Option<Vec<(AssetHash, u64)>> {
    match Manifest::read(database, keys) {
        Some(manifest) => Some(manifest.assets),
        None => manifest::assets_in(&read_only(database, keys).ok()?).ok(),
    }
}
