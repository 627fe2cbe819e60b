//! App settings: JSON values by key. The engine defines their meaning and defaults.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{Settings, SettingsMut};

impl Settings<'_> {
    /// Returns the JSON text.
    pub fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        let value = self
            .conn
            .prepare_cached("SELECT value FROM setting WHERE key = ?1")?
            .query_row([key], |row| row.get(0))
            .optional()?;
        Ok(value)
    }

    pub fn all(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT key, value FROM setting")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl SettingsMut<'_> {
    /// Returns `Conflict` if `json` is not valid JSON.
    pub fn set(&mut self, key: &str, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO setting (key, value) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![key, json])?;
        Ok(())
    }

    /// Removes a value, so that the default applies.
    pub fn remove(&mut self, key: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM setting WHERE key = ?1")?
            .execute([key])?;
        Ok(())
    }
}
