//! The files that backups name, each stored once in `assets` next to the copies. A new backup adds
//! only new files.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{AssetHash, files};

/// The path of the pool of a backup folder.
pub(crate) fn of(folder: &Path) -> PathBuf {
    folder.join(files::ASSETS)
}

/// Copies each of `assets` that `pool` lacks from the first of `sources` with an intact copy.
/// Returns the number without any source.
pub(crate) fn fill(
    pool: &Path,
    assets: &[(AssetHash, u64)],
    sources: &[PathBuf],
) -> io::Result<usize> {
    let mut missing = 0;
    for (hash, bytes) in assets {
        let target = hash.path_in(pool);
        if fs::metadata(&target).is_ok_and(|file| file.len() == *bytes) {
            continue;
        }
        match sources
            .iter()
            .find_map(|source| whole(&hash.path_in(source), *hash))
        {
            Some(content) => files::write(&target, &content)?,
            None => missing += 1,
        }
    }
    Ok(missing)
}

/// Restores each of `assets` that is missing from `live` or was changed there. Returns how many are
/// in no pool.
pub(crate) fn give_back(
    live: &Path,
    assets: &[(AssetHash, u64)],
    pools: &[PathBuf],
) -> io::Result<usize> {
    let mut missing = 0;
    for (hash, _) in assets {
        let target = hash.path_in(live);
        if whole(&target, *hash).is_some() {
            continue;
        }
        match pools
            .iter()
            .find_map(|pool| whole(&hash.path_in(pool), *hash))
        {
            Some(content) => files::write(&target, &content)?,
            None => missing += 1,
        }
    }
    Ok(missing)
}

/// How many of `assets` are missing from `pool` or were changed there.
pub(crate) fn damaged(pool: &Path, assets: &[(AssetHash, u64)]) -> usize {
    assets
        .iter()
        .filter(|(hash, _)| whole(&hash.path_in(pool), *hash).is_none())
        .count()
}

/// Removes every file that is not in `named`, and partial files of a killed process.
pub(crate) fn sweep(pool: &Path, named: &HashSet<AssetHash>) -> io::Result<()> {
    if !pool.exists() {
        return Ok(());
    }
    for shelf in fs::read_dir(pool)? {
        let shelf = shelf?.path();
        if !shelf.is_dir() {
            continue;
        }
        files::sweep(&shelf)?;
        for file in fs::read_dir(&shelf)? {
            let file = file?;
            let hash = file.file_name().to_string_lossy().parse::<AssetHash>();
            if hash.is_ok_and(|hash| !named.contains(&hash)) {
                fs::remove_file(file.path())?;
            }
        }
    }
    Ok(())
}

/// Total bytes of the files in the pool.
pub(crate) fn size(pool: &Path) -> u64 {
    let shelves = fs::read_dir(pool).into_iter().flatten().flatten();
    let files =
        shelves.flat_map(|shelf| fs::read_dir(shelf.path()).into_iter().flatten().flatten());
    files
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum()
}

/// The content of a file, if its hash matches its name.
pub(crate) fn whole(path: &Path, hash: AssetHash) -> Option<Vec<u8>> {
    fs::read(path)
        .ok()
        .filter(|bytes| AssetHash::of(bytes) == hash)
}
