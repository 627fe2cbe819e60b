//! Encrypts or decrypts the copies of a data folder: its backups here and in the second place with
//! their files and manifests, and databases that were set aside.
//!
//! A converted backup has a new name, because its manifest must always match it. The old one is
//! removed after that.

use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::aside::plain_logs_aside;
use super::backup_file::{BackupFile, BackupKind, BackupPlace};
use super::choices::BackupChoices;
use super::content::assets_of;
use super::folder::Folder;
use super::list::{list, places};
use super::manifest::{self, Manifest};
use crate::asset_conversion::{SharedFiles, convert_files};
use crate::encryption::cipher::{self, FileForm};
use crate::encryption::conversion::{Converted, KeyChange, converted_copy, replace};
use crate::{AssetHash, FolderKeys, StoreError, files, stored_file};

/// A converted backup is named after the first free millisecond since its original was taken.
const AFTER: Range<i64> = 0..1_000;

/// Converts all copies of this folder. Adds those that cannot be converted to `converted.failed`.
pub(crate) fn convert(
    dir: &Path,
    change: KeyChange<'_>,
    converted: &mut Converted,
) -> Result<(), StoreError> {
    for (place, folder) in places(dir) {
        match (files::sweep(&folder.path), place) {
            (Ok(()), _) => {}
            (Err(error), BackupPlace::Place) => {
                return Err(StoreError::file(error, &folder.path, dir));
            }
            (Err(error), BackupPlace::Second) => {
                converted.failed.push((folder.path, error.to_string()));
            }
        }
    }
    convert_backups(dir, change, converted)?;
    for (place, folder) in places(dir) {
        let done = match place {
            BackupPlace::Place => convert_pool(&folder, change, None, converted),
            BackupPlace::Second => {
                let shared = shared_files(dir, change.keys())?;
                convert_pool(&folder, change, Some(&shared), converted)
            }
        };
        match (done, place) {
            (Ok(()), _) => {}
            (Err(error), BackupPlace::Place) => {
                return Err(StoreError::file(error, &folder.path, dir));
            }
            (Err(error), BackupPlace::Second) => {
                converted.failed.push((folder.path, error.to_string()));
            }
        }
    }
    Ok(())
}

fn convert_backups(
    dir: &Path,
    change: KeyChange<'_>,
    converted: &mut Converted,
) -> Result<(), StoreError> {
    let origin = BackupChoices::read(dir).origin;
    let all = list(dir, change.keys())?;
    // A backup that only these keys open is ours, whatever its manifest says: the keys will go.
    let only_ours = |backup: &BackupFile| {
        let keys = change.from;
        keys.is_some_and(|keys| cipher::opens(&backup.path, keys))
    };
    for backup in all.iter().filter(|backup| backup.own || only_ours(backup)) {
        if change.is_done(&backup.path) {
            if let Err(error) = convert_manifest(backup, change) {
                let path = Manifest::path(&backup.path);
                converted.failed.push((path, error.to_string()));
            }
            continue;
        }
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
                && other.kind == backup.kind
                && other.pictures == backup.pictures
                && AFTER.contains(&other.taken.0.saturating_sub(backup.taken.0))
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
    if let Some(manifest) = Manifest::read(&backup.path, change.keys()) {
        let converted = Manifest {
            bytes: copy.as_file().metadata().map_err(failed)?.len(),
            sha256: manifest::sha256(copy.path()).map_err(failed)?,
            ..manifest
        };
        converted.write(&path, change.to).map_err(failed)?;
    }
    files::keep(copy, &path).map_err(failed)?;
    remove(backup)
}

/// Converts the manifest of a backup whose database has the wanted form.
fn convert_manifest(backup: &BackupFile, change: KeyChange<'_>) -> io::Result<()> {
    let path = Manifest::path(&backup.path);
    if !path.exists() || stored_file::is_sealed(&path) == change.to.is_some() {
        return Ok(());
    }
    match Manifest::read(&backup.path, change.keys()) {
        Some(manifest) => manifest.write(&backup.path, change.to),
        None => Err(io::Error::other("it is damaged")),
    }
}

fn convert_pool(
    folder: &Folder,
    change: KeyChange<'_>,
    shared: Option<&SharedFiles>,
    converted: &mut Converted,
) -> io::Result<()> {
    folder.remove_lone_manifests()?;
    convert_files(&folder.path, change, shared, converted)
}

/// The owners of the files in the second place.
fn shared_files(dir: &Path, keys: Option<&FolderKeys>) -> Result<SharedFiles, StoreError> {
    let mut shared = SharedFiles {
        ours: HashSet::new(),
        theirs: Some(HashSet::new()),
    };
    let mut backups = list(dir, keys)?;
    backups.retain(|backup| backup.place == BackupPlace::Second);
    for backup in backups {
        let assets = assets_of(&backup.path, keys);
        let assets = assets.map(|assets| assets.into_iter().map(|(hash, _)| hash));
        match (backup.own, assets) {
            (true, assets) => shared.ours.extend(assets.into_iter().flatten()),
            // An encrypted backup names no plain file.
            (false, _) if matches!(FileForm::of(&backup.path), Ok(FileForm::Encrypted)) => {}
            (false, Some(assets)) => {
                if let Some(theirs) = &mut shared.theirs {
                    theirs.extend(assets);
                }
            }
            (false, None) => shared.theirs = None,
        }
    }
    Ok(shared)
}

/// Copies, manifests and files of backups that can be read without the keys. Includes backups in the
/// second place that do not say whose they are.
pub(crate) fn plain_leftovers(dir: &Path, keys: &FolderKeys) -> Vec<PathBuf> {
    let mut found = plain_logs_aside(dir);
    let backups = list(dir, Some(keys)).unwrap_or_default().into_iter();
    for backup in backups.filter(|backup| backup.own || backup.pictures.is_none()) {
        let manifest = Manifest::path(&backup.path);
        if manifest.exists() && !stored_file::is_sealed(&manifest) {
            found.push(manifest);
        }
        if matches!(FileForm::of(&backup.path), Ok(FileForm::Plain)) {
            found.push(backup.path);
        }
    }
    let ours = shared_files(dir, Some(keys)).map_or_else(|_| HashSet::new(), |shared| shared.ours);
    let is_ours = |name: &str| {
        name.parse::<AssetHash>()
            .is_ok_and(|hash| ours.contains(&hash))
    };
    for (place, folder) in places(dir) {
        let mut files = folder.pool(Some(keys)).unsealed_files();
        files.retain(|file| place == BackupPlace::Place || is_ours(&file.name));
        found.extend(files.into_iter().map(|file| file.path));
    }
    found
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
