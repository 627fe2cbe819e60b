//! The quirks found for each model of an endpoint, such as refused parameters. The engine defines
//! the JSON.

use domain::EndpointId;
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{EndpointDialects, EndpointDialectsMut};
use crate::sql::Col;

impl EndpointDialects<'_> {
    /// JSON text.
    pub fn get(&self, endpoint: EndpointId, model: &str) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT json FROM endpoint_dialect WHERE endpoint = ?1 AND model = ?2")?
            .query_row(params![Col(endpoint), model], |row| row.get(0))
            .optional()?;
        Ok(json)
    }
}

impl EndpointDialectsMut<'_> {
    /// Returns `Conflict` if `json` is not valid JSON or the endpoint does not exist.
    pub fn set(&mut self, endpoint: EndpointId, model: &str, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO endpoint_dialect (endpoint, model, json) VALUES (?1, ?2, ?3)
                 ON CONFLICT (endpoint, model) DO UPDATE SET json = excluded.json",
            )?
            .execute(params![Col(endpoint), model, json])?;
        Ok(())
    }

    /// Removes the entries of all models of `endpoint`.
    pub fn forget(&mut self, endpoint: EndpointId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM endpoint_dialect WHERE endpoint = ?1")?
            .execute([Col(endpoint)])?;
        Ok(())
    }
}
