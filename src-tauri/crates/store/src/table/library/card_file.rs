//! Files that the user added to a card, in addition to those in the imported file. Their bytes are
//! assets.

use domain::CharacterId;
use rusqlite::params;

use crate::access::{CardFiles, CardFilesMut};
use crate::sql::Col;
use crate::{AssetHash, StoreError};

/// A file added to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFile {
    /// Path in the card's asset list.
    pub path: String,
    pub asset: AssetHash,
    pub mime: String,
    /// Size of the file.
    pub bytes: u64,
}

impl CardFiles<'_> {
    /// The files of a character, sorted by path.
    pub fn of(&self, character: CharacterId) -> Result<Vec<CardFile>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT path, asset, mime, bytes FROM card_file JOIN asset ON asset.hash = asset
                 WHERE character = ?1 ORDER BY path",
            )?
            .query_map([Col(character)], |row| {
                Ok(CardFile {
                    path: row.get(0)?,
                    asset: row.get::<_, Col<_>>(1)?.0,
                    mime: row.get(2)?,
                    bytes: row.get::<_, i64>(3)?.unsigned_abs(),
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl CardFilesMut<'_> {
    /// Adds an asset to a character's card and replaces the previous file with that path. Returns
    /// `Conflict` if the character or the asset does not exist.
    pub fn put(
        &mut self,
        character: CharacterId,
        path: &str,
        asset: AssetHash,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO card_file (character, path, asset) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET asset = excluded.asset",
            )?
            .execute(params![Col(character), path, Col(asset)])?;
        Ok(())
    }

    pub fn remove(&mut self, character: CharacterId, path: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM card_file WHERE character = ?1 AND path = ?2")?
            .execute(params![Col(character), path])?;
        Ok(())
    }
}
