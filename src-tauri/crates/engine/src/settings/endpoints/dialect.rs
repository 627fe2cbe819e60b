//! The API of an endpoint, and which parameters and features it refuses. The refusals are stored,
//! so that it refuses each only once instead of every turn.

use std::sync::{Arc, Mutex, PoisonError};

use domain::EndpointId;
use domain::model::Endpoint;
use futures_util::StreamExt;
use provider::endpoint::{EndpointClient, EndpointConfig, LearnedDialect, RoleRules, ThoughtsBack};
use provider::{EventStream, Provider, Request};
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::api::Quirk;
use crate::base::error::ApiResult;

/// Loads the learned dialect of `endpoint`'s model. An unreadable one resets to the default.
pub(crate) async fn known(store: &Store, endpoint: &Endpoint) -> ApiResult<LearnedDialect> {
    let id = endpoint.id;
    let model = endpoint.model.clone();
    let json = store
        .read(move |store| store.endpoint_dialects().get(id, &model))
        .await?;
    Ok(json
        .and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default())
}

/// Adds what is known about the service at the endpoint's address.
pub(crate) fn at_address(endpoint: &Endpoint, learned: LearnedDialect) -> LearnedDialect {
    let config = EndpointConfig::new(&endpoint.url, String::new(), None);
    match config.and_then(|config| config.speaking(endpoint.dialect)) {
        Ok(config) => config.with_dialect(learned).dialect().clone(),
        Err(_) => learned,
    }
}

/// Lists the quirks to show to the user.
pub(crate) fn quirks(dialect: &LearnedDialect) -> Vec<Quirk> {
    let left_out = Quirk::LeavesOut {
        parameters: dialect.left_out.iter().cloned().collect(),
    };
    let all = [
        (!dialect.left_out.is_empty(), left_out),
        (dialect.plain, Quirk::PlainSampling),
        (dialect.completion_tokens, Quirk::CompletionTokens),
        (dialect.few_stops, Quirk::FewStops),
        (dialect.no_prefill, Quirk::NoPrefill),
        (dialect.roles == RoleRules::Strict, Quirk::StrictRoles),
        (dialect.roles == RoleRules::NoSystem, Quirk::NoSystem),
        (
            dialect.thoughts_back != ThoughtsBack::Never,
            Quirk::ThoughtsBack,
        ),
    ];
    all.into_iter()
        .filter(|(has, _)| *has)
        .map(|(_, quirk)| quirk)
        .collect()
}

/// A remote model whose refusals are stored.
pub(crate) struct DialectLearner {
    client: Arc<EndpointClient>,
    store: Store,
    endpoint: EndpointId,
    model: String,
    /// The last stored dialect.
    kept: Arc<Mutex<LearnedDialect>>,
}

impl DialectLearner {
    pub(crate) fn new(client: Arc<EndpointClient>, store: Store, endpoint: &Endpoint) -> Self {
        let kept = Arc::new(Mutex::new(client.dialect()));
        Self {
            client,
            store,
            endpoint: endpoint.id,
            model: endpoint.model.clone(),
            kept,
        }
    }
}

impl Provider for DialectLearner {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let events = self.client.stream(request, cancel);
        let client = Arc::clone(&self.client);
        let store = self.store.clone();
        let kept = Arc::clone(&self.kept);
        let endpoint = self.endpoint;
        let model = self.model.clone();
        let learned = events.then(move |event| {
            let news = news(&client, &kept);
            let store = store.clone();
            let model = model.clone();
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

/// Returns the client's dialect if it has changed since the last call.
fn news(client: &EndpointClient, kept: &Mutex<LearnedDialect>) -> Option<LearnedDialect> {
    let dialect = client.dialect();
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if *kept == dialect {
        return None;
    }
    *kept = dialect.clone();
    Some(dialect)
}

/// Stores the dialect. A failure is only logged, because the reply does not depend on it.
async fn keep(store: &Store, endpoint: EndpointId, model: String, dialect: &LearnedDialect) {
    let Ok(json) = serde_json::to_string(dialect) else {
        return;
    };
    let kept = store
        .write(move |store| store.endpoint_dialects_mut().set(endpoint, &model, &json))
        .await;
    if let Err(error) = kept {
        tracing::info!(%error, "the parameters that an endpoint refuses could not be stored");
    }
}
