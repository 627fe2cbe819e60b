//! Keys of the local API, as hashes.

use domain::{ApiKeyId, CharacterId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{ApiKeys, ApiKeysMut};
use crate::sql::{Col, one};

/// A key with its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: ApiKeyId,
    /// Unique, ignoring case.
    pub name: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// The first characters of the key.
    pub start: String,
    /// `None` allows all characters. Deleted characters stay in the list until they are purged.
    pub characters: Option<Vec<CharacterId>>,
    pub raw_models: bool,
    pub read_only: bool,
    pub created: Timestamp,
    pub last_used: Option<Timestamp>,
}

impl ApiKeys<'_> {
    /// The oldest first.
    pub fn list(&self) -> Result<Vec<ApiKey>, StoreError> {
        let mut keys: Vec<ApiKey> = self
            .conn
            .prepare_cached("SELECT * FROM api_key ORDER BY created, id")?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        for key in &mut keys {
            self.read_characters(key)?;
        }
        Ok(keys)
    }

    pub fn get(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let sql = "SELECT * FROM api_key WHERE id = ?1";
        let mut key = self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(id)], from_row)
            .optional()?;
        key.as_mut()
            .map_or(Ok(()), |key| self.read_characters(key))?;
        Ok(key)
    }

    fn read_characters(&self, key: &mut ApiKey) -> Result<(), StoreError> {
        if let Some(characters) = &mut key.characters {
            *characters = self
                .conn
                .prepare_cached(
                    "SELECT character FROM api_key_character WHERE key = ?1 ORDER BY character",
                )?
                .query_map([Col(key.id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
                .collect::<Result<_, _>>()?;
        }
        Ok(())
    }
}

impl ApiKeysMut<'_> {
    /// # Errors
    /// `Conflict` if a character does not exist.
    pub fn insert(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO api_key
                     (id, name, hash, start, every_character, raw_models, read_only, created, last_used)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                Col(key.id),
                key.name,
                key.hash.as_slice(),
                key.start,
                key.characters.is_none(),
                key.raw_models,
                key.read_only,
                Col(key.created),
                key.last_used.map(Col),
            ])?;
        self.put_characters(key)
    }

    /// Changes the name and the limits. The key itself stays.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if a character does not exist.
    pub fn update(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE api_key SET name = ?2, every_character = ?3, raw_models = ?4, read_only = ?5 WHERE id = ?1",
            )?
            .execute(params![Col(key.id), key.name, key.characters.is_none(), key.raw_models, key.read_only])?;
        one(rows, "API key")?;
        self.conn
            .prepare_cached("DELETE FROM api_key_character WHERE key = ?1")?
            .execute([Col(key.id)])?;
        self.put_characters(key)
    }

    /// Stores when the key was used. A key that was revoked meanwhile is no error.
    pub fn set_last_used(&mut self, id: ApiKeyId, when: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE api_key SET last_used = ?2 WHERE id = ?1";
        self.conn
            .prepare_cached(sql)?
            .execute(params![Col(id), Col(when)])?;
        Ok(())
    }

    pub fn delete(&mut self, id: ApiKeyId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM api_key WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "API key")
    }

    fn put_characters(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO api_key_character (key, character) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let mut insert = self.conn.prepare_cached(sql)?;
        for character in key.characters.iter().flatten() {
            insert.execute(params![Col(key.id), Col(*character)])?;
        }
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let every_character: bool = row.get("every_character")?;
    Ok(ApiKey {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        hash: row.get("hash")?,
        start: row.get("start")?,
        characters: (!every_character).then(Vec::new),
        raw_models: row.get("raw_models")?,
        read_only: row.get("read_only")?,
        created: row.get::<_, Col<_>>("created")?.0,
        last_used: row
            .get::<_, Option<Col<_>>>("last_used")?
            .map(|time| time.0),
    })
}
