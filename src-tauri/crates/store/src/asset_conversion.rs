//! Encrypts or decrypts the files of assets, one by one. A copy in the new form is on the disk and
//! was read back before the old file is removed. A kill may leave both, and the next call finishes
//! the work.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::asset_folder::{AssetFolder, StoredAsset};
use crate::encryption::conversion::{Converted, KeyChange};
use crate::{AssetHash, FolderKeys, files, stored_file};

const DAMAGED: &str = "it is damaged";
const SHARED: &str = "backups of another data folder may need it";

/// The owners of plain files in a folder that several data folders use.
#[derive(Debug)]
pub(crate) struct SharedFiles {
    pub(crate) ours: HashSet<AssetHash>,
    /// Files that other data folders may need; `None` if that is not known.
    pub(crate) theirs: Option<HashSet<AssetHash>>,
}

impl SharedFiles {
    fn may_remove(&self, hash: AssetHash) -> bool {
        let theirs = self.theirs.as_ref();
        theirs.is_some_and(|theirs| !theirs.contains(&hash))
    }
}

/// Converts the assets of a data folder, or those of a folder of backups. Files that cannot be
/// converted stay and are added to `converted.failed`.
///
/// # Errors
/// A file cannot be written or removed, such as on a full disk.
pub(crate) fn convert_files(
    folder: &Path,
    change: KeyChange<'_>,
    shared: Option<&SharedFiles>,
    converted: &mut Converted,
) -> io::Result<()> {
    let to = AssetFolder::assets(folder, change.to);
    files::sweep_assets(to.path())?;
    for file in to.all_files()? {
        let done = match (change.from, change.to) {
            (Some(keys), None) => decrypt(&file, keys, &to, shared)?,
            _ => encrypt(&file, &to, shared)?,
        };
        match done {
            Done::Converted => converted.files += 1,
            Done::Nothing => {}
            Done::Failed(detail) => converted.failed.push((file.path, detail.to_owned())),
        }
    }
    remove_empty_folders(to.path())
}

enum Done {
    Converted,
    /// The file has the new form, or belongs to another data folder.
    Nothing,
    Failed(&'static str),
}

fn encrypt(
    file: &StoredAsset,
    to: &AssetFolder<'_>,
    shared: Option<&SharedFiles>,
) -> io::Result<Done> {
    let Some((hash, content)) = file.plain() else {
        return remove_damaged(file, to, shared);
    };
    if shared.is_some_and(|shared| !shared.ours.contains(&hash)) {
        return Ok(Done::Nothing);
    }
    put(to, hash, &content)?;
    if shared.is_some_and(|shared| !shared.may_remove(hash)) {
        return Ok(Done::Failed(SHARED));
    }
    fs::remove_file(&file.path)?;
    Ok(Done::Converted)
}

/// A plain file with other content than its name says is of no use if its encrypted copy is whole.
fn remove_damaged(
    file: &StoredAsset,
    to: &AssetFolder<'_>,
    shared: Option<&SharedFiles>,
) -> io::Result<Done> {
    if stored_file::is_sealed(&file.path) {
        return Ok(Done::Nothing);
    }
    let Ok(hash) = file.name.parse::<AssetHash>() else {
        return Ok(Done::Nothing);
    };
    if shared.is_some_and(|shared| !shared.ours.contains(&hash)) {
        return Ok(Done::Nothing);
    }
    if to.read(hash).is_none() || shared.is_some_and(|shared| !shared.may_remove(hash)) {
        return Ok(Done::Failed(DAMAGED));
    }
    fs::remove_file(&file.path)?;
    Ok(Done::Converted)
}

/// The keys open no file of another data folder.
fn decrypt(
    file: &StoredAsset,
    keys: &FolderKeys,
    to: &AssetFolder<'_>,
    shared: Option<&SharedFiles>,
) -> io::Result<Done> {
    if file.plain().is_some() {
        return Ok(Done::Nothing);
    }
    let Some((hash, content)) = file.sealed(keys) else {
        return Ok(match shared {
            Some(_) => Done::Nothing,
            None => Done::Failed(DAMAGED),
        });
    };
    put(to, hash, &content)?;
    fs::remove_file(&file.path)?;
    Ok(Done::Converted)
}

/// Writes a file and reads it back, unless it is there.
fn put(to: &AssetFolder<'_>, hash: AssetHash, content: &[u8]) -> io::Result<()> {
    if to.read(hash).is_some() {
        return Ok(());
    }
    to.write(hash, content)?;
    let is_whole = to.read(hash).is_some();
    is_whole
        .then_some(())
        .ok_or_else(|| io::Error::other("the converted copy of a file cannot be read"))
}

/// The names of these folders begin the names of files that are gone.
fn remove_empty_folders(assets: &Path) -> io::Result<()> {
    if !assets.is_dir() {
        return Ok(());
    }
    for folder in fs::read_dir(assets)? {
        // It fails if the folder is not empty.
        let _ = fs::remove_dir(folder?.path());
    }
    Ok(())
}
