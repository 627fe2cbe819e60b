//! Backups: copies of the database with the pictures and files that they name. SQLite's backup API
//! makes each copy, which is opened and verified before it becomes a backup.
//!
//! A backup folder holds `inglenook-<UTC>-<data folder>.db` and a manifest for each backup. The
//! named files are in `assets`, each stored once. A backup exists once its database has its final
//! name. Files and manifest are written before the rename, and removed after the database.

mod archive;
mod choices;
mod folder;
mod holders;
mod ladder;
mod manifest;
mod pending;
mod pool;
mod preview;
mod restore;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::Connection;
use rusqlite::backup::Backup;
use serde::{Deserialize, Serialize};

pub(crate) use archive::{export, import};
pub use choices::BackupChoices;
use folder::Folder;
pub(crate) use folder::{clean, is_there};
pub(crate) use holders::holders;
use manifest::Manifest;
pub(crate) use manifest::assets_in;
pub(crate) use pending::{
    finish as finish_restore, is_requested as restore_is_pending, request as request_restore,
};
pub(crate) use preview::compare;
pub use preview::{Difference, Differences};
pub use restore::Restored;
pub(crate) use restore::{newest_good, restore, restore_newest, set_aside};
pub(crate) use verify::{verify, verify_copy, verify_with_files};

use crate::open::FILE;
use crate::{AssetHash, StoreError, files, migrate};

/// The reason for a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BackupKind {
    Automatic,
    ByHand,
    /// Made before the database was migrated to a newer format.
    Upgrade,
    /// Imported from an archive.
    Imported,
    /// A database that a restore replaced, not a copy.
    SetAside,
}

/// The place of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupPlace {
    Place,
    /// The folder that the user chose for a second copy.
    Second,
}

/// A copy of the database. Its pictures and files are next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    pub path: PathBuf,
    pub taken: Timestamp,
    /// Size of the database copy.
    pub bytes: u64,
    /// Number of pictures and files it names; `None` if that requires opening it.
    pub pictures: Option<usize>,
    pub kind: BackupKind,
    pub place: BackupPlace,
    /// It was verified when it was written, and its size has not changed since.
    pub checked: bool,
    /// It was made from this data folder. Other data folders may use the same second place.
    pub own: bool,
    pub(crate) sequence: u64,
}

/// The result of making a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBackup {
    pub path: PathBuf,
    /// The error of the copy to the second place, if it failed.
    pub second_failed: Option<String>,
    /// Number of pictures and files that are missing or damaged and in no backup.
    pub missing: usize,
}

/// Every backup in the data folder and the second place, and databases that restores have set
/// aside. Newest first, with those of other data folders last.
pub(crate) fn list(dir: &Path) -> Result<Vec<BackupFile>, StoreError> {
    let mut found = Vec::new();
    let origin = BackupChoices::read(dir).origin;
    for (place, folder) in places(dir) {
        found.extend(
            folder
                .list(place, &origin)
                .map_err(|error| StoreError::file(error, &folder.path, dir))?,
        );
    }
    found.extend(restore::set_aside_copies(dir));
    found.sort_by_key(|backup| std::cmp::Reverse((backup.own, backup.sequence, backup.taken)));
    Ok(found)
}

/// The total bytes of the backups in the data folder.
pub(crate) fn size(dir: &Path) -> u64 {
    Folder::home(dir).size()
}

/// Backs up `source` to `dir` and the second place, and removes backups beyond the retention
/// schedule or the budget.
pub(crate) fn take(
    source: &Connection,
    dir: &Path,
    now: Timestamp,
    kind: BackupKind,
) -> Result<TakenBackup, StoreError> {
    let home = Folder::home(dir);
    let choices =
        BackupChoices::named(dir, now).map_err(|error| StoreError::file(error, dir, dir))?;
    let path = home.free_path(now, &choices.origin);
    let failed = |error| StoreError::file(error, &path, dir);
    let partial = files::partial(&home.path).map_err(failed)?;
    copy(source, partial.path())?;
    verify_copy(partial.path()).map_err(|error| in_database(error, dir))?;
    let manifest = describe(partial.path(), kind, choices.origin.clone(), dir)?;
    let missing = pool::fill(
        &pool::of(&home.path),
        &manifest.assets,
        &[dir.join(files::ASSETS)],
    )
    .map_err(failed)?;
    if missing > 0 {
        tracing::warn!(
            missing,
            "the backup lacks files that the database references"
        );
    }
    manifest.write(&path).map_err(failed)?;
    files::keep(partial, &path).map_err(failed)?;
    home.prune(choices.budget, None).map_err(failed)?;
    let second_failed = choices.second_folder().and_then(|second| {
        let copied = Folder::at(second).take_over(&path, &manifest, &home, choices.budget);
        copied.err().map(|error| error.to_string())
    });
    Ok(TakenBackup {
        path,
        second_failed,
        missing,
    })
}

