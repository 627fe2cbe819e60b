//! All backups of a data folder, in its own folder, in the second place, and set aside.

use std::fs;
use std::path::Path;

use super::aside::set_aside_copies;
use super::backup_file::{BackupFile, BackupKind, BackupPlace};
use super::choices::BackupChoices;
use super::content::assets_of;
use super::folder::Folder;
use super::pool;
use crate::asset_folder::AssetFolder;
use crate::{AssetHash, FolderKeys, StoreError};

/// Every backup in the data folder and the second place, and databases that restores have set
/// aside. Newest first, with those of other data folders last.
pub(crate) fn list(dir: &Path, keys: Option<&FolderKeys>) -> Result<Vec<BackupFile>, StoreError> {
    let mut found = Vec::new();
    let origin = BackupChoices::read(dir).origin;
    for (place, folder) in places(dir) {
        found.extend(
            folder
                .list(place, &origin, keys)
                .map_err(|error| StoreError::file(error, &folder.path, dir))?,
        );
    }
    found.extend(set_aside_copies(dir));
    found.sort_by_key(|backup| std::cmp::Reverse((backup.own, backup.sequence, backup.taken)));
    Ok(found)
}

/// Whether any place has a file that is named like a backup, readable or not.
pub(crate) fn is_there(dir: &Path) -> bool {
    places(dir).iter().any(|(place, folder)| {
        folder
            .list(*place, "", None)
            .is_ok_and(|all| !all.is_empty())
    })
}

/// The total bytes of the backups in the data folder.
pub(crate) fn size(dir: &Path) -> u64 {
    Folder::home(dir).size()
}

/// Whether the database is newer than the last backup, or no backup exists.
pub(crate) fn outdated(dir: &Path, database: &Path, keys: Option<&FolderKeys>) -> bool {
    let newest = list(dir, keys).ok().and_then(|all| {
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
pub(crate) fn remove(
    dir: &Path,
    backup: &BackupFile,
    keys: Option<&FolderKeys>,
) -> Result<(), StoreError> {
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
        .and_then(|()| folder.sweep(backup.place, keys))
        .map_err(failed)
}

/// The content of a file in the pool of any backup here or in the second place.
pub(crate) fn pooled(dir: &Path, hash: AssetHash, keys: Option<&FolderKeys>) -> Option<Vec<u8>> {
    pool::first_whole(&pools(dir, keys), hash)
}

/// The files of all backups here and in the second place.
pub(super) fn pools<'k>(dir: &Path, keys: Option<&'k FolderKeys>) -> Vec<AssetFolder<'k>> {
    let places = places(dir).into_iter();
    places.map(|(_, folder)| folder.pool(keys)).collect()
}

/// The files that databases in set-aside folders name; `None` if one of them cannot be read.
pub(crate) fn named_aside(dir: &Path, keys: Option<&FolderKeys>) -> Option<Vec<AssetHash>> {
    let named = set_aside_copies(dir)
        .into_iter()
        .map(|copy| assets_of(&copy.path, keys));
    let named = named.collect::<Option<Vec<_>>>()?;
    Some(named.into_iter().flatten().map(|(hash, _)| hash).collect())
}

/// The folders that are available.
pub(super) fn places(dir: &Path) -> Vec<(BackupPlace, Folder)> {
    let second = BackupChoices::read(dir).second_folder().map(Folder::at);
    let all = [
        (BackupPlace::Place, Some(Folder::home(dir))),
        (BackupPlace::Second, second),
    ];
    all.into_iter()
        .filter_map(|(place, folder)| Some((place, folder.filter(|folder| folder.path.is_dir())?)))
        .collect()
}

pub(super) fn next_sequence(dir: &Path, keys: Option<&FolderKeys>) -> Result<u64, StoreError> {
    Ok(list(dir, keys)?
        .iter()
        .filter(|backup| backup.own)
        .map(|backup| backup.sequence)
        .max()
        .unwrap_or(0)
        + 1)
}
