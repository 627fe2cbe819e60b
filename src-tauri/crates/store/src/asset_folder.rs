//! A folder with the files of assets, or with thumbnails of pictures.
//!
//! A file is `ab/abcd...`: its name is the hash of the asset, or in a protected folder the sealed
//! name of `assets/HASH` or `thumbnails/HASH`. The 256 subfolders keep each folder small.
//!
//! Pools of backups are such folders too. They have the same names as the assets of the folder.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protection::{SealedName, sealed_content_bytes};

use crate::{AssetHash, FolderKeys, files, stored_file};

/// One folder of files, in the form that belongs to `keys`.
#[derive(Debug, Clone)]
pub(crate) struct AssetFolder<'k> {
    path: PathBuf,
    /// First part of the plain names: [`files::ASSETS`] or [`files::THUMBNAILS`].
    kind: &'static str,
    keys: Option<&'k FolderKeys>,
}

impl<'k> AssetFolder<'k> {
    /// The assets of a data folder, or those that the backups in a folder name.
    pub(crate) fn assets(folder: &Path, keys: Option<&'k FolderKeys>) -> Self {
        Self {
            path: folder.join(files::ASSETS),
            kind: files::ASSETS,
            keys,
        }
    }

    pub(crate) fn thumbnails(dir: &Path, keys: Option<&'k FolderKeys>) -> Self {
        Self {
            path: dir.join(files::THUMBNAILS),
            kind: files::THUMBNAILS,
            keys,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The same folder with the files that were written without keys; `None` if it has no keys.
    pub(crate) fn plain(&self) -> Option<Self> {
        self.keys.map(|_| Self {
            keys: None,
            ..self.clone()
        })
    }

    /// Path of a file, whether it exists or not.
    pub(crate) fn file(&self, hash: AssetHash) -> PathBuf {
        let name = self.name(hash);
        self.path.join(&name[..2]).join(name)
    }

    /// Bytes of a file's content, from its size on the disk. `None` if it is missing or cut.
    pub(crate) fn content_bytes(&self, hash: AssetHash) -> Option<u64> {
        let size = fs::metadata(self.file(hash)).ok()?.len();
        match self.keys {
            Some(_) => sealed_content_bytes(size).ok(),
            None => Some(size),
        }
    }

    /// The content of a file, whole and unchanged. The content of a plain thumbnail is not checked.
    pub(crate) fn read(&self, hash: AssetHash) -> Option<Vec<u8>> {
        let read = stored_file::read(&self.file(hash), &self.plain_name(hash), self.keys);
        let content = read.ok()?;
        let is_whole = self.kind == files::THUMBNAILS || AssetHash::of(&content) == hash;
        is_whole.then_some(content)
    }

    /// Like [`Self::read`]. If the folder has keys, also from a file that was written without.
    pub(crate) fn read_any_form(&self, hash: AssetHash) -> Option<Vec<u8>> {
        self.read(hash).or_else(|| self.plain()?.read(hash))
    }

    pub(crate) fn write(&self, hash: AssetHash, content: &[u8]) -> io::Result<()> {
        let plain_name = self.plain_name(hash);
        stored_file::write(&self.file(hash), &plain_name, content, self.keys)
    }

    /// Removes a file, if it exists.
    pub(crate) fn remove(&self, hash: AssetHash) -> io::Result<()> {
        files::remove(&self.file(hash))
    }

    /// The files that belong to none of `hashes`. Files in the other form may be all that a
    /// conversion or another data folder has, so these stay: plain assets of `hashes` if the folder
    /// has keys, and every sealed file if not.
    pub(crate) fn orphans(&self, hashes: &HashSet<AssetHash>) -> io::Result<Vec<StoredAsset>> {
        let own = hashes.iter().map(|hash| self.name(*hash));
        let keeps_plain = self.keys.is_some() && self.kind == files::ASSETS;
        let plain = hashes.iter().filter(|_| keeps_plain);
        let named: HashSet<String> = own.chain(plain.map(AssetHash::to_string)).collect();
        let mut files = self.all_files()?;
        files.retain(|file| {
            let may_go = || self.keys.is_some() || !stored_file::is_sealed(&file.path);
            !named.contains(&file.name) && may_go()
        });
        Ok(files)
    }

    /// All files that are named like those of an asset, in any form.
    pub(crate) fn all_files(&self) -> io::Result<Vec<StoredAsset>> {
        let mut found = Vec::new();
        if !self.path.is_dir() {
            return Ok(found);
        }
        for shelf in fs::read_dir(&self.path)? {
            let shelf = shelf?;
            if !shelf.file_type()?.is_dir() {
                continue;
            }
            for file in fs::read_dir(shelf.path())? {
                found.extend(StoredAsset::at(file?.path()));
            }
        }
        Ok(found)
    }

    /// The files that can be read without keys. A folder that cannot be read has none.
    pub(crate) fn unsealed_files(&self) -> Vec<StoredAsset> {
        let mut files = self.all_files().unwrap_or_default();
        files.retain(|file| !stored_file::is_sealed(&file.path));
        files
    }

    fn name(&self, hash: AssetHash) -> String {
        match self.keys {
            Some(keys) => keys.sealed_name(&self.plain_name(hash)).to_string(),
            None => hash.to_string(),
        }
    }

    fn plain_name(&self, hash: AssetHash) -> String {
        format!("{}/{hash}", self.kind)
    }
}

/// A file in an [`AssetFolder`].
#[derive(Debug)]
pub(crate) struct StoredAsset {
    pub(crate) path: PathBuf,
    /// 64 lower-case hexadecimal digits: a hash or a sealed name.
    pub(crate) name: String,
}

impl StoredAsset {
    /// `None` if the file is named otherwise, so it is not ours.
    fn at(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let is_ours = name.parse::<AssetHash>().is_ok();
        is_ours.then_some(Self { path, name })
    }

    /// The content of a plain file, if its hash is its name.
    pub(crate) fn plain(&self) -> Option<(AssetHash, Vec<u8>)> {
        let content = fs::read(&self.path).ok()?;
        let hash = AssetHash::of(&content);
        (hash.to_string() == self.name).then_some((hash, content))
    }

    /// The content of a sealed file with the hash of an asset, if the keys open it.
    pub(crate) fn sealed(&self, keys: &FolderKeys) -> Option<(AssetHash, Vec<u8>)> {
        let name = SealedName::parse(&self.name)?;
        let content = stored_file::open(&self.path, &name, keys).ok()?;
        let hash = AssetHash::of(&content);
        let is_asset = keys.sealed_name(&format!("{}/{hash}", files::ASSETS)) == name;
        is_asset.then_some((hash, content))
    }
}
