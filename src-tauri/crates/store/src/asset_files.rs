//! The files of assets: restores those that were lost or changed from the pools of the backups, and
//! removes those that belong to nothing.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::asset_folder::AssetFolder;
use crate::{AssetHash, FolderKeys, StoreError, backup, files};

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
pub(crate) fn heal_all(
    conn: &Connection,
    dir: &Path,
    keys: Option<&FolderKeys>,
) -> Result<AssetRepair, StoreError> {
    let live = AssetFolder::assets(dir, keys);
    let mut repair = AssetRepair::default();
    for (hash, bytes) in backup::assets_in(conn)? {
        if live.content_bytes(hash) == Some(bytes) {
            continue;
        }
        match heal(dir, hash, keys)? {
            Some(_) => repair.healed += 1,
            None => repair.lost.push(hash),
        }
    }
    Ok(repair)
}

/// Restores one file from the backups, and returns its content. `None` if no backup has it. In a
/// folder with keys, it also finishes what a conversion has left of this file.
pub(crate) fn heal(
    dir: &Path,
    hash: AssetHash,
    keys: Option<&FolderKeys>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let live = AssetFolder::assets(dir, keys);
    let plain = live.plain();
    let left = plain.as_ref().and_then(|plain| plain.read(hash));
    let Some(content) = left.or_else(|| backup::pooled(dir, hash, keys)) else {
        return Ok(None);
    };
    let failed = |error| StoreError::file(error, &live.file(hash), dir);
    live.write(hash, &content).map_err(failed)?;
    plain
        .map_or(Ok(()), |plain| plain.remove(hash))
        .map_err(failed)?;
    Ok(Some(content))
}

/// Removes files and thumbnails that the database does not name. Files written since `opened` stay,
/// because their rows may follow. Files that a set-aside database names stay too. Returns how many
/// were removed.
pub(crate) fn sweep(
    conn: &Connection,
    dir: &Path,
    opened: SystemTime,
    keys: Option<&FolderKeys>,
) -> Result<usize, StoreError> {
    let Some(aside) = backup::named_aside(dir, keys) else {
        return Ok(0);
    };
    let named: HashSet<_> = backup::assets_in(conn)?
        .into_iter()
        .map(|(hash, _)| hash)
        .chain(aside)
        .collect();
    let opened = opened.checked_sub(GRANULARITY).unwrap_or(opened);
    let mut removed = 0;
    for folder in [
        AssetFolder::assets(dir, keys),
        AssetFolder::thumbnails(dir, keys),
    ] {
        for path in orphans(&folder, &named, opened)
            .map_err(|error| StoreError::file(error, folder.path(), dir))?
        {
            files::remove(&path).map_err(|error| StoreError::file(error, &path, dir))?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn orphans(
    folder: &AssetFolder<'_>,
    named: &HashSet<AssetHash>,
    opened: SystemTime,
) -> io::Result<Vec<PathBuf>> {
    let is_old = |path: &Path| {
        let changed = fs::metadata(path).and_then(|about| about.modified());
        changed.is_ok_and(|changed| changed < opened)
    };
    let orphans = folder.orphans(named)?.into_iter();
    let paths = orphans.map(|file| file.path);
    Ok(paths.filter(|path| is_old(path)).collect())
}
