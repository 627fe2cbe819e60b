//! Replaces the database with a backup. The replaced database is set aside, never deleted.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::config::DbConfig;

use super::folder::{Folder, assets_of, parse_utc, utc};
use super::{BackupFile, BackupKind, BackupPlace, list, places, pool, verify};
use crate::connection::quick_check;
use crate::lock::Lock;
use crate::open::FILE;
use crate::{StoreError, commits, files};

/// Prefixes of folders that hold a replaced database. Earlier versions used the second prefix.
const ASIDE: [&str; 2] = ["replaced-", "damaged-"];

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub backup: PathBuf,
    /// The folder of the replaced database, if there was one.
    pub aside: Option<PathBuf>,
    /// Newer backups that could not be used, each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
    /// Number of pictures and files that could not be found anywhere.
    pub missing: usize,
}

/// Restores the newest intact backup.
pub(crate) fn restore_newest(dir: &Path, now: Timestamp) -> Result<Restored, StoreError> {
    let mut skipped = Vec::new();
    for backup in list(dir)?.into_iter().filter(is_candidate) {
        match restore(dir, &backup.path, now) {
            Ok(restored) => {
                return Ok(Restored {
                    skipped,
                    ..restored
                });
            }
            Err(error @ (StoreError::BadBackup { .. } | StoreError::TooNew { .. })) => {
                skipped.push((backup.path, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    match skipped.into_iter().next() {
        Some((path, _)) => Err(StoreError::BadBackup {
            path,
            detail: "no older backup can be used either".into(),
        }),
        None => Err(StoreError::NotFound { what: "backup" }),
    }
}

/// The backup that [`restore_newest`] would restore.
pub(crate) fn newest_good(dir: &Path) -> Option<BackupFile> {
    let all = list(dir).ok()?;
    all.into_iter()
        .find(|backup| is_candidate(backup) && verify(&backup.path).is_ok())
}

/// Whether a backup may be restored automatically. Set-aside databases and those of other data
/// folders may not.
fn is_candidate(backup: &BackupFile) -> bool {
    backup.own && backup.kind != BackupKind::SetAside
}

/// Replaces the database with `backup`, and restores the pictures and files it names that are
/// missing.
pub(crate) fn restore(dir: &Path, backup: &Path, now: Timestamp) -> Result<Restored, StoreError> {
    let lock = Lock::take(dir)?;
    verify(backup)?;
    let failed = |error| StoreError::file(error, backup, dir);
    // This happens before the old database moves, so that a full disk changes nothing.
    let missing = pool::give_back(
        &dir.join(files::ASSETS),
        &assets_of(backup).unwrap_or_default(),
        &pools(dir, backup),
    );
    let missing = missing.map_err(failed)?;
    let mut copy = files::partial(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    fs::File::open(backup)
        .and_then(|mut file| std::io::copy(&mut file, &mut copy))
        .map_err(failed)?;
    copy.as_file().sync_all().map_err(failed)?;
    let aside = move_aside(&lock, dir, now)?;
    commits::forget(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    let path = dir.join(FILE);
    files::keep(copy, &path).map_err(|error| StoreError::file(error, &path, dir))?;
    Ok(Restored {
        backup: backup.to_owned(),
        aside,
        skipped: Vec::new(),
        missing,
    })
}

/// Moves the database away, so that the next start creates an empty one. Returns its new folder, if
/// there was one.
pub(crate) fn set_aside(dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let mut lock = Lock::take(dir)?;
    let aside = move_aside(&lock, dir, now)?;
    commits::forget(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    lock.allow_fresh()?;
    Ok(aside)
}

/// The databases that were set aside. Their pictures were not moved.
pub(super) fn set_aside_copies(dir: &Path) -> Vec<BackupFile> {
    let folders = fs::read_dir(dir).into_iter().flatten().flatten();
    let copies = folders.filter_map(|folder| {
        let name = folder.file_name().to_string_lossy().into_owned();
        let taken = parse_utc(ASIDE.iter().find_map(|prefix| name.strip_prefix(prefix))?)?;
        let path = folder.path().join(FILE);
        // An empty database is no use to restore.
        let bytes = fs::metadata(&path).ok()?.len();
        if bytes == 0 {
            return None;
        }
        let place = BackupPlace::Place;
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

/// The folders to search for the files of a backup, starting with its own pool.
fn pools(dir: &Path, backup: &Path) -> Vec<PathBuf> {
    let beside = backup.parent().map(pool::of);
    let known = places(dir)
        .into_iter()
        .map(|(_, folder): (_, Folder)| pool::of(&folder.path));
    beside.into_iter().chain(known).collect()
}

/// Moves the database and its log into a new folder. Returns that folder, if there was a database.
fn move_aside(_held: &Lock, dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
    let failed = |error| StoreError::file(error, dir, dir);
    fold_in_log(dir);
    // The database moves last, so that a second attempt still finds all remaining files.
    let parts: Vec<_> = ["-wal", "-shm", ""]
        .iter()
        .map(|end| format!("{FILE}{end}"))
        .filter(|name| dir.join(name).exists())
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let named = |time: i64| dir.join(format!("{}{}", ASIDE[0], utc(Timestamp(time))));
    let folder = (now.0..)
        .map(named)
        .find(|folder| !folder.exists())
        .unwrap_or_else(|| named(now.0));
    files::make_private_folder(&folder).map_err(failed)?;
    for name in parts {
        fs::rename(dir.join(&name), folder.join(&name)).map_err(failed)?;
    }
    files::sync_folder_of(&folder).map_err(failed)?;
    Ok(Some(folder))
}

/// Checkpoints the log of a healthy database, so that one file is set aside. A damaged database
/// keeps its log unchanged.
fn fold_in_log(dir: &Path) {
    let path = dir.join(FILE);
    if !path.exists() || !dir.join(format!("{FILE}-wal")).exists() {
        return;
    }
    if let Err(error) = fold_in(&path) {
        tracing::warn!(%error, "the database log could not be merged and stays next to the database");
    }
}

fn fold_in(path: &Path) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    let conn = rusqlite::Connection::open(path).map_err(told)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(told)?;
    quick_check(&conn)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .map_err(told)
}
