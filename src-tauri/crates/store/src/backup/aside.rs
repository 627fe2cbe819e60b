//! Sets a database aside, and finds those that were set aside. None of them is deleted.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::config::DbConfig;

use super::backup_file::{BackupFile, BackupKind, BackupPlace};
use super::folder::{parse_utc, utc};
use crate::connection::quick_check;
use crate::encryption::cipher;
use crate::encryption::cipher::FileForm;
use crate::files::DATABASE;
use crate::open::lock::Lock;
use crate::{FolderKeys, StoreError, commits, files};

/// Prefixes of folders that hold a replaced database. Earlier versions used the second prefix.
const ASIDE: [&str; 2] = ["replaced-", "damaged-"];

/// Moves the database away, so that the next start creates an empty one. Returns its new folder, if
/// there was one.
///
/// # Errors
/// `Protected` and `WrongKey`: a database that only lacks its key is never set aside.
pub(crate) fn set_aside(
    dir: &Path,
    now: Timestamp,
    keys: Option<&FolderKeys>,
) -> Result<Option<PathBuf>, StoreError> {
    cipher::require_key(dir, keys)?;
    let mut lock = Lock::take(dir)?;
    cipher::refuse_wrong_key(dir, keys)?;
    let aside = move_aside(&lock, dir, now, keys)?;
    commits::forget(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    lock.allow_fresh()?;
    Ok(aside)
}

/// Logs without encryption of databases that were set aside. A conversion merges the logs of whole
/// databases; these belong to empty or damaged ones.
pub(super) fn plain_logs_aside(dir: &Path) -> Vec<PathBuf> {
    let databases = folders_aside(dir).map(|aside| aside.folder.join(DATABASE));
    databases
        .filter(|database| !matches!(FileForm::of(database), Ok(FileForm::Encrypted)))
        .flat_map(|database| ["-wal", "-journal"].map(|ending| files::beside(&database, ending)))
        .filter(|log| fs::metadata(log).is_ok_and(|log| log.len() > 0))
        .collect()
}

/// A folder of a database that was set aside.
struct AsideFolder {
    taken: Timestamp,
    folder: PathBuf,
}

fn folders_aside(dir: &Path) -> impl Iterator<Item = AsideFolder> {
    let folders = fs::read_dir(dir).into_iter().flatten().flatten();
    folders.filter_map(|folder| {
        let name = folder.file_name().to_string_lossy().into_owned();
        let time = ASIDE.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        Some(AsideFolder {
            taken: parse_utc(time)?,
            folder: folder.path(),
        })
    })
}

/// The databases that were set aside. Their pictures were not moved.
pub(super) fn set_aside_copies(dir: &Path) -> Vec<BackupFile> {
    let copies = folders_aside(dir).filter_map(|aside| {
        let AsideFolder { taken, folder } = aside;
        let path = folder.join(DATABASE);
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

/// Moves the database and its log into a new folder. Returns that folder, if there was a database.
pub(super) fn move_aside(
    _held: &Lock,
    dir: &Path,
    now: Timestamp,
    keys: Option<&FolderKeys>,
) -> Result<Option<PathBuf>, StoreError> {
    let failed = |error| StoreError::file(error, dir, dir);
    fold_in_log(&dir.join(DATABASE), keys);
    // The database moves last, so that a second attempt still finds all remaining files.
    let parts: Vec<_> = ["-wal", "-shm", "-journal", ""]
        .iter()
        .map(|end| format!("{DATABASE}{end}"))
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

/// Applies the log or the journal of a healthy database, so that one file is set aside. A damaged
/// database keeps them unchanged.
fn fold_in_log(path: &Path, keys: Option<&FolderKeys>) {
    let has = |ending| files::beside(path, ending).exists();
    if !path.exists() || !(has("-wal") || has("-journal")) {
        return;
    }
    if let Err(error) = fold_in(path, keys) {
        tracing::warn!(%error, "the database log could not be merged and stays next to the database");
    }
}

fn fold_in(path: &Path, keys: Option<&FolderKeys>) -> Result<(), String> {
    let told = |error: rusqlite::Error| error.to_string();
    let keys = cipher::key_of(path, keys);
    let conn = rusqlite::Connection::open(path).map_err(told)?;
    cipher::unlock(&conn, keys).map_err(told)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(told)?;
    quick_check(&conn)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .map_err(told)
}
