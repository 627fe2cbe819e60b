//! The files that backups name, each stored once in `assets` next to the copies. A new backup adds
//! only new files.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::asset_folder::AssetFolder;
use crate::{AssetHash, FolderKeys, files};

/// Copies each of `assets` that `pool` lacks from the first of `sources` with an intact copy.
/// Returns the number without any source.
pub(crate) fn fill(
    pool: &AssetFolder<'_>,
    assets: &[(AssetHash, u64)],
    sources: &[AssetFolder<'_>],
) -> io::Result<usize> {
    let mut missing = 0;
    for (hash, bytes) in assets {
        if pool.content_bytes(*hash) == Some(*bytes) {
            continue;
        }
        match first_whole(sources, *hash) {
            Some(content) => pool.write(*hash, &content)?,
            None => missing += 1,
        }
    }
    Ok(missing)
}

/// Restores each of `assets` that is missing from `live` or was changed there. Returns how many are
/// in no pool.
pub(crate) fn give_back(
    live: &AssetFolder<'_>,
    assets: &[(AssetHash, u64)],
    pools: &[AssetFolder<'_>],
) -> io::Result<usize> {
    let mut missing = 0;
    for (hash, _) in assets {
        if live.read(*hash).is_some() {
            continue;
        }
        let left = live.read_any_form(*hash);
        match left.or_else(|| first_whole(pools, *hash)) {
            Some(content) => live.write(*hash, &content)?,
            None => missing += 1,
        }
    }
    Ok(missing)
}

/// How many of `assets` are missing from `pool` or were changed there.
pub(crate) fn damaged(pool: &AssetFolder<'_>, assets: &[(AssetHash, u64)]) -> usize {
    assets
        .iter()
        .filter(|(hash, _)| pool.read_any_form(*hash).is_none())
        .count()
}

/// The content of a file from the first of `folders` that has it whole. The pool of a backup that
/// another folder made may be plain.
pub(crate) fn first_whole(folders: &[AssetFolder<'_>], hash: AssetHash) -> Option<Vec<u8>> {
    folders.iter().find_map(|folder| folder.read_any_form(hash))
}

/// Removes every file that is not in `named`, and partial files of a killed process. With `only`,
/// files that these keys do not open stay: they may belong to another data folder.
pub(crate) fn sweep(
    pool: &AssetFolder<'_>,
    named: &HashSet<AssetHash>,
    only: Option<&FolderKeys>,
) -> io::Result<()> {
    files::sweep_assets(pool.path())?;
    let mut orphans = pool.orphans(named)?;
    orphans.retain(|file| only.is_none_or(|keys| file.sealed(keys).is_some()));
    orphans
        .into_iter()
        .try_for_each(|file| fs::remove_file(file.path))
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
