//! Makes a backup.

use std::fs;
use std::path::Path;

use domain::Timestamp;
use rusqlite::Connection;
use rusqlite::backup::Backup;

use super::backup_file::{BackupKind, TakenBackup};
use super::choices::BackupChoices;
use super::content::read_only;
use super::folder::Folder;
use super::list::next_sequence;
use super::manifest::{self, Manifest};
use super::pool;
use super::settle::settle;
use super::verify::verify_copy;
use crate::asset_folder::AssetFolder;
use crate::encryption::cipher;
use crate::{FolderKeys, StoreError, files, migrate};

/// Backs up `source` to `dir` and the second place, and removes backups beyond the retention
/// schedule or the budget, and those that contain forgotten items.
pub(crate) fn take(
    source: &Connection,
    dir: &Path,
    now: Timestamp,
    kind: BackupKind,
    keys: Option<&FolderKeys>,
) -> Result<TakenBackup, StoreError> {
    let home = Folder::home(dir);
    let choices =
        BackupChoices::named(dir, now).map_err(|error| StoreError::file(error, dir, dir))?;
    let path = home.free_path(now, &choices.origin);
    let failed = |error| StoreError::file(error, &path, dir);
    let partial = files::partial(&home.path).map_err(failed)?;
    copy(source, partial.path(), keys)?;
    verify_copy(partial.path(), keys).map_err(|error| in_database(error, dir))?;
    let manifest = describe(partial.path(), kind, choices.origin.clone(), dir, keys)?;
    let live = AssetFolder::assets(dir, keys);
    let missing = pool::fill(&home.pool(keys), &manifest.assets, &[live]).map_err(failed)?;
    if missing > 0 {
        tracing::warn!(
            missing,
            "the backup lacks files that the database references"
        );
    }
    manifest.write(&path, keys).map_err(failed)?;
    files::keep(partial, &path).map_err(failed)?;
    home.prune(choices.budget, None, keys).map_err(failed)?;
    let second = choices.second_folder();
    let second_failed = second.clone().and_then(|second| {
        let copied = Folder::at(second).take_over(&path, &manifest, &home, choices.budget, keys);
        copied.err().map(|error| error.to_string())
    });
    let without_copy = second.filter(|_| second_failed.is_some());
    Ok(TakenBackup {
        path,
        second_failed,
        missing,
        settled: settle(dir, without_copy.as_deref(), keys),
    })
}

/// The manifest of a verified copy.
pub(super) fn describe(
    database: &Path,
    kind: BackupKind,
    origin: String,
    dir: &Path,
    keys: Option<&FolderKeys>,
) -> Result<Manifest, StoreError> {
    let failed = |error| StoreError::file(error, database, dir);
    let conn = read_only(database, keys)?;
    Ok(Manifest {
        kind,
        origin,
        sequence: next_sequence(dir, keys)?,
        format: migrate::format(&conn)?,
        bytes: fs::metadata(database).map_err(failed)?.len(),
        sha256: manifest::sha256(database).map_err(failed)?,
        assets: manifest::assets_in(&conn).unwrap_or_default(),
    })
}

/// Writes a copy of the database to `path`. `key` is that of the database.
pub(super) fn copy(
    source: &Connection,
    path: &Path,
    keys: Option<&FolderKeys>,
) -> rusqlite::Result<()> {
    let mut target = Connection::open(path)?;
    cipher::unlock(&target, keys)?;
    // Copies in one step: with a write-ahead log, writers continue meanwhile and cannot restart the
    // copy.
    Backup::new(source, &mut target)?.step(-1)?;
    // The copy is one file without a write-ahead log.
    target.pragma_update(None, "journal_mode", "DELETE")
}

/// A copy has the faults of its source.
fn in_database(error: StoreError, dir: &Path) -> StoreError {
    match error {
        StoreError::BadBackup { detail, .. } => StoreError::Damaged {
            path: dir.join(files::DATABASE),
            detail,
        },
        other => other,
    }
}
