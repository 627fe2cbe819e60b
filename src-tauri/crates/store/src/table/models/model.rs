//! Model files in the library.

use domain::ModelId;
use domain::model::LocalModel;
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{Models, ModelsMut};
use crate::sql::{Col, one};

impl Models<'_> {
    /// Sorted by name.
    pub fn list(&self) -> Result<Vec<LocalModel>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT * FROM model ORDER BY name COLLATE NOCASE, id")?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    pub fn get(&self, id: ModelId) -> Result<Option<LocalModel>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT * FROM model WHERE id = ?1")?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }
}

impl ModelsMut<'_> {
    pub fn insert(&mut self, model: &LocalModel) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO model (id, name, path, bytes, sha256, architecture, context)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            model,
        )
    }

    pub fn update(&mut self, model: &LocalModel) -> Result<(), StoreError> {
        self.run(
            "UPDATE model SET name = ?2, path = ?3, bytes = ?4, sha256 = ?5, architecture = ?6, context = ?7
             WHERE id = ?1",
            model,
        )
    }

    /// Removes the model from the library, but not its file.
    pub fn delete(&mut self, id: ModelId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM model WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "model")
    }

    fn run(&mut self, sql: &str, model: &LocalModel) -> Result<(), StoreError> {
        let bytes = i64::try_from(model.bytes)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let rows = self.conn.prepare_cached(sql)?.execute(params![
            Col(model.id),
            model.name,
            model.path,
            bytes,
            model.sha256,
            model.architecture,
            model.context,
        ])?;
        one(rows, "model")
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<LocalModel> {
    Ok(LocalModel {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        path: row.get("path")?,
        bytes: row.get::<_, i64>("bytes")?.unsigned_abs(),
        sha256: row.get("sha256")?,
        architecture: row.get("architecture")?,
        context: row.get("context")?,
    })
}
