//! Models whose files are on the way to another folder.

use domain::ModelId;
use rusqlite::params;

use crate::StoreError;
use crate::access::{ModelMoves, ModelMovesMut};
use crate::sql::{Col, one};

impl ModelMoves<'_> {
    /// Models and JSON, in the order of their ids.
    pub fn list(&self) -> Result<Vec<(ModelId, String)>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT model, json FROM model_move ORDER BY model")?
            .query_map([], |row| {
                Ok((row.get::<_, Col<_>>("model")?.0, row.get("json")?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ModelMovesMut<'_> {
    /// Stores a new move, or replaces that of the same model.
    pub fn set(&mut self, model: ModelId, json: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO model_move (model, json) VALUES (?1, ?2)
                 ON CONFLICT (model) DO UPDATE SET json = excluded.json",
            )?
            .execute(params![Col(model), json])?;
        Ok(())
    }

    /// Removes a move that has ended.
    pub fn delete(&mut self, model: ModelId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM model_move WHERE model = ?1")?
            .execute([Col(model)])?;
        Ok(())
    }

    /// Lets the model use the file at `to`, if it uses the one at `from`.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if it uses another file, or was removed.
    pub fn use_file(&mut self, model: ModelId, from: &str, to: &str) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE model SET path = ?3 WHERE id = ?1 AND path = ?2")?
            .execute(params![Col(model), from, to])?;
        one(rows, "model")
    }
}
