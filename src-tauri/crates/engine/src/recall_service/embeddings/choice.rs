//! The choice of the embedding model: the one that comes with the app, or a GGUF file of the user.
//!
//! Vectors of two models are never compared: every cache and every read of the store names the
//! model. After another choice, everything is embedded again in idle time, and searches use words
//! until then.

use std::path::{Path, PathBuf};

use local::{gguf, library};
use serde::{Deserialize, Serialize};

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::handle::RecallService;

/// Row of the settings table.
const ROW: &str = "embedding_model";
/// Text for the first embedding of a new model.
const TRIAL: &str = "The lamplighter walks along the quay and counts the ships.";

/// The file that the user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ChosenFile {
    path: PathBuf,
    sha256: String,
}

impl ChosenFile {
    /// Identifies the weights, also after the file was moved.
    fn encoder(&self, recall: &RecallService) -> Encoder {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let short: String = self.sha256.chars().take(16).collect();
        Encoder::of_file(
            recall.reading().host(),
            &self.path,
            &format!("{name}, {short}"),
        )
    }
}

impl RecallService {
    /// The embedding model, and how much it has still to embed.
    pub(crate) async fn embedding_choice(&self) -> ApiResult<api::EmbeddingModel> {
        let chosen = self.chosen_file().await?;
        let left = |store: &store::ReadTransaction<'_>| {
            Ok(store
                .vectors()
                .count_queued()?
                .saturating_add(store.item_embeddings().count_queued()?))
        };
        let left = self.base().store().read(left).await?;
        let has_bundled = self.reading().bundled().is_some();
        let missing = chosen.as_ref().is_some_and(|chosen| !chosen.path.exists());
        Ok(api::EmbeddingModel {
            name: self.embedding_model(),
            path: chosen.map(|chosen| chosen.path.display().to_string()),
            has_bundled,
            missing,
            left,
        })
    }

    /// Uses the embedding model in a file from now on. The file stays in its folder.
    ///
    /// # Errors
    /// `BadInput` if it is not an embedding model that works here.
    pub(crate) async fn choose_embedding_model(
        &self,
        path: PathBuf,
    ) -> ApiResult<api::EmbeddingModel> {
        let checked = tokio::task::spawn_blocking(move || check(&path)).await;
        let chosen = checked.map_err(|_| internal("an embedding model could not be read"))??;
        let encoder = chosen.encoder(self);
        let tried = encoder
            .embed(TRIAL)
            .await
            .map_err(|error| unusable(&error.message))?;
        if tried.mean.iter().all(|number| *number == 0.0)
            || tried.mean.iter().any(|number| !number.is_finite())
        {
            return Err(unusable("it makes no vectors"));
        }
        let json = serde_json::to_string(&chosen)
            .map_err(|_| internal("the choice could not be stored"))?;
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(ROW, &json))
            .await?;
        self.use_encoder(Some(encoder)).await
    }

    /// Uses the embedding model that comes with the app.
    pub(crate) async fn use_bundled_embedding_model(&self) -> ApiResult<api::EmbeddingModel> {
        self.base()
            .store()
            .write(|store| store.settings_mut().remove(ROW))
            .await?;
        self.use_encoder(self.reading().bundled().cloned()).await
    }

    /// Uses the chosen file after a start.
    pub(crate) async fn load_embedding_choice(&self) -> ApiResult<()> {
        if let Some(chosen) = self.chosen_file().await? {
            let encoder = chosen.encoder(self);
            self.config()
                .app_settings
                .set_encoder_model(Some(encoder.model().to_owned()));
            self.reading().switch(Some(encoder));
        }
        Ok(())
    }

    async fn use_encoder(&self, encoder: Option<Encoder>) -> ApiResult<api::EmbeddingModel> {
        self.config()
            .app_settings
            .set_encoder_model(encoder.as_ref().map(|encoder| encoder.model().to_owned()));
        self.reading().switch(encoder.clone());
        if let Some(encoder) = encoder {
            self.begin_reading(&encoder).await?;
        }
        // Wakes the background task, and every view that shows what is embedded.
        self.base().events().changed(Changed::Memories, None);
        self.base().events().changed(Changed::Models, None);
        self.embedding_choice().await
    }

    async fn chosen_file(&self) -> ApiResult<Option<ChosenFile>> {
        let rows = self
            .base()
            .store()
            .read(|store| store.settings().all())
            .await?;
        Ok(rows
            .get(ROW)
            .and_then(|json| serde_json::from_str(json).ok()))
    }
}

fn unusable(why: &str) -> api::ApiError {
    let hint = "Choose the GGUF file of an embedding model, such as nomic-embed or bge.";
    bad_input(format!("The embedding model cannot be used: {why}."), hint)
}

/// Reads the purpose of a file from its header.
fn check(path: &Path) -> ApiResult<ChosenFile> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let header = gguf::read(&path).map_err(|error| unusable(&error.to_string()))?;
    if !header.embeds {
        return Err(unusable(&format!(
            "{} is a model that writes replies",
            path.display()
        )));
    }
    // The worker reads whole texts at once, which a model that reads from left to right does not
    // support.
    if !header.architecture.contains("bert") && header.architecture != "gemma-embedding" {
        return Err(unusable(&format!(
            "models of the kind {} are not supported for this",
            header.architecture
        )));
    }
    let (_, sha256) =
        library::hash(&path, |_, _| {}).map_err(|error| unusable(&error.to_string()))?;
    Ok(ChosenFile { path, sha256 })
}
