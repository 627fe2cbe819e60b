//! Embeddings for programs that use the local API, by the encoder that is bundled with the app.

use crate::api::ApiError;
use crate::api::client::Embedded;
use crate::base::error::ApiResult;
use crate::recall_service::handle::RecallService;

impl RecallService {
    /// Name of the encoder; `None` if there is none.
    pub(crate) fn embedding_model(&self) -> Option<String> {
        let encoder = self.reading().encoder()?;
        let file = encoder.model().split(',').next()?;
        Some(file.trim_end_matches(".gguf").to_owned())
    }

    /// The mean vector of each text, with length 1.
    ///
    /// # Errors
    /// `NoModel` without an encoder; `Provider` if it fails.
    pub(crate) async fn embed_texts(&self, texts: Vec<String>) -> ApiResult<Embedded> {
        let (Some(encoder), Some(model)) = (self.reading().encoder(), self.embedding_model())
        else {
            return Err(ApiError::NoModel {
                message: "No embedding model is installed.".into(),
                hint: "Install Inglenook with its models.".into(),
            });
        };
        let _asking = self.reading().ask();
        let mut vectors = Vec::with_capacity(texts.len());
        let mut tokens = 0_u32;
        for text in &texts {
            let embedding = encoder.embed(text).await?;
            tokens =
                tokens.saturating_add(u32::try_from(embedding.tokens.len()).unwrap_or(u32::MAX));
            vectors.push(embedding.mean);
        }
        Ok(Embedded {
            model,
            vectors,
            tokens,
        })
    }
}
