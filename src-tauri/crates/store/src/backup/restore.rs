//! Replaces the database with a backup. The replaced database is set aside, never deleted.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use protection::DatabaseKey;

use super::aside::move_aside;
use super::backup_file::{BackupFile, BackupKind};
use super::content::assets_of;
use super::folder::Folder;
use super::list::{list, places};
use super::pool;
use super::verify::{verify, verify_copy};
use crate::lock::Lock;
use crate::{StoreError, cipher, commits, files};

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
pub(crate) fn restore_newest(
    dir: &Path,
    now: Timestamp,
    key: Option<&DatabaseKey>,
) -> Result<Restored, StoreError> {
    let mut skipped = Vec::new();
    for backup in list(dir)?.into_iter().filter(is_candidate) {
        match restore(dir, &backup.path, now, key) {
            Ok(restored) => {
                return Ok(Restored {
                    skipped,
                    ..restored
                });
            }
            Err(
                error @ (StoreError::BadBackup { .. }
                | StoreError::TooNew { .. }
                | StoreError::WrongKey { .. }),
            ) => {
                skipped.push((backup.path, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    if !skipped.is_empty() && key.is_some_and(|key| cipher::is_unconfirmed(dir, key)) {
        return Err(StoreError::WrongKey {
            dir: dir.to_owned(),
        });
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
pub(crate) fn newest_good(dir: &Path, key: Option<&DatabaseKey>) -> Option<BackupFile> {
    let all = list(dir).ok()?;
    all.into_iter()
        .find(|backup| is_candidate(backup) && verify(&backup.path, key).is_ok())
}

/// Whether a backup may be restored automatically. Set-aside databases and those of other data
/// folders may not.
fn is_candidate(backup: &BackupFile) -> bool {
    backup.own && backup.kind != BackupKind::SetAside
}

/// Replaces the database with `backup`, and restores the pictures and files it names that are
/// missing. In a protected folder, a plain backup is encrypted.
pub(crate) fn restore(
    dir: &Path,
    backup: &Path,
    now: Timestamp,
    key: Option<&DatabaseKey>,
) -> Result<Restored, StoreError> {
    cipher::require_key(dir, key)?;
    let lock = Lock::take(dir)?;
    verify(backup, key).map_err(|error| unusable(error, dir, key))?;
    let failed = |error| StoreError::file(error, backup, dir);
    // This happens before the old database moves, so that a full disk changes nothing.
    let missing = pool::give_back(
        &dir.join(files::ASSETS),
        &assets_of(backup, key).unwrap_or_default(),
        &pools(dir, backup),
    );
    let missing = missing.map_err(failed)?;
    let mut copy = files::partial(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    fs::File::open(backup)
        .and_then(|mut file| std::io::copy(&mut file, &mut copy))
        .map_err(failed)?;
    let adopted = cipher::adopt(copy.path(), key);
    if adopted.map_err(|error| StoreError::Sqlite(error).at(dir))? {
        verify_copy(copy.path(), key)?;
    }
    copy.as_file().sync_all().map_err(failed)?;
    let aside = move_aside(&lock, dir, now, key)?;
    commits::forget(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    let path = dir.join(files::DATABASE);
    files::keep(copy, &path).map_err(|error| StoreError::file(error, &path, dir))?;
    Ok(Restored {
        backup: backup.to_owned(),
        aside,
        skipped: Vec::new(),
        missing,
    })
}

/// A backup that cannot be read, unless the key file says that the key is of another folder.
fn unusable(error: StoreError, dir: &Path, key: Option<&DatabaseKey>) -> StoreError {
    match (error, key) {
        (StoreError::BadBackup { .. }, Some(key)) if cipher::is_unconfirmed(dir, key) => {
            StoreError::WrongKey {
                dir: dir.to_owned(),
            }
        }
        (error, _) => error,
    }
}

/// The folders to search for the files of a backup, starting with its own pool.
fn pools(dir: &Path, backup: &Path) -> Vec<PathBuf> {
    let beside = backup.parent().map(pool::of);
    let known = places(dir)
        .into_iter()
        .map(|(_, folder): (_, Folder)| pool::of(&folder.path));
    beside.into_iter().chain(known).collect()
}
