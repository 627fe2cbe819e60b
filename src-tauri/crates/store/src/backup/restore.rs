//! Replaces the database with a backup. The replaced database is set aside, never deleted.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;

use super::aside::move_aside;
use super::backup_file::{BackupFile, BackupKind};
use super::content::assets_of;
use super::list::{list, pools};
use super::pool;
use super::verify::{verify, verify_copy};
use crate::asset_folder::AssetFolder;
use crate::encryption::cipher;
use crate::open::lock::Lock;
use crate::{FolderKeys, StoreError, commits, files};

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
    keys: Option<&FolderKeys>,
) -> Result<Restored, StoreError> {
    let mut skipped = Vec::new();
    for backup in list(dir, keys)?.into_iter().filter(is_candidate) {
        match restore(dir, &backup.path, now, keys) {
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
    if !skipped.is_empty() && keys.is_some_and(|keys| cipher::is_unconfirmed(dir, keys)) {
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
pub(crate) fn newest_good(dir: &Path, keys: Option<&FolderKeys>) -> Option<BackupFile> {
    let all = list(dir, keys).ok()?;
    all.into_iter()
        .find(|backup| is_candidate(backup) && verify(&backup.path, keys).is_ok())
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
    keys: Option<&FolderKeys>,
) -> Result<Restored, StoreError> {
    cipher::require_key(dir, keys)?;
    let lock = Lock::take(dir)?;
    verify(backup, keys).map_err(|error| unusable(error, dir, keys))?;
    let failed = |error| StoreError::file(error, backup, dir);
    // This happens before the old database moves, so that a full disk changes nothing.
    let missing = pool::give_back(
        &AssetFolder::assets(dir, keys),
        &assets_of(backup, keys).unwrap_or_default(),
        &pools_of(dir, backup, keys),
    );
    let missing = missing.map_err(failed)?;
    let mut copy = files::partial(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    fs::File::open(backup)
        .and_then(|mut file| std::io::copy(&mut file, &mut copy))
        .map_err(failed)?;
    let adopted = cipher::adopt(copy.path(), keys);
    if adopted.map_err(|error| StoreError::Sqlite(error).at(dir))? {
        verify_copy(copy.path(), keys)?;
    }
    copy.as_file().sync_all().map_err(failed)?;
    let aside = move_aside(&lock, dir, now, keys)?;
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
fn unusable(error: StoreError, dir: &Path, keys: Option<&FolderKeys>) -> StoreError {
    match (error, keys) {
        (StoreError::BadBackup { .. }, Some(keys)) if cipher::is_unconfirmed(dir, keys) => {
            StoreError::WrongKey {
                dir: dir.to_owned(),
            }
        }
        (error, _) => error,
    }
}

/// The folders to search for the files of a backup, starting with its own pool.
fn pools_of<'k>(dir: &Path, backup: &Path, keys: Option<&'k FolderKeys>) -> Vec<AssetFolder<'k>> {
    let beside = backup
        .parent()
        .map(|folder| AssetFolder::assets(folder, keys));
    beside.into_iter().chain(pools(dir, keys)).collect()
}
