//! Assets: pictures and imported files, one file per content, named by its hash.

use std::collections::HashSet;
use std::path::Path;

use domain::Timestamp;
use rusqlite::{OptionalExtension, params};

use crate::access::{Assets, AssetsMut};
use crate::asset_folder::AssetFolder;
use crate::sql::Col;
use crate::{AssetHash, FolderKeys, StoreError};

/// An asset's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    pub hash: AssetHash,
    pub mime: String,
    /// Size of the file.
    pub bytes: u64,
    pub created: Timestamp,
}

impl Assets<'_> {
    pub fn get(&self, hash: AssetHash) -> Result<Option<Asset>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT mime, bytes, created FROM asset WHERE hash = ?1")?
            .query_row([Col(hash)], |row| {
                Ok(Asset {
                    hash,
                    mime: row.get(0)?,
                    bytes: row.get::<_, i64>(1)?.unsigned_abs(),
                    created: row.get::<_, Col<_>>(2)?.0,
                })
            })
            .optional()?;
        Ok(row)
    }

    /// All assets, sorted by hash.
    pub fn all(&self) -> Result<Vec<Asset>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT hash, mime, bytes, created FROM asset ORDER BY hash")?;
        let rows = statement.query_map([], |row| {
            Ok(Asset {
                hash: row.get::<_, Col<_>>(0)?.0,
                mime: row.get(1)?,
                bytes: row.get::<_, i64>(2)?.unsigned_abs(),
                created: row.get::<_, Col<_>>(3)?.0,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Writes an asset's file, unless it exists.
pub(crate) fn write(
    dir: &Path,
    keys: Option<&FolderKeys>,
    hash: AssetHash,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let folder = AssetFolder::assets(dir, keys);
    let path = folder.file(hash);
    if folder.content_bytes(hash) == Some(bytes.len() as u64) {
        // A file without a row must not be swept away before its row is stored.
        let renewed = std::fs::OpenOptions::new().append(true).open(&path);
        if let Err(error) = renewed.and_then(|file| file.set_modified(std::time::SystemTime::now()))
        {
            tracing::debug!(%error, "the age of a file stays");
        }
        return Ok(());
    }
    let written = folder.write(hash, bytes);
    written.map_err(|error| StoreError::file(error, &path, dir))
}

impl AssetsMut<'_> {
    /// Stores `bytes` and returns their hash. Known content is not written again, but its age
    /// restarts because it may have no references yet.
    ///
    /// The file is written before the row. If the transaction fails, a later `put` reuses the file.
    pub fn put(
        &mut self,
        bytes: &[u8],
        mime: &str,
        now: Timestamp,
    ) -> Result<AssetHash, StoreError> {
        let hash = AssetHash::of(bytes);
        write(self.dir, self.keys, hash, bytes)?;
        self.list(hash, bytes.len() as u64, mime, now)?;
        Ok(hash)
    }

    /// Stores the row of a file that [`crate::Store::keep_file`] has written.
    ///
    /// # Errors
    /// `NotFound` if the file does not exist, because a purge may have removed it in between.
    pub fn put_kept(
        &mut self,
        hash: AssetHash,
        mime: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let folder = AssetFolder::assets(self.dir, self.keys);
        let bytes = folder.content_bytes(hash);
        let bytes = bytes.ok_or(StoreError::NotFound { what: "file" })?;
        self.list(hash, bytes, mime, now)
    }

    fn list(
        &mut self,
        hash: AssetHash,
        bytes: u64,
        mime: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO asset (hash, mime, bytes, created) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (hash) DO UPDATE SET created = max(created, excluded.created)",
            )?
            .execute(params![Col(hash), mime, bytes as i64, Col(now)])?;
        Ok(())
    }

    /// The assets that have references.
    pub(crate) fn referred(&self) -> Result<HashSet<AssetHash>, StoreError> {
        let all = format!("SELECT hash FROM asset WHERE NOT ({UNREFERRED})");
        let rows = self
            .conn
            .prepare(&all)?
            .query_map([], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Removes the rows of assets without references that were put at or before `before` or are in
    /// `referred`. The caller removes their files after the commit.
    pub(crate) fn purge(
        &mut self,
        before: Timestamp,
        referred: &HashSet<AssetHash>,
    ) -> Result<Vec<AssetHash>, StoreError> {
        let unreferred = format!("SELECT hash, created FROM asset WHERE {UNREFERRED}");
        let gone: Vec<AssetHash> = self
            .conn
            .prepare(&unreferred)?
            .query_map([], |row| Ok((row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<Timestamp>>(1)?.0)))?
            .filter(|row| !matches!(row, Ok((hash, created)) if *created > before && !referred.contains(hash)))
            .map(|row| row.map(|(hash, _)| hash))
            .collect::<Result<_, _>>()?;
        let mut remove = self.conn.prepare("DELETE FROM asset WHERE hash = ?1")?;
        gone.iter()
            .try_for_each(|hash| remove.execute([Col(*hash)]).map(drop))?;
        Ok(gone)
    }
}

/// SQL condition: the asset has no references.
const UNREFERRED: &str = "NOT EXISTS (SELECT 1 FROM character WHERE picture = hash)
    AND NOT EXISTS (SELECT 1 FROM character WHERE source = hash)
    AND NOT EXISTS (SELECT 1 FROM lorebook WHERE source = hash)
    AND NOT EXISTS (SELECT 1 FROM endpoint WHERE tokenizer = hash)
    AND NOT EXISTS (SELECT 1 FROM message_picture WHERE asset = hash)
    AND NOT EXISTS (SELECT 1 FROM card_file WHERE asset = hash)
    AND NOT EXISTS (SELECT 1 FROM persona WHERE picture = hash)
    AND NOT EXISTS (SELECT 1 FROM card_version WHERE picture = hash)
    AND NOT EXISTS (SELECT 1 FROM background WHERE asset = hash)
    AND NOT EXISTS (SELECT 1 FROM draft WHERE kind = 'pictures' AND instr(text, lower(hex(hash))))";
