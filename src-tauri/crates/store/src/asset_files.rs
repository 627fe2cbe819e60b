//! The files of assets: restores those that were lost or changed from the pools of the backups, and
//! removes those that belong to nothing.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use protection::DatabaseKey;
use rusqlite::Connection;

use crate::{AssetHash, StoreError, backup, files};

/// File systems record times less exactly than the clock of the program.
const GRANULARITY: Duration = Duration::from_secs(5);

/// The result of comparing the files of all assets with the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssetRepair {
    /// Number of files that came back from a backup.
    pub healed: usize,
    /// Files that are missing or damaged and in no backup.
    pub lost: Vec<AssetHash>,
}

/// Restores the files that are missing or have another size than the database says.
pub(crate) fn heal_all(conn: &Connection, dir: &Path) -> Result<AssetRepair, StoreError> {
    let live = dir.join(files::ASSETS);
    let mut repair = AssetRepair::default();
    for (hash, bytes) in backup::assets_in(conn)? {
        let path = hash.path_in(&live);
        if fs::metadata(&path).is_ok_and(|file| file.len() == bytes) {
            continue;
        }
        match heal(dir, hash)? {
            Some(_) => repair.healed += 1,
            None => repair.lost.push(hash),
        }
    }
    Ok(repair)
}

/// Restores one file from the backups, and returns its content. `None` if no backup has it.
pub(crate) fn heal(dir: &Path, hash: AssetHash) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(content) = backup::pooled(dir, hash) else {
        return Ok(None);
    };
    let path = hash.path_in(&dir.join(files::ASSETS));
    files::write(&path, &content).map_err(|error| StoreError::file(error, &path, dir))?;
    Ok(Some(content))
}

/// Removes files and thumbnails that the database does not name. Files written since `opened` stay,
/// because their rows may follow. Files that a set-aside database names stay too. Returns how many
/// were removed.
pub(crate) fn sweep(
    conn: &Connection,
    dir: &Path,
    opened: SystemTime,
    key: Option<&DatabaseKey>,
) -> Result<usize, StoreError> {
    let Some(aside) = backup::named_aside(dir, key) else {
        return Ok(0);
    };
    let named: HashSet<_> = backup::assets_in(conn)?
        .into_iter()
        .map(|(hash, _)| hash)
        .chain(aside)
        .collect();
    let opened = opened.checked_sub(GRANULARITY).unwrap_or(opened);
    let mut removed = 0;
    for folder in [files::ASSETS, files::THUMBNAILS] {
        let folder = dir.join(folder);
        for path in orphans(&folder, &named, opened)
            .map_err(|error| StoreError::file(error, &folder, dir))?
        {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::file(error, &path, dir));
                }
                _ => removed += 1,
            }
        }
    }
    Ok(removed)
}

fn orphans(
    folder: &Path,
    named: &HashSet<AssetHash>,
    opened: SystemTime,
) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for shelf in fs::read_dir(folder)? {
        let shelf = shelf?;
        if !shelf.file_type()?.is_dir() {
            continue;
        }
        for file in fs::read_dir(shelf.path())? {
            let file = file?;
            let hash = file.file_name().to_string_lossy().parse::<AssetHash>();
            let is_orphan = hash.is_ok_and(|hash| !named.contains(&hash));
            if is_orphan
                && file
                    .metadata()
                    .and_then(|about| about.modified())
                    .is_ok_and(|changed| changed < opened)
            {
                found.push(file.path());
            }
        }
    }
    Ok(found)
}
