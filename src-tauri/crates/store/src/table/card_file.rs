//! Files that were put to a card here, beside those that lie in the file the card came in. Their bytes are assets.

use domain::CharacterId;
use rusqlite::{Connection, params};

use crate::sql::Col;
use crate::{AssetHash, StoreError};

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardFile {
    /// Where the card says that it lies.
    pub path: String,
    pub asset: AssetHash,
    pub mime: String,
    /// Size of the file.
    pub bytes: u64,
}

pub struct CardFiles<'a> {
    pub(crate) conn: &'a Connection,
}

impl CardFiles<'_> {
    /// By path.
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

pub struct CardFilesMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl CardFilesMut<'_> {
    /// Puts an asset to a character's card, in the place of what lay under that path. Neither is made up: anything else is a
    /// `Conflict`.
    pub fn put(&mut self, character: CharacterId, path: &str, asset: AssetHash) -> Result<(), StoreError> {
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
