//! Calibration of token counts for each model of an endpoint. The engine defines the JSON.

use domain::EndpointId;
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{Calibrations, CalibrationsMut};
use crate::sql::Col;

impl Calibrations<'_> {
    /// Returns the JSON text.
    pub fn get(&self, endpoint: EndpointId, model: &str) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT json FROM calibration WHERE endpoint = ?1 AND model = ?2")?
            .query_row(params![Col(endpoint), model], |row| row.get(0))
            .optional()?;
        Ok(json)
    }
}

impl CalibrationsMut<'_> {
    /// Returns `Conflict` if `json` is not valid JSON or the endpoint does not exist.
    pub fn set(&mut self, endpoint: EndpointId, model: &str, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO calibration (endpoint, model, json) VALUES (?1, ?2, ?3)
                 ON CONFLICT (endpoint, model) DO UPDATE SET json = excluded.json",
            )?
            .execute(params![Col(endpoint), model, json])?;
        Ok(())
    }
}
