//! Choices of the window's page, such as the text size. The page defines their meaning.

use std::collections::BTreeMap;

use rusqlite::params;

use crate::StoreError;
use crate::access::{PageValues, PageValuesMut};

impl PageValues<'_> {
    pub fn all(&self) -> Result<BTreeMap<String, String>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT key, value FROM page_value")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Number of values with other keys.
    pub fn count_others(&self, key: &str) -> Result<u32, StoreError> {
        let count = self
            .conn
            .prepare_cached("SELECT count(*) FROM page_value WHERE key <> ?1")?
            .query_row([key], |row| row.get(0))?;
        Ok(count)
    }
}

impl PageValuesMut<'_> {
    /// Returns `Conflict` if the key or the value is too long.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO page_value (key, value) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![key, value])?;
        Ok(())
    }

    /// Removes a value. A value that does not exist is no error.
    pub fn remove(&mut self, key: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM page_value WHERE key = ?1")?
            .execute([key])?;
        Ok(())
    }
}
