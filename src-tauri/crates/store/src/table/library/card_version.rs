//! Versions of cards: the cards that saves in the editor replaced.

use domain::{CharacterId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::access::{CardVersions, CardVersionsMut};
use crate::sql::Col;
use crate::{AssetHash, Character, StoreError};

/// Maximum number of versions of a card. The oldest are removed first.
const MAX_VERSIONS: i64 = 50;
/// Maximum size of all versions of a card, in bytes. The newest version is kept in any case.
const MAX_BYTES: i64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardVersion {
    /// Newer versions have higher numbers.
    pub number: i64,
    pub card_json: String,
    pub picture: Option<AssetHash>,
    /// The time of the save that replaced it.
    pub replaced: Timestamp,
}

impl CardVersions<'_> {
    /// The versions of a card, newest first.
    pub fn of(&self, character: CharacterId) -> Result<Vec<CardVersion>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT number, card_json, picture, replaced FROM card_version
                 WHERE character = ?1 ORDER BY number DESC",
            )?
            .query_map([Col(character)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    pub fn get(
        &self,
        character: CharacterId,
        number: i64,
    ) -> Result<Option<CardVersion>, StoreError> {
        let row = self
            .conn
            .prepare_cached(
                "SELECT number, card_json, picture, replaced FROM card_version WHERE character = ?1 AND number = ?2",
            )?
            .query_row(params![Col(character), number], from_row)
            .optional()?;
        Ok(row)
    }
}

impl CardVersionsMut<'_> {
    /// Keeps the stored card, which is about to be replaced by `next`. Nothing is kept if card and
    /// picture stay the same.
    pub fn keep(&mut self, next: &Character, now: Timestamp) -> Result<(), StoreError> {
        let kept = self
            .conn
            .prepare_cached(
                "INSERT INTO card_version (character, card_json, picture, replaced)
                 SELECT id, card_json, picture, ?4 FROM character
                 WHERE id = ?1 AND (card_json <> ?2 OR picture IS NOT ?3)",
            )?
            .execute(params![
                Col(next.id),
                next.card_json,
                next.picture.map(Col),
                Col(now)
            ])?;
        if kept > 0 {
            self.conn
                .prepare_cached(
                    "DELETE FROM card_version WHERE number IN (
                         SELECT number FROM (
                             SELECT number, row_number() OVER newer AS place, sum(length(card_json)) OVER newer AS bytes
                             FROM card_version WHERE character = ?1 WINDOW newer AS (ORDER BY number DESC))
                         WHERE place > 1 AND (place > ?2 OR bytes > ?3))",
                )?
                .execute(params![Col(next.id), MAX_VERSIONS, MAX_BYTES])?;
        }
        Ok(())
    }

    /// Removes all versions of a card. The next purge erases their bytes.
    pub fn remove(&mut self, character: CharacterId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT OR IGNORE INTO rewritten (id) VALUES (?1)")?
            .execute([Col(character)])?;
        self.conn
            .prepare_cached("DELETE FROM card_version WHERE character = ?1")?
            .execute([Col(character)])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<CardVersion> {
    Ok(CardVersion {
        number: row.get(0)?,
        card_json: row.get(1)?,
        picture: row.get::<_, Option<Col<_>>>(2)?.map(|Col(hash)| hash),
        replaced: row.get::<_, Col<_>>(3)?.0,
    })
}
