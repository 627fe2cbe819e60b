//! Downloads of models that are not complete.

use domain::Timestamp;
use rusqlite::params;
use uuid::Uuid;

use crate::StoreError;
use crate::access::{Downloads, DownloadsMut};
use crate::sql::Col;

impl Downloads<'_> {
    /// Ids and JSON, the oldest first.
    pub fn list(&self) -> Result<Vec<(Uuid, String)>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT id, json FROM download ORDER BY created, id")?
            .query_map([], |row| {
                let id: Vec<u8> = row.get("id")?;
                Ok((
                    Uuid::from_slice(&id).map_err(rusqlite::types::FromSqlError::other)?,
                    row.get("json")?,
                ))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl DownloadsMut<'_> {
    /// Stores a new download, or the current state of a known one.
    pub fn set(&mut self, id: Uuid, created: Timestamp, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO download (id, created, json) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET json = excluded.json",
            )?
            .execute(params![id.as_bytes(), Col(created), json])?;
        Ok(())
    }

    /// Removes a download that is complete or cancelled.
    pub fn delete(&mut self, id: Uuid) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM download WHERE id = ?1")?
            .execute([id.as_bytes()])?;
        Ok(())
    }
}