/// Whether the database is newer than the last backup, or no backup exists.
pub(crate) fn outdated(dir: &Path, database: &Path) -> bool {
    let newest = list(dir).ok().and_then(|all| {
        all.into_iter()
            .find(|backup| backup.own && backup.kind != BackupKind::SetAside)
    });
    let written = fs::metadata(database).and_then(|file| file.modified()).ok();
    let written = written.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    match (newest, written) {
        (Some(newest), Some(written)) => written.as_millis() as i64 > newest.taken.0,
        _ => true,
    }
}

/// Removes one backup, and the files that only it names.
pub(crate) fn remove(dir: &Path, backup: &BackupFile) -> Result<(), StoreError> {
    let failed = |error| StoreError::file(error, &backup.path, dir);
    if backup.kind == BackupKind::SetAside {
        let folder = backup
            .path
            .parent()
            .ok_or(StoreError::NotFound { what: "backup" })?;
        return fs::remove_dir_all(folder).map_err(failed);
    }
    let folder = match backup.place {
        BackupPlace::Place => Folder::home(dir),
        BackupPlace::Second => Folder::at(backup.path.parent().unwrap_or(dir).to_owned()),
    };
    folder
        .remove(&backup.path)
        .and_then(|()| folder.sweep())
        .map_err(failed)
}

/// Stores the settings, and creates our folder in a new second place.
pub(crate) fn choose(dir: &Path, choices: &BackupChoices) -> Result<(), StoreError> {
    if let Some(folder) = choices.second_folder() {
        files::make_private_folder(&folder)
            .map_err(|error| StoreError::file(error, &folder, &folder))?;
    }
    let origin = BackupChoices::read(dir).origin;
    BackupChoices {
        origin,
        ..choices.clone()
    }
    .write(dir)
    .map_err(|error| StoreError::file(error, dir, dir))
}

/// The folders that are available.
fn places(dir: &Path) -> Vec<(BackupPlace, Folder)> {
    let second = BackupChoices::read(dir).second_folder().map(Folder::at);
    let all = [
        (BackupPlace::Place, Some(Folder::home(dir))),
        (BackupPlace::Second, second),
    ];
    all.into_iter()
        .filter_map(|(place, folder)| Some((place, folder.filter(|folder| folder.path.is_dir())?)))
        .collect()
}

fn next_sequence(dir: &Path) -> Result<u64, StoreError> {
    Ok(list(dir)?
        .iter()
        .filter(|backup| backup.own)
        .map(|backup| backup.sequence)
        .max()
        .unwrap_or(0)
        + 1)
}

/// The manifest of a verified copy.
fn describe(
    database: &Path,
    kind: BackupKind,
    origin: String,
    dir: &Path,
) -> Result<Manifest, StoreError> {
    let failed = |error| StoreError::file(error, database, dir);
    let conn = verify::read_only(database)?;
    Ok(Manifest {
        kind,
        origin,
        sequence: next_sequence(dir)?,
        format: migrate::format(&conn)?,
        bytes: fs::metadata(database).map_err(failed)?.len(),
        sha256: manifest::sha256(database).map_err(failed)?,
        assets: manifest::assets_in(&conn).unwrap_or_default(),
    })
}

/// The content of a file in the pool of any backup here or in the second place.
pub(crate) fn pooled(dir: &Path, hash: AssetHash) -> Option<Vec<u8>> {
    places(dir)
        .iter()
        .find_map(|(_, folder)| pool::whole(&hash.path_in(&pool::of(&folder.path)), hash))
}

/// The files that databases in set-aside folders name; `None` if one of them cannot be read.
pub(crate) fn named_aside(dir: &Path) -> Option<Vec<AssetHash>> {
    let named = restore::set_aside_copies(dir)
        .into_iter()
        .map(|copy| folder::assets_of(&copy.path));
    let named = named.collect::<Option<Vec<_>>>()?;
    Some(named.into_iter().flatten().map(|(hash, _)| hash).collect())
}

#[cfg(test)]
pub(crate) fn sha256_of(file: &Path) -> String {
    manifest::sha256(file).unwrap()
}

/// A copy has the faults of its source.
fn in_database(error: StoreError, dir: &Path) -> StoreError {
    match error {
        StoreError::BadBackup { detail, .. } => StoreError::Damaged {
            path: dir.join(FILE),
            detail,
        },
        other => other,
    }
}

fn copy(source: &Connection, path: &Path) -> rusqlite::Result<()> {
    let mut target = Connection::open(path)?;
    // Copies in one step: with a write-ahead log, writers continue meanwhile and cannot restart the
    // copy.
    Backup::new(source, &mut target)?.step(-1)?;
    // The copy is one file without a write-ahead log.
    target.pragma_update(None, "journal_mode", "DELETE")
}
