//! The manifest of a backup: a small JSON file next to the copy, which describes it without opening
//! it. In a protected folder it is sealed, because it names the hashes of pictures.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::backup_file::BackupKind;
use crate::{AssetHash, FolderKeys, files, stored_file};

/// The manifest of one backup, written after the copy was opened and verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) kind: BackupKind,
    /// Identifies the data folder of the backup.
    #[serde(default)]
    pub(crate) origin: String,
    /// Increases with every backup, independent of the clock.
    pub(crate) sequence: u64,
    pub(crate) format: u32,
    pub(crate) bytes: u64,
    /// SHA-256 of the database copy.
    pub(crate) sha256: String,
    /// Pictures and other files that the database references, with their sizes.
    pub(crate) assets: Vec<(AssetHash, u64)>,
}

impl Manifest {
    pub(crate) fn path(database: &Path) -> PathBuf {
        database.with_extension("json")
    }

    /// `None` if the manifest is missing or unreadable. Backups of earlier versions have none. A
    /// plain backup in a protected folder has a plain one.
    pub(crate) fn read(database: &Path, keys: Option<&FolderKeys>) -> Option<Self> {
        let path = Self::path(database);
        let keys = keys.filter(|_| stored_file::is_sealed(&path));
        let json = stored_file::read(&path, &plain_name(&path), keys).ok()?;
        serde_json::from_slice(&json).ok()
    }

    pub(crate) fn write(&self, database: &Path, keys: Option<&FolderKeys>) -> io::Result<()> {
        let json = serde_json::to_vec(self).map_err(io::Error::other)?;
        let path = Self::path(database);
        stored_file::write(&path, &plain_name(&path), &json, keys)
    }
}

/// The name that a sealed manifest is bound to. It is the same in both places.
fn plain_name(manifest: &Path) -> String {
    let name = manifest.file_name().unwrap_or_default();
    format!("{}/{}", files::BACKUPS, name.to_string_lossy())
}

/// The files that a database references, with their sizes.
pub(crate) fn assets_in(conn: &Connection) -> rusqlite::Result<Vec<(AssetHash, u64)>> {
    let mut statement = conn.prepare("SELECT hash, bytes FROM asset ORDER BY hash")?;
    let rows = statement.query_map([], |row| {
        let hash: [u8; 32] = row.get(0)?;
        Ok((
            AssetHash::from_bytes(hash),
            row.get::<_, i64>(1)?.unsigned_abs(),
        ))
    })?;
    // Hashes are unique in our own databases, but a hostile file may repeat one.
    Ok(rows
        .collect::<rusqlite::Result<BTreeSet<_>>>()?
        .into_iter()
        .collect())
}

/// SHA-256 of a file, in hexadecimal.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    let mut file = fs::File::open(path)?;
    let mut hash = Sha256::new();
    io::copy(&mut file, &mut hash)?;
    Ok(hex::encode(hash.finalize()))
}
