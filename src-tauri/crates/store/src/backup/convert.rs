//! Encrypts or decrypts the copies of a data folder: its backups here and in the second place, and
//! databases that were set aside.
//!
//! A converted backup has a new name, because its manifest must always match it. The old one is
//! removed after that.

use std::path::Path;

use super::backup_file::{BackupFile, BackupKind};
use super::choices::BackupChoices;
use super::folder::Folder;
use super::list::{list, places};
use super::manifest::{self, Manifest};
use crate::conversion::{Converted, KeyChange, converted_copy, replace};
use crate::{StoreError, files};

/// Converts all copies of this folder. Adds those that cannot be converted to `converted.failed`.
pub(crate) fn convert(
    dir: &Path,
    change: KeyChange<'_>,
    converted: &mut Converted,
) -> Result<(), StoreError> {
    for (_, folder) in places(dir) {
        files::sweep(&folder.path).map_err(|error| StoreError::file(error, &folder.path, dir))?;
    }
    let origin = BackupChoices::read(dir).origin;
    let all = list(dir)?;
    let pending = all
        .iter()
        .filter(|backup| backup.own && !change.is_done(&backup.path));
    for backup in pending {
        let done = match backup.kind {
            BackupKind::SetAside => replace(&backup.path, change),
            _ if has_successor(backup, &all, change) => remove(backup),
            _ => convert_backup(backup, &origin, change),
        };
        match done {
            Ok(()) => converted.databases += 1,
            Err(error) => converted
                .failed
                .push((backup.path.clone(), error.to_string())),
        }
    }
    Ok(())
}

/// Whether a killed call has converted this backup, but not removed it.
fn has_successor(backup: &BackupFile, all: &[BackupFile], change: KeyChange<'_>) -> bool {
    backup.sequence != 0
        && all.iter().any(|other| {
            other.sequence == backup.sequence
                && other.place == backup.place
                && other.own
                && other.checked
                && change.is_done(&other.path)
        })
}

fn convert_backup(
    backup: &BackupFile,
    origin: &str,
    change: KeyChange<'_>,
) -> Result<(), StoreError> {
    let folder = folder_of(backup);
    let failed = |error| StoreError::file(error, &backup.path, &folder.path);
    let copy = converted_copy(&backup.path, change)?;
    let path = folder.free_path(backup.taken, origin);
    if let Some(manifest) = Manifest::read(&backup.path) {
        let converted = Manifest {
            bytes: copy.as_file().metadata().map_err(failed)?.len(),
            sha256: manifest::sha256(copy.path()).map_err(failed)?,
            ..manifest
        };
        converted.write(&path).map_err(failed)?;
    }
    files::keep(copy, &path).map_err(failed)?;
    remove(backup)
}

fn remove(backup: &BackupFile) -> Result<(), StoreError> {
    let folder = folder_of(backup);
    folder
        .remove(&backup.path)
        .map_err(|error| StoreError::file(error, &backup.path, &folder.path))
}

fn folder_of(backup: &BackupFile) -> Folder {
    let path = backup.path.parent().unwrap_or(Path::new("."));
    Folder::at(path.to_owned())
}
