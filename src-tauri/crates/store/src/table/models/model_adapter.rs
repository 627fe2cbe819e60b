//! Adapters (LoRA) of model files.

use domain::ModelId;
use rusqlite::{Row, params};

use crate::StoreError;
use crate::access::{ModelAdapters, ModelAdaptersMut};
use crate::sql::Col;

/// An adapter of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAdapter {
    /// Absolute path.
    pub path: String,
    /// Factor of its effect; 1 is the effect of its training.
    pub weight: f32,
}

impl ModelAdapters<'_> {
    /// The adapters of a model, in the order in which they were added.
    pub fn of(&self, model: ModelId) -> Result<Vec<ModelAdapter>, StoreError> {
        let adapter = |row: &Row<'_>| {
            Ok(ModelAdapter {
                path: row.get(0)?,
                weight: row.get::<_, f64>(1)? as f32,
            })
        };
        let rows = self
            .conn
            .prepare_cached(
                "SELECT path, weight FROM model_adapter WHERE model = ?1 ORDER BY position",
            )?
            .query_map([Col(model)], adapter)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ModelAdaptersMut<'_> {
    /// Replaces the adapters of a model, but not their files. The same file can be in the list
    /// once.
    pub fn set(&mut self, model: ModelId, adapters: &[ModelAdapter]) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM model_adapter WHERE model = ?1")?
            .execute([Col(model)])?;
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO model_adapter (model, position, path, weight) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (position, ModelAdapter { path, weight }) in (0_i64..).zip(adapters) {
            insert.execute(params![Col(model), position, path, f64::from(*weight)])?;
        }
        Ok(())
    }
}
