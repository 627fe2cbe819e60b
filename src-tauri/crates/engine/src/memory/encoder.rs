//! The model that understands what was said: a small encoder in a worker of its own, which leaves when it is not needed.

use std::path::PathBuf;
use std::time::Duration;

use context::similarity::bytes;
use local::{Embedding, LocalHost, gguf};
use provider::ProviderError;
use store::{NewVector, UnreadText};

use crate::models::gguf_files;

/// A worker without work leaves after so long: it is back in a tenth of a second.
const IDLE: Duration = Duration::from_secs(60);

/// The encoder that comes with the app.
#[derive(Debug, Clone)]
pub struct Encoder {
    host: LocalHost,
    path: PathBuf,
    model: String,
}

impl Encoder {
    /// The first encoder in `folders`, run by the worker beside this program; `None` if there is none.
    ///
    /// # Errors
    /// The operating system gives no thread.
    pub fn find(folders: &[PathBuf]) -> std::io::Result<Option<Self>> {
        Self::run_by(&local::Settings::default(), folders)
    }

    pub(crate) fn run_by(settings: &local::Settings, folders: &[PathBuf]) -> std::io::Result<Option<Self>> {
        let is_encoder = |path: &PathBuf| gguf::read(path).is_ok_and(|header| header.architecture.contains("bert"));
        let Some(path) = folders.iter().flat_map(|folder| gguf_files(folder)).find(is_encoder) else { return Ok(None) };
        let bytes = std::fs::metadata(&path)?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let settings = local::Settings { task: "embeddings", idle: Some(IDLE), state_dir: None, ..settings.clone() };
        Ok(Some(Self { host: LocalHost::new(settings)?, model: format!("{name}, {bytes} bytes"), path }))
    }

    /// Whose vectors these are. Those of another say nothing to them.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) async fn understand(&self, text: &str) -> Result<Option<Embedding>, ProviderError> {
        Ok(self.host.embed(&self.path, &[text.to_owned()]).await?.pop())
    }

    /// The passages of a text: a long one says several things, and the model reads a page at the most.
    pub(crate) async fn read(&self, unread: &UnreadText) -> Result<Vec<NewVector>, ProviderError> {
        let text = unread.text.trim();
        let texts: Vec<String> = match text.len() {
            0 => return Ok(Vec::new()),
            1..=domain::document::MAX_PASSAGE => vec![text.to_owned()],
            _ => domain::document::passages(text).into_iter().map(|passage| passage.text).collect(),
        };
        let read = self.host.embed(&self.path, &texts).await?;
        Ok(read.into_iter().map(kept).collect())
    }

    pub(crate) async fn shutdown(&self) {
        self.host.shutdown().await;
    }
}

fn kept(embedding: Embedding) -> NewVector {
    let (vector, scale) = bytes(&embedding.mean);
    let pieces = embedding.tokens.iter().map(|piece| u16::try_from(*piece).unwrap_or(u16::MAX)).collect();
    NewVector { vector, scale, pieces, vectors: embedding.vectors }
}
