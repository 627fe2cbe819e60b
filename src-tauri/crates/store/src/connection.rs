//! How a connection is set up, and how a database is checked.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::StoreError;

/// The first SQLite without the WAL-reset bug, in which a checkpoint could lose committed pages.
const OLDEST: i32 = 3_051_003;
/// Longer than any transaction of ours; only another program on the same file can make it pass.
const PATIENCE: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 96;
/// KiB of pages that a reading connection keeps: what the turns of one long chat look at again and again. SQLite's own 2 MiB
/// hold a tenth of that, and each search read its index anew.
const PAGES: i64 = 16 * 1024;

/// How far a commit has got when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// On the disk: survives a power cut.
    Full,
    /// With the operating system: survives the death of the app, and a power cut at most loses it whole.
    Normal,
}

pub(crate) fn check_sqlite() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST {
        return Err(StoreError::OldSqlite { found: rusqlite::version() });
    }
    Ok(())
}

/// The connection that writes; creates the file.
pub(crate) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    guard(&conn)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "secure_delete", true)?;
    // A long write must not leave a WAL of its size behind for ever.
    conn.pragma_update(None, "journal_size_limit", 16 << 20)?;
    set_durability(&conn, Durability::Full)?;
    Ok(conn)
}

/// A connection of the read pool; the writer must be open.
pub(crate) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    guard(&conn)?;
    // Negative: in KiB, not in pages.
    conn.pragma_update(None, "cache_size", -PAGES)?;
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

/// Every page and every index entry is where it belongs. About 0.5 s per GB from the page cache.
pub(crate) fn quick_check(conn: &Connection) -> Result<(), String> {
    let verdict: Result<String, _> = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match verdict {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(detail) => Err(detail),
        Err(error) => Err(error.to_string()),
    }
}

/// A file that was tampered with must not run code of its own, nor crash the library.
pub(crate) fn guard(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(PATIENCE)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Otherwise a statement is planned anew for each value that is bound to it, which takes longer than to run it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    // Sorting must not spill chats into a folder that others can read.
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}
