//! A counter of commits next to the lock file. SQLite cannot notice a log that was deleted, emptied
//! or cut: the database is intact, but older. The database counts its commits too, so a smaller
//! number there means that changes are gone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};

const FILE: &str = "inglenook.commits";

/// The file of the counter. It is not flushed: after a power failure it may lag behind the
/// database, but is never ahead of it.
pub(crate) struct CommitCounter {
    file: Mutex<File>,
}

impl CommitCounter {
    /// Opens the file and sets it to the number in the database. `None` in formats that count no
    /// commits.
    pub(crate) fn open(dir: &Path, conn: &Connection) -> io::Result<Option<Self>> {
        let Some(number) = stored(conn).map_err(io::Error::other)? else {
            return Ok(None);
        };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let counter = Self {
            file: Mutex::new(options.open(dir.join(FILE))?),
        };
        counter.write(number)?;
        Ok(Some(counter))
    }

    /// Adds one commit, as part of its own transaction. Returns its number.
    pub(crate) fn next(transaction: &Connection) -> rusqlite::Result<i64> {
        let next = "UPDATE commit_counter SET number = number + 1 RETURNING number";
        transaction
            .prepare_cached(next)?
            .query_row([], |row| row.get(0))
    }

    /// Records a commit that is on disk.
    pub(crate) fn write(&self, number: i64) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.rewind()?;
        file.write_all(format!("{number:020}").as_bytes())
    }
}

/// Number of commits that the last owner of the folder made and that the database does not have.
pub(crate) fn missing(dir: &Path, conn: &Connection) -> rusqlite::Result<u64> {
    let made: Option<i64> = fs::read_to_string(dir.join(FILE))
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let known = stored(conn)?;
    Ok(made
        .zip(known)
        .and_then(|(made, known)| u64::try_from(made - known).ok())
        .unwrap_or(0))
}

/// Forgets the counter of a database that is replaced. The next start begins with the number of the
/// new one.
pub(crate) fn forget(dir: &Path) -> io::Result<()> {
    match fs::remove_file(dir.join(FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// `None` in formats that count no commits.
fn stored(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    let counts = conn
        .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'commit_counter'")?
        .exists([])?;
    if !counts {
        return Ok(None);
    }
    conn.query_row("SELECT number FROM commit_counter", [], |row| row.get(0))
        .optional()
}
