//! Copies of the database: made by SQLite's backup call, opened and checked before they count.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use crate::connection::quick_check;
use crate::lock::Lock;
use crate::open::{DAMAGED, FILE};
use crate::{StoreError, files, migrate};

const PREFIX: &str = "inglenook-";
const TIME: &str = "%Y%m%dT%H%M%S%.3fZ";

/// A verified copy of the database. Assets are not in it; they stay in their folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    pub path: PathBuf,
    pub taken: Timestamp,
    pub bytes: u64,
}

/// Copies what `source` sees into the backups of `dir`, and lets go of all but the newest `keep`.
pub(crate) fn take(source: &Connection, dir: &Path, now: Timestamp, keep: usize) -> Result<PathBuf, StoreError> {
    let folder = dir.join(files::BACKUPS);
    let path = folder.join(format!("{PREFIX}{}.db", utc(now)));
    let failed = |error| StoreError::file(error, &path, dir);
    let partial = files::partial(&folder).map_err(failed)?;
    copy(source, partial.path())?;
    verify(partial.path())?;
    files::keep(partial, &path).map_err(failed)?;
    for old in list(dir)?.into_iter().skip(keep.max(1)) {
        fs::remove_file(&old.path).map_err(|error| StoreError::file(error, &old.path, dir))?;
    }
    Ok(path)
}

/// Newest first.
pub(crate) fn list(dir: &Path) -> Result<Vec<BackupFile>, StoreError> {
    let folder = dir.join(files::BACKUPS);
    let failed = |error| StoreError::file(error, &folder, dir);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if let Some(taken) = taken(&entry.file_name().to_string_lossy()) {
            let bytes = entry.metadata().map_err(failed)?.len();
            found.push(BackupFile { path: entry.path(), taken, bytes });
        }
    }
    found.sort_by_key(|backup| std::cmp::Reverse(backup.taken));
    Ok(found)
}

/// Puts `backup` in the place of the database, which is set aside. Returns where it went, if there was one.
pub(crate) fn restore(dir: &Path, backup: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let lock = Lock::take(dir)?;
    verify(backup)?;
    // Copied before the old one moves, so that a full disk changes nothing.
    let mut copy = files::partial(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    fs::File::open(backup)
        .and_then(|mut file| std::io::copy(&mut file, &mut copy))
        .map_err(|error| StoreError::file(error, backup, dir))?;
    let aside = move_aside(&lock, dir, now)?;
    let path = dir.join(FILE);
    files::keep(copy, &path).map_err(|error| StoreError::file(error, &path, dir))?;
    Ok(aside)
}

/// Moves the database and what belongs to it into a folder of its own. Returns that folder, if there was a database.
pub(crate) fn set_aside(dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let lock = Lock::take(dir)?;
    move_aside(&lock, dir, now)
}

fn move_aside(_held: &Lock, dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let failed = |error| StoreError::file(error, dir, dir);
    // The database last: until it moves, a second try finds everything that is left.
    let parts: Vec<_> =
        ["-wal", "-shm", ""].iter().map(|end| format!("{FILE}{end}")).filter(|name| dir.join(name).exists()).collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let folder = dir.join(format!("{DAMAGED}{}", utc(now)));
    files::make_private_folder(&folder).map_err(failed)?;
    for name in parts {
        fs::rename(dir.join(&name), folder.join(&name)).map_err(failed)?;
    }
    files::sync_folder_of(&folder).map_err(failed)?;
    Ok(Some(folder))
}

fn copy(source: &Connection, path: &Path) -> rusqlite::Result<()> {
    let mut target = Connection::open(path)?;
    // One step: writers go on meanwhile, and cannot make it start over.
    Backup::new(source, &mut target)?.step(-1)?;
    // A copy is one file, without the log beside it.
    target.pragma_update(None, "journal_mode", "DELETE")
}

pub(crate) fn verify(path: &Path) -> Result<(), StoreError> {
    let bad = |detail: String| StoreError::BadBackup { path: path.to_owned(), detail };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(|error| bad(error.to_string()))?;
    quick_check(&conn).map_err(bad)?;
    match migrate::format(&conn).map_err(|error| bad(error.to_string()))? {
        0 => Err(bad("it is not a database of Inglenook".into())),
        format => migrate::refuse_newer(format, migrate::MIGRATIONS),
    }
}

fn utc(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).unwrap_or_default().strftime(TIME).to_string()
}

fn taken(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(PREFIX)?.strip_suffix(".db")?;
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%S%.fZ", text).ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(Timestamp(time.as_millisecond()))
}
