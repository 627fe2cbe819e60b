//! Removes models from the library and deletes their files.

use crate::settings::model_moves::ModelMoves;

impl ModelMoves {
    pub(crate) async fn remove_model(&self, id: String) -> ApiResult<()> {
        let id = id.parse::<ModelId>()?;
        self.end_move(id).await?;
        self.base()
            .store()
            .write(move |store| store.models_mut().delete(id))
            .await?;
        self.model_handles()
            .templates()
            .retain(|(model, _), _| *model != id);
        self.app_settings()
            .forget_default(&ModelRef::Local { id: id.to_string() })
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
    pub(crate) async fn delete_model_file(&self, id: String) -> ApiResult<()> {
        self.end_move(id.parse()?).await?;
        let model = self
            .model_lookup()
            .local_model(id.parse::<ModelId>()?)
            .await?;
        let folder = self.hub().download_folder(&self.hub().stored_hub().await?);
        let deleted =
            tokio::task::spawn_blocking(move || delete(Path::new(&model.path), &folder)).await;
        deleted.map_err(|_| internal("a model file could not be deleted"))??;
        self.remove_model(id).await
    }
}
