//! Opens and configures database connections, and checks a database for damage.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::encryption::cipher;
use crate::visibility::Visibility;
use crate::{FolderKeys, StoreError, search};

/// The first SQLite without the WAL-reset bug, in which a checkpoint could lose committed pages.
const OLDEST: i32 = 3_051_003;
/// Busy timeout. It exceeds all of our transactions, so only another program on the same file can
/// cause a timeout.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 96;
/// Page cache of a reading connection, in KiB. SQLite's default of 2 MiB holds a tenth of what
/// turns of a long chat read, so each search would read its index from disk.
const CACHE_KIB: i64 = 16 * 1024;

/// How durable a commit is when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// On disk: survives a power failure.
    Full,
    /// In the operating system: survives a crash of the app. A power failure can lose the whole
    /// transaction, but never a part of it.
    Normal,
}

pub(crate) fn check_sqlite() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST {
        return Err(StoreError::OldSqlite {
            found: rusqlite::version(),
        });
    }
    Ok(())
}

/// Opens the writing connection and creates the file if needed.
pub(crate) fn writer(path: &Path, keys: Option<&FolderKeys>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    cipher::unlock(&conn, keys)?;
    guard(&conn)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "secure_delete", true)?;
    // Limits the size of the WAL file that a long write leaves behind.
    conn.pragma_update(None, "journal_size_limit", 16 << 20)?;
    set_durability(&conn, Durability::Full)?;
    Ok(conn)
}

/// Opens a connection of the read pool. The writer must be open.
pub(crate) fn reader(path: &Path, keys: Option<&FolderKeys>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    cipher::unlock(&conn, keys)?;
    guard(&conn)?;
    // A negative value is in KiB instead of pages.
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(conn)
}

pub(crate) fn set_durability(conn: &Connection, durability: Durability) -> rusqlite::Result<()> {
    conn.pragma_update(
        None,
        "synchronous",
        match durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        },
    )
}

/// Checks the position of every page and index entry. Takes about 0.5 s per GB from the page cache.
pub(crate) fn quick_check(conn: &Connection) -> Result<(), String> {
    let verdict: Result<String, _> = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match verdict {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(detail) => Err(detail),
        Err(error) => Err(error.to_string()),
    }
}

/// Protects against manipulated files, which must not run their own code or crash SQLite.
pub(crate) fn guard(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    search::register(conn)?;
    // An open store replaces it in its own connections.
    Visibility::new(true).register(conn)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Without this, SQLite plans a statement again for each bound value, which takes longer than
    // running it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    // Sorting must not write chat texts to a folder that other users can read.
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}
