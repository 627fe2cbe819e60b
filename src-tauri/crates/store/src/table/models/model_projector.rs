//! Files that read pictures for models (mmproj), as the user has chosen them.

use domain::ModelId;
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{ModelProjectors, ModelProjectorsMut};
use crate::sql::Col;

/// The file that reads pictures for a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProjectorChoice {
    /// The one in the model's folder.
    #[default]
    Automatic,
    /// The model reads no pictures.
    None,
    /// Absolute path.
    File(String),
}

impl ModelProjectors<'_> {
    pub fn get(&self, model: ModelId) -> Result<ProjectorChoice, StoreError> {
        let row: Option<Option<String>> = self
            .conn
            .prepare_cached("SELECT path FROM model_projector WHERE model = ?1")?
            .query_row([Col(model)], |row| row.get(0))
            .optional()?;
        Ok(match row {
            None => ProjectorChoice::Automatic,
            Some(None) => ProjectorChoice::None,
            Some(Some(path)) => ProjectorChoice::File(path),
        })
    }
}

impl ModelProjectorsMut<'_> {
    /// Replaces the choice for the model.
    pub fn set(&mut self, model: ModelId, choice: &ProjectorChoice) -> Result<(), StoreError> {
        let path = match choice {
            ProjectorChoice::Automatic => {
                self.conn
                    .prepare_cached("DELETE FROM model_projector WHERE model = ?1")?
                    .execute([Col(model)])?;
                return Ok(());
            }
            ProjectorChoice::None => None,
            ProjectorChoice::File(path) => Some(path),
        };
        self.conn
            .prepare_cached(
                "INSERT INTO model_projector (model, path) VALUES (?1, ?2)
                 ON CONFLICT (model) DO UPDATE SET path = excluded.path",
            )?
            .execute(params![Col(model), path])?;
        Ok(())
    }
}
