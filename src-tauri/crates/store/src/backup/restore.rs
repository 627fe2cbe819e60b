//! Putting a backup in the place of the database. What it replaces is set aside, never deleted.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::config::DbConfig;

use super::folder::{Folder, assets_of, parse_utc, utc};
use super::{BackupFile, BackupKind, BackupPlace, list, places, pool, verify};
use crate::connection::quick_check;
use crate::lock::Lock;
use crate::open::FILE;
use crate::{StoreError, files};

/// Folders that hold a replaced database. Versions before this wrote the second name.
const ASIDE: [&str; 2] = ["replaced-", "damaged-"];

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub backup: PathBuf,
    /// Where the database that stood there before is, if there was one.
    pub aside: Option<PathBuf>,
    /// Newer backups that could not be used, and why.
    pub skipped: Vec<(PathBuf, String)>,
    /// How many pictures and files are in no place any more.
    pub missing: usize,
}

/// Puts back the newest backup that is whole.
pub(crate) fn restore_newest(dir: &Path, now: Timestamp) -> Result<Restored, StoreError> {
    let mut skipped = Vec::new();
    for backup in list(dir)?.into_iter().filter(is_candidate) {
        match restore(dir, &backup.path, now) {
            Ok(restored) => return Ok(Restored { skipped, ..restored }),
            Err(error @ (StoreError::BadBackup { .. } | StoreError::TooNew { .. })) => {
                skipped.push((backup.path, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    match skipped.into_iter().next() {
        Some((path, _)) => Err(StoreError::BadBackup { path, detail: "and so is every older one".into() }),
        None => Err(StoreError::NotFound { what: "backup" }),
    }
}

/// The backup that [`restore_newest`] would take.
pub(crate) fn newest_good(dir: &Path) -> Option<BackupFile> {
    let all = list(dir).ok()?;
    all.into_iter().find(|backup| is_candidate(backup) && verify(&backup.path).is_ok())
}

/// What is restored without being named: neither set-aside data nor another folder's.
fn is_candidate(backup: &BackupFile) -> bool {
    backup.own && backup.kind != BackupKind::SetAside
}

/// Puts `backup` in the place of the database, and the pictures and files it names where they are missing.
pub(crate) fn restore(dir: &Path, backup: &Path, now: Timestamp) -> Result<Restored, StoreError> {
    let lock = Lock::take(dir)?;
    verify(backup)?;
    let failed = |error| StoreError::file(error, backup, dir);
    // Before the old database moves, so that a full disk changes nothing.
    let missing =
        pool::give_back(&dir.join(files::ASSETS), &assets_of(backup).unwrap_or_default(), &pools(dir, backup));
    let missing = missing.map_err(failed)?;
    let mut copy = files::partial(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    fs::File::open(backup).and_then(|mut file| std::io::copy(&mut file, &mut copy)).map_err(failed)?;
    copy.as_file().sync_all().map_err(failed)?;
    let aside = move_aside(&lock, dir, now)?;
    let path = dir.join(FILE);
    files::keep(copy, &path).map_err(|error| StoreError::file(error, &path, dir))?;
    Ok(Restored { backup: backup.to_owned(), aside, skipped: Vec::new(), missing })
}

/// Moves the database away, so that the next start begins with an empty one. Returns where it is, if there was one.
pub(crate) fn set_aside(dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let mut lock = Lock::take(dir)?;
    let aside = move_aside(&lock, dir, now)?;
    lock.allow_fresh()?;
    Ok(aside)
}

/// The databases that were set aside. Their pictures are where they were.
pub(super) fn set_aside_copies(dir: &Path) -> Vec<BackupFile> {
    let folders = fs::read_dir(dir).into_iter().flatten().flatten();
    let copies = folders.filter_map(|folder| {
        let name = folder.file_name().to_string_lossy().into_owned();
        let taken = parse_utc(ASIDE.iter().find_map(|prefix| name.strip_prefix(prefix))?)?;
        let path = folder.path().join(FILE);
        // What was empty is nothing to go back to.
        let bytes = fs::metadata(&path).ok()?.len();
        if bytes == 0 {
            return None;
        }
        let place = BackupPlace::DataFolder;
        Some(BackupFile {
            path,
            taken,
            bytes,
            pictures: None,
            kind: BackupKind::SetAside,
            place,
            checked: false,
            own: true,
            sequence: 0,
        })
    });
    copies.collect()
}

/// Where the files of a backup may be: beside it first.
fn pools(dir: &Path, backup: &Path) -> Vec<PathBuf> {
    let beside = backup.parent().map(pool::of);
    let known = places(dir).into_iter().map(|(_, folder): (_, Folder)| pool::of(&folder.path));
    beside.into_iter().chain(known).collect()
}

/// Moves the database and its log into a folder of their own. Returns that folder, if there was a database.
fn move_aside(_held: &Lock, dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let failed = |error| StoreError::file(error, dir, dir);
    fold_in_log(dir);
    // The database last: until it moves, a second try finds everything that is left.
    let parts: Vec<_> =
        ["-wal", "-shm", ""].iter().map(|end| format!("{FILE}{end}")).filter(|name| dir.join(name).exists()).collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let named = |time: i64| dir.join(format!("{}{}", ASIDE[0], utc(Timestamp(time))));
    let folder = (now.0..).map(named).find(|folder| !folder.exists()).unwrap_or_else(|| named(now.0));
    files::make_private_folder(&folder).map_err(failed)?;
    for name in parts {
        fs::rename(dir.join(&name), folder.join(&name)).map_err(failed)?;
    }
    files::sync_folder_of(&folder).map_err(failed)?;
    Ok(Some(folder))
}

/// Writes the log into a healthy database, so that what is set aside is one file. A damaged one keeps its log beside it,
/// unchanged.
fn fold_in_log(dir: &Path) {
    let path = dir.join(FILE);
    if !path.exists() || !dir.join(format!("{FILE}-wal")).exists() {
        return;
    }
    if let Err(error) = fold_in(&path) {
        tracing::warn!(%error, "the log of the database stays beside it");
    }
}

fn fold_in(path: &Path) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    let conn = rusqlite::Connection::open(path).map_err(told)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(told)?;
    quick_check(&conn)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(told)
}
