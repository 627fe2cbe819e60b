//! Removes models from the library and deletes their files.

use std::path::{Path, PathBuf};

use domain::ModelId;
use provider::hub::names;
use provider::hub::names::FilePurpose;

use crate::api::{ApiError, Changed, ModelRef};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::settings::model_moves::ModelMoves;
use crate::settings::models::files::gguf_files;

impl ModelMoves {
    pub(crate) async fn remove_model(&self, id: ModelId) -> ApiResult<()> {
        self.end_move(id).await?;
        self.base()
            .store()
            .write(move |store| store.models_mut().delete(id))
            .await?;
        self.model_handles()
            .templates()
            .retain(|(model, _), _| *model != id);
        self.app_settings()
            .forget_default(&ModelRef::Local { id })
            .await?;
        self.base()
            .events()
            .changed(Changed::Models, Some(id.to_string()));
        Ok(())
    }

    /// Deletes the file of a model in the download folder, or all its parts, and removes it from
    /// the library.
    ///
    /// # Errors
    /// `BadInput` for a file elsewhere; `Storage` if it cannot be deleted.
    pub(crate) async fn delete_model_file(&self, id: ModelId) -> ApiResult<()> {
        self.end_move(id).await?;
        let model = self.model_lookup().local_model(id).await?;
        let folder = self.hub().download_folder(&self.hub().stored_hub().await?);
        let deleted =
            tokio::task::spawn_blocking(move || delete(Path::new(&model.path), &folder)).await;
        deleted.map_err(|_| internal("a model file could not be deleted"))??;
        self.remove_model(id).await
    }
}

fn delete(path: &Path, folder: &Path) -> ApiResult<()> {
    // Links are resolved, so that a link in the folder does not lead to a file elsewhere.
    let is_inside = match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    };
    if !is_inside {
        let message = format!("{} is not in the download folder.", path.display());
        return Err(bad_input(
            message,
            "Remove the model from the list, and delete the file in its folder.",
        ));
    }
    for part in local::gguf::parts_of(path) {
        std::fs::remove_file(&part).map_err(|source| ApiError::Storage {
            message: format!("{} cannot be deleted: {source}.", part.display()),
            hint: "Choose another model first, because this one may be in use, then try again."
                .into(),
        })?;
    }
    let emptied: Option<PathBuf> = path
        .parent()
        .map(Path::to_owned)
        .filter(|parent| parent != folder);
    if let Some(parent) = emptied {
        delete_lone_projectors(&parent);
        // Fails, as it should, if the folder has other files.
        let _ = std::fs::remove_dir(parent);
    }
    Ok(())
}

/// Deletes the files that read pictures if no model that could use them is left in the folder.
fn delete_lone_projectors(folder: &Path) {
    let files = gguf_files(folder);
    let is_projector = |file: &PathBuf| {
        names::purpose(&file.file_name().unwrap_or_default().to_string_lossy())
            == FilePurpose::Projector
    };
    if !files.iter().all(is_projector) {
        return;
    }
    for file in files {
        if let Err(error) = std::fs::remove_file(&file) {
            tracing::warn!(%error, path = %file.display(), "a file for pictures could not be deleted");
        }
    }
}
