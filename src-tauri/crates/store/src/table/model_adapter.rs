//! Adapters (LoRA) of model files.

use domain::ModelId;
use rusqlite::{Connection, OptionalExtension, params};

use crate::StoreError;
use crate::sql::Col;

/// The adapter of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAdapter {
    /// Absolute path.
    pub path: String,
    /// Factor of its effect; 1 is the effect of its training.
    pub weight: f32,
}

pub struct ModelAdapters<'a> {
    pub(crate) conn: &'a Connection,
}

impl ModelAdapters<'_> {
    pub fn get(&self, model: ModelId) -> Result<Option<ModelAdapter>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT path, weight FROM model_adapter WHERE model = ?1")?
            .query_row([Col(model)], |row| Ok(ModelAdapter { path: row.get(0)?, weight: row.get::<_, f64>(1)? as f32 }))
            .optional()?;
        Ok(row)
    }
}

pub struct ModelAdaptersMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl ModelAdaptersMut<'_> {
    /// Replaces the adapter of the model.
    pub fn set(&mut self, model: ModelId, adapter: &ModelAdapter) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO model_adapter (model, path, weight) VALUES (?1, ?2, ?3)
                 ON CONFLICT (model) DO UPDATE SET path = excluded.path, weight = excluded.weight",
            )?
            .execute(params![Col(model), adapter.path, f64::from(adapter.weight)])?;
        Ok(())
    }

    /// Removes the adapter of the model, but not its file.
    pub fn remove(&mut self, model: ModelId) -> Result<(), StoreError> {
        self.conn.prepare_cached("DELETE FROM model_adapter WHERE model = ?1")?.execute([Col(model)])?;
        Ok(())
    }
}
