//! A restore that was requested while the store is open. The next start performs it before anything
//! else.

use std::fs;
use std::path::{Path, PathBuf};

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::restore::{Restored, restore};
use crate::encryption::cipher;
use crate::{FolderKeys, StoreError, files};

const FILE: &str = "restore.json";

#[derive(Serialize, Deserialize)]
struct Pending {
    backup: PathBuf,
}

/// Schedules the restore of `backup` for the next start.
pub(crate) fn request(dir: &Path, backup: &Path) -> Result<(), StoreError> {
    let path = path(dir);
    let pending = Pending {
        backup: backup.to_owned(),
    };
    let written = serde_json::to_vec(&pending).map_err(std::io::Error::other);
    written
        .and_then(|json| files::write(&path, &json))
        .map_err(|error| StoreError::file(error, &path, dir))
}

/// Whether the next start restores a backup.
pub(crate) fn is_requested(dir: &Path) -> bool {
    path(dir).exists()
}

/// Performs the scheduled restore, if there is one. If the process is killed meanwhile, the next
/// start repeats it.
pub(crate) fn finish(
    dir: &Path,
    now: Timestamp,
    keys: Option<&FolderKeys>,
) -> Result<Option<Result<Restored, StoreError>>, StoreError> {
    let path = path(dir);
    let Ok(json) = fs::read(&path) else {
        return Ok(None);
    };
    let restored = match serde_json::from_slice::<Pending>(&json) {
        Ok(pending) => restore(dir, &pending.backup, now, keys),
        Err(error) => Err(StoreError::BadBackup {
            path: path.clone(),
            detail: error.to_string(),
        }),
    };
    match restored {
        // Another process has the folder open. The next process that opens it performs the restore.
        Err(error @ StoreError::InUse { .. }) => Err(error),
        // The next start with the right key performs it.
        Err(error @ StoreError::WrongKey { .. })
            if cipher::refuse_wrong_key(dir, keys).is_err() =>
        {
            Err(error)
        }
        done => {
            fs::remove_file(&path).map_err(|error| StoreError::file(error, &path, dir))?;
            Ok(Some(done))
        }
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join(files::BACKUPS).join(FILE)
}
