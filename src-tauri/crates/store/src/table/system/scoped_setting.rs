//! Layered settings: JSON values by owner and key. `domain::settings` defines them.

use std::collections::BTreeMap;

use domain::settings::Owner;
use rusqlite::params;

use crate::StoreError;
use crate::access::{ScopedSettings, ScopedSettingsMut};

impl ScopedSettings<'_> {
    /// Returns the JSON texts by key.
    pub fn of(&self, owner: Owner) -> Result<BTreeMap<String, String>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT key, value FROM scoped_setting WHERE scope = ?1 AND owner = ?2",
            )?
            .query_map(params![owner.scope().as_str(), blob(owner)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ScopedSettingsMut<'_> {
    /// Returns `Conflict` if `json` is not valid JSON.
    pub fn set(&mut self, owner: Owner, key: &str, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO scoped_setting (scope, owner, key, value) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (scope, owner, key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![owner.scope().as_str(), blob(owner), key, json])?;
        Ok(())
    }

    /// Removes a value, so that the layer below applies.
    pub fn remove(&mut self, owner: Owner, key: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "DELETE FROM scoped_setting WHERE scope = ?1 AND owner = ?2 AND key = ?3",
            )?
            .execute(params![owner.scope().as_str(), blob(owner), key])?;
        Ok(())
    }
}

fn blob(owner: Owner) -> Vec<u8> {
    owner
        .id()
        .map_or_else(Vec::new, |id| id.as_bytes().to_vec())
}
