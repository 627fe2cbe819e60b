//! Tests a connection and reads which models an endpoint offers. Changes nothing at the endpoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::model::EndpointDialect;
use domain::prompt::{Prompt, PromptMessage, PromptRole};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use reqwest::Url;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::{self, ListedModel, ModelPrice, tokens};
use super::api_error::EndpointError;
use super::client_state::ClientState;
use super::config::{EndpointConfig, Timeouts};
use super::retry::RequestFailure;
use super::{diagnose, refusal, reply};
use crate::{ProviderError, ProviderErrorKind, Request, ollama};

/// Result of a connection test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndpointProbe {
    /// Model names in the endpoint's order; empty if it has no list.
    pub models: Vec<String>,
    /// Context length in tokens of the configured model, if the endpoint reports it.
    pub context: Option<u32>,
    /// Context length in tokens of each listed model, by name, if the list contains it.
    pub contexts: BTreeMap<String, u32>,
    /// Prices of the listed models, by name, if the list contains them.
    pub prices: BTreeMap<String, ModelPrice>,
}

/// Requests the list of models once. An endpoint without a list is asked for a reply of one token
/// instead. If the address lacks its `/v1`, the error names the address that answers. The caller
/// checks whether the list contains the configured model.
///
/// # Errors
/// Every class that a reply can fail with, except `ContextOverflow` and `Cut` in the middle of a
/// text.
pub async fn probe(config: &EndpointConfig) -> Result<EndpointProbe, ProviderError> {
    let timeouts = config.timeouts;
    // A short reply comes sooner than one to a long prompt, and the user is waiting for the test.
    let timeouts = Timeouts {
        first_text: timeouts.first_text.min(timeouts.between_texts),
        ..timeouts
    };
    let shared = Arc::new(ClientState::new(config.clone().with_timeouts(timeouts))?);
    match shared.models().await {
        Ok(models) => {
            let context = match listed_context(&models, &config.model) {
                Some(context) => Some(context),
                None => shared.reported_context().await,
            };
            Ok(EndpointProbe {
                contexts: models
                    .iter()
                    .filter_map(|model| Some((model.name.clone(), model.context?)))
                    .collect(),
                prices: models
                    .iter()
                    .filter_map(|model| Some((model.name.clone(), model.price?)))
                    .collect(),
                models: models.into_iter().map(|model| model.name).collect(),
                context,
            })
        }
        Err(failure)
            if config.is_openai()
                && failure.error.kind == ProviderErrorKind::NotFound
                && !config.ends_with_version() =>
        {
            let below = ClientState::new(config.with_version("v1").with_timeouts(timeouts))?;
            if below.models().await.is_ok() {
                return Err(diagnose::api_at_other_address(config, &below.config));
            }
            without_list(shared, failure.error).await
        }
        Err(failure) => without_list(shared, failure.error).await,
    }
}

/// An endpoint without a list may still generate replies.
async fn without_list(
    shared: Arc<ClientState>,
    error: ProviderError,
) -> Result<EndpointProbe, ProviderError> {
    if !has_no_list(&error) {
        return Err(error);
    }
    one_token(shared).await?;
    Ok(EndpointProbe::default())
}

impl ClientState {
    /// Fetches JSON within the timeouts of a connection and one silence.
    async fn get(&self, url: Url) -> Result<Value, RequestFailure> {
        self.fetched(self.http.get(url)).await
    }

    async fn fetched(&self, request: reqwest::RequestBuilder) -> Result<Value, RequestFailure> {
        let limit = self.config.timeouts.connect + self.config.timeouts.notice;
        let fetched = tokio::time::timeout(limit, self.fetch(request)).await;
        fetched.unwrap_or_else(|_| Err(diagnose::silent(&self.config, limit)))
    }

    async fn models(&self) -> Result<Vec<ListedModel>, RequestFailure> {
        let api = self.config.api();
        let list = self.get(api.models_url(&self.config)).await?;
        if let Some(error) = EndpointError::within(&list, false) {
            return Err(diagnose::in_stream(&self.config, error));
        }
        api.models(&list)
            .ok_or_else(|| diagnose::no_list(&self.config))
    }

    async fn fetch(&self, request: reqwest::RequestBuilder) -> Result<Value, RequestFailure> {
        let mut response = self.send(request).await?;
        if !response.status().is_success() {
            let refusal = self.refusal(&mut response).await;
            return Err(refusal::refused(&self.config, refusal));
        }
        let body = self.whole(response).await?;
        if body.trim_start().starts_with('<') {
            return Err(diagnose::web_page(&self.config));
        }
        serde_json::from_str(&body)
            .map_err(|error| diagnose::malformed(&self.config, &error.to_string()))
    }

    /// Returns the context length of the configured model that the server reports outside its list.
    async fn reported_context(&self) -> Option<u32> {
        match self.config.kind() {
            EndpointDialect::OpenAi | EndpointDialect::Text => self.llama_context().await,
            EndpointDialect::Ollama if !self.config.model.is_empty() => {
                let url = self.config.call(&["api", "show"]);
                let shown = self
                    .fetched(self.post(url, api::json(&json!({ "model": self.config.model }))))
                    .await
                    .ok()?;
                ollama::shown_context(&shown)
            }
            EndpointDialect::Ollama | EndpointDialect::Anthropic | EndpointDialect::Gemini => None,
        }
    }

    /// Returns the context length that llama.cpp reports at `/props`. Other servers have no such
    /// path.
    async fn llama_context(&self) -> Option<u32> {
        let props = self.get(self.config.outside_api("props")).await.ok()?;
        tokens(&props["default_generation_settings"]["n_ctx"])
    }
}

/// Uses an only entry regardless of its name, because a server with a single model accepts any
/// name.
fn listed_context(models: &[ListedModel], model: &str) -> Option<u32> {
    match models {
        [only] => only.context,
        several => several.iter().find(|entry| entry.name == model)?.context,
    }
}

fn has_no_list(error: &ProviderError) -> bool {
    error.kind == ProviderErrorKind::NotFound && matches!(error.status, Some(404 | 405))
        || error.status == Some(501)
}

async fn one_token(shared: Arc<ClientState>) -> Result<(), ProviderError> {
    let message = PromptMessage {
        role: PromptRole::User,
        text: "Hi".to_owned(),
    };
    let request = Request {
        cache_key: String::new(),
        background: false,
        prompt: Prompt {
            messages: vec![message],
            ..Prompt::default()
        },
        sampling: SamplerOptions {
            max_tokens: Some(1),
            ..SamplerOptions::default()
        }
        .resolve(0),
        response_schema: None,
    };
    let mut events = Box::pin(reply::reply(shared, request, CancellationToken::new()));
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(())
}
