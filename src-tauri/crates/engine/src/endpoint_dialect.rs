//! What endpoints were found to refuse, kept beside them, so that each refuses a thing once and not in every turn.

use std::sync::{Arc, Mutex, PoisonError};

use domain::EndpointId;
use domain::model::Endpoint;
use futures_util::StreamExt;
use provider::openai::{Dialect, OpenAiClient, Roles};
use provider::{EventStream, Provider, Request};
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::api::Quirk;
use crate::error::Answer;

/// What is known of `endpoint`'s model; what cannot be read is learned anew.
pub(crate) async fn known(store: &Store, endpoint: &Endpoint) -> Answer<Dialect> {
    let (id, model) = (endpoint.id, endpoint.model.clone());
    let json = store.read(move |store| store.endpoint_dialects().get(id, &model)).await?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// What of it a person may want to know.
pub(crate) fn quirks(dialect: &Dialect) -> Vec<Quirk> {
    let left_out = Quirk::LeavesOut { parameters: dialect.left_out.iter().cloned().collect() };
    let all = [
        (!dialect.left_out.is_empty(), left_out),
        (dialect.plain, Quirk::PlainSampling),
        (dialect.completion_tokens, Quirk::CompletionTokens),
        (dialect.few_stops, Quirk::FewStops),
        (dialect.no_prefill, Quirk::NoPrefill),
        (dialect.roles == Roles::Strict, Quirk::StrictRoles),
        (dialect.roles == Roles::NoSystem, Quirk::NoSystem),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, quirk)| quirk).collect()
}

/// A remote model whose refusals are remembered.
pub(crate) struct Learning {
    client: Arc<OpenAiClient>,
    store: Store,
    endpoint: EndpointId,
    model: String,
    /// As it was kept last.
    kept: Arc<Mutex<Dialect>>,
}

impl Learning {
    pub(crate) fn new(client: Arc<OpenAiClient>, store: Store, endpoint: &Endpoint) -> Self {
        let kept = Arc::new(Mutex::new(client.dialect()));
        Self { client, store, endpoint: endpoint.id, model: endpoint.model.clone(), kept }
    }
}

impl Provider for Learning {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let events = self.client.stream(request, cancel);
        let (client, store, kept) = (Arc::clone(&self.client), self.store.clone(), Arc::clone(&self.kept));
        let (endpoint, model) = (self.endpoint, self.model.clone());
        let learned = events.then(move |event| {
            let news = news(&client, &kept);
            let (store, model) = (store.clone(), model.clone());
            async move {
                if let Some(dialect) = news {
                    keep(&store, endpoint, model, &dialect).await;
                }
                event
            }
        });
        learned.boxed()
    }
}

/// What the client has learned since it was asked last.
fn news(client: &OpenAiClient, kept: &Mutex<Dialect>) -> Option<Dialect> {
    let dialect = client.dialect();
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if *kept == dialect {
        return None;
    }
    *kept = dialect.clone();
    Some(dialect)
}

/// The reply is on its way: failing to remember is no reason to fail.
async fn keep(store: &Store, endpoint: EndpointId, model: String, dialect: &Dialect) {
    let Ok(json) = serde_json::to_string(dialect) else { return };
    let kept = store.write(move |store| store.endpoint_dialects_mut().set(endpoint, &model, &json)).await;
    if let Err(error) = kept {
        tracing::info!(%error, "what an endpoint refuses could not be kept");
    }
}
