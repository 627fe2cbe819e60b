//! The `tokenizer.json` that the user gave for an endpoint's model: kept as an asset, read once (C1).

use std::path::PathBuf;
use std::sync::Arc;

use domain::EndpointId;
use provider::TokenizerJson;
use store::{AssetHash, Store};
use tokio::sync::Mutex;

use crate::Engine;
use crate::api::{self, Changed};
use crate::error::{Answer, bad_input, internal};
use crate::import::read_capped;

/// Those used last that stay in memory: a vocabulary of 250,000 tokens takes some hundred MB there.
const KEPT: usize = 2;

/// The files that were read, the one used last at the end; none where a file could not be.
#[derive(Default)]
pub(crate) struct TokenizerFiles(Mutex<Vec<(AssetHash, Option<Arc<TokenizerJson>>)>>);

impl TokenizerFiles {
    /// The tokenizer of that content; `None` if it is gone or damaged, which the log tells.
    pub(crate) async fn get(&self, store: &Store, hash: AssetHash) -> Option<Arc<TokenizerJson>> {
        // Held while a file is read, so that two turns do not read it twice.
        let mut known = self.0.lock().await;
        let tokenizer = match known.iter().position(|(each, _)| *each == hash) {
            Some(at) => known.remove(at).1,
            None => read(store.asset_path(hash)).await,
        };
        keep(&mut known, hash, tokenizer.clone());
        tokenizer
    }

    async fn put(&self, hash: AssetHash, tokenizer: TokenizerJson) {
        let mut known = self.0.lock().await;
        known.retain(|(each, _)| *each != hash);
        keep(&mut known, hash, Some(Arc::new(tokenizer)));
    }
}

fn keep(known: &mut Vec<(AssetHash, Option<Arc<TokenizerJson>>)>, hash: AssetHash, file: Option<Arc<TokenizerJson>>) {
    known.push((hash, file));
    let old = known.len().saturating_sub(KEPT);
    known.drain(..old);
}

async fn read(path: PathBuf) -> Option<Arc<TokenizerJson>> {
    let read = tokio::task::spawn_blocking(move || -> Result<_, String> {
        let json = std::fs::read(path).map_err(|error| error.to_string())?;
        TokenizerJson::parse(&json).map_err(|error| error.to_string())
    });
    let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
    read.map(Arc::new).map_err(|error| tracing::warn!(error, "a tokenizer.json could not be read again")).ok()
}

impl Engine {
    /// Counts the tokens of an endpoint's model by its own `tokenizer.json` from now on.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` for what is no such file, and the endpoint stays as it was.
    pub async fn set_endpoint_tokenizer(&self, id: String, json: Vec<u8>) -> Answer<api::Endpoint> {
        let id = id.parse::<EndpointId>()?;
        let endpoint = self.endpoint(id).await?;
        let parsed = tokio::task::spawn_blocking(move || (TokenizerJson::parse(&json), json));
        let (parsed, json) = parsed.await.map_err(|_| internal("a tokenizer.json could not be read"))?;
        let tokenizer = parsed.map_err(|error| refusal(&error.to_string()))?;
        let now = self.now();
        let hash = self
            .store()
            .write(move |store| {
                let hash = store.assets_mut().put(&json, "application/json", now)?;
                store.endpoints_mut().set_tokenizer(id, Some(hash))?;
                Ok(hash)
            })
            .await?;
        self.tokenizer_files().put(hash, tokenizer).await;
        self.events().changed(Changed::Endpoints, Some(id.to_string()));
        self.shown_endpoint(endpoint).await
    }

    /// [`Engine::set_endpoint_tokenizer`] with a file on this machine.
    ///
    /// # Errors
    /// `BadInput` if it cannot be read as well.
    pub async fn set_endpoint_tokenizer_file(&self, id: String, path: PathBuf) -> Answer<api::Endpoint> {
        let read =
            tokio::task::spawn_blocking(move || read_capped(&path, TokenizerJson::MAX_BYTES, "a tokenizer.json"));
        let json = read.await.map_err(|_| internal("a file could not be read"))?;
        self.set_endpoint_tokenizer(id, json.map_err(|(_, reason)| refusal(&reason))?).await
    }

    pub async fn remove_endpoint_tokenizer(&self, id: String) -> Answer<api::Endpoint> {
        let id = id.parse::<EndpointId>()?;
        let endpoint = self.endpoint(id).await?;
        self.store().write(move |store| store.endpoints_mut().set_tokenizer(id, None)).await?;
        self.events().changed(Changed::Endpoints, Some(id.to_string()));
        self.shown_endpoint(endpoint).await
    }
}

fn refusal(reason: &str) -> api::ApiError {
    let hint = "Choose the tokenizer.json that is published beside the model, such as on Hugging Face.";
    bad_input(format!("The tokenizer was not taken: {reason}."), hint)
}
