//! Keeps parsed `tokenizer.json` files in memory.

use std::sync::Arc;

use provider::TokenizerJson;
use store::{AssetHash, Store};
use tokio::sync::Mutex;

/// Size of the cache. A vocabulary of 250,000 tokens takes some hundred MB of memory.
pub(crate) const KEPT: usize = 2;

/// The cached tokenizers, most recently used last. `None` marks a file that could not be read.
#[derive(Default)]
pub(crate) struct TokenizerFiles(pub(crate) Mutex<Vec<(AssetHash, Option<Arc<TokenizerJson>>)>>);

impl TokenizerFiles {
    /// Returns the tokenizer with this content hash. `None` if its file is missing or damaged,
    /// which is logged.
    pub(crate) async fn get(&self, store: &Store, hash: AssetHash) -> Option<Arc<TokenizerJson>> {
        // Hold the lock while a file is read, so that two turns do not read it twice.
        let mut known = self.0.lock().await;
        let tokenizer = match known.iter().position(|(each, _)| *each == hash) {
            Some(at) => known.remove(at).1,
            None => read(store.clone(), hash).await,
        };
        keep(&mut known, hash, tokenizer.clone());
        tokenizer
    }

    pub(crate) async fn put(&self, hash: AssetHash, tokenizer: TokenizerJson) {
        let mut known = self.0.lock().await;
        known.retain(|(each, _)| *each != hash);
        keep(&mut known, hash, Some(Arc::new(tokenizer)));
    }
}

pub(crate) fn keep(
    known: &mut Vec<(AssetHash, Option<Arc<TokenizerJson>>)>,
    hash: AssetHash,
    file: Option<Arc<TokenizerJson>>,
) {
    known.push((hash, file));
    let old = known.len().saturating_sub(KEPT);
    known.drain(..old);
}

async fn read(store: Store, hash: AssetHash) -> Option<Arc<TokenizerJson>> {
    let read = tokio::task::spawn_blocking(move || -> Result<_, String> {
        let json = store.read_asset(hash).map_err(|error| error.to_string())?;
        let json = json.ok_or("its file is missing or damaged")?;
        TokenizerJson::parse(&json).map_err(|error| error.to_string())
    });
    let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
    read.map(Arc::new)
        .map_err(|error| tracing::warn!(error, "a stored tokenizer.json could not be read"))
        .ok()
}
