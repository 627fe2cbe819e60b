//! Tests a connection and reads which models an endpoint offers. Changes nothing at the endpoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::prompt::{Prompt, PromptMessage, PromptRole};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use reqwest::Url;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::api_error::EndpointError;
use super::config::{EndpointConfig, Timeouts};
use super::diagnose;
use super::retry::RequestFailure;
use super::{ClientState, reply};
use crate::{ProviderError, ProviderErrorKind, Request};

/// Maximum number of models in a list. It is larger than any known list.
const MAX_MODELS: usize = 2000;

/// Result of a connection test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointProbe {
    /// Model names in the endpoint's order; empty if it has no list.
    pub models: Vec<String>,
    /// Context length in tokens of the configured model, if the endpoint reports it.
    pub context: Option<u32>,
    /// Context length in tokens of each listed model, by name, if the list contains it.
    pub contexts: BTreeMap<String, u32>,
}

/// Requests the list of models once. An endpoint without a list is asked for a reply of one token instead. If the
/// address lacks its `/v1`, the error names the address that answers. The caller checks whether the list contains the
/// configured model.
///
/// # Errors
/// Every class that a reply can fail with, except `ContextOverflow` and `Cut` in the middle of a text.
pub async fn probe(config: &EndpointConfig) -> Result<EndpointProbe, ProviderError> {
    let timeouts = config.timeouts;
    // A short reply comes sooner than one to a long prompt, and the user is waiting for the test.
    let timeouts = Timeouts { first_text: timeouts.first_text.min(timeouts.between_texts), ..timeouts };
    let shared = Arc::new(ClientState::new(config.clone().with_timeouts(timeouts))?);
    match shared.models().await {
        Ok((models, list)) => {
            let context = match listed_context(&list, &config.model) {
                Some(context) => Some(context),
                None => shared.llama_context().await,
            };
            Ok(EndpointProbe { models, context, contexts: contexts(&list) })
        }
        Err(failure) if failure.error.kind == ProviderErrorKind::NotFound && !config.ends_with_version() => {
            let below = ClientState::new(config.with_version().with_timeouts(timeouts))?;
            if below.models().await.is_ok() {
                return Err(diagnose::api_at_other_address(config, &below.config));
            }
            without_list(shared, failure.error).await
        }
        Err(failure) => without_list(shared, failure.error).await,
    }
}

/// An endpoint without a list may still generate replies.
async fn without_list(shared: Arc<ClientState>, error: ProviderError) -> Result<EndpointProbe, ProviderError> {
    if !has_no_list(&error) {
        return Err(error);
    }
    one_token(shared).await?;
    Ok(EndpointProbe::default())
}

impl ClientState {
    /// Fetches JSON within the timeouts of a connection and one silence.
    async fn get(&self, url: Url) -> Result<Value, RequestFailure> {
        let limit = self.config.timeouts.connect + self.config.timeouts.notice;
        let fetched = tokio::time::timeout(limit, self.fetch(url)).await;
        fetched.unwrap_or_else(|_| Err(diagnose::silent(&self.config, limit)))
    }

    /// Returns the names of the models and the list that contains them.
    async fn models(&self) -> Result<(Vec<String>, Value), RequestFailure> {
        let list = self.get(self.config.call(&["models"])).await?;
        if let Some(error) = EndpointError::within(&list, false) {
            return Err(diagnose::in_stream(&self.config, error));
        }
        match names(&list) {
            Some(names) => Ok((names, list)),
            None => Err(diagnose::no_list(&self.config)),
        }
    }

    async fn fetch(&self, url: Url) -> Result<Value, RequestFailure> {
        let mut response = self.send(self.http.get(url)).await?;
        if !response.status().is_success() {
            let refusal = self.refusal(&mut response).await;
            return Err(diagnose::refused(&self.config, refusal));
        }
        let body = self.whole(response).await?;
        if body.trim_start().starts_with('<') {
            return Err(diagnose::web_page(&self.config));
        }
        serde_json::from_str(&body).map_err(|error| diagnose::malformed(&self.config, &error.to_string()))
    }

    /// Returns the context length that llama.cpp reports at `/props`. Other servers have no such path.
    async fn llama_context(&self) -> Option<u32> {
        let props = self.get(self.config.outside_api("props")).await.ok()?;
        tokens(&props["default_generation_settings"]["n_ctx"])
    }
}

/// Returns `None` if `list` is not a list of models. An empty list or `null` is valid.
fn names(list: &Value) -> Option<Vec<String>> {
    let of = |key: &str| list.get(key);
    let entries = match (of("data"), of("models")) {
        (Some(Value::Array(entries)), _) | (_, Some(Value::Array(entries))) => entries.as_slice(),
        (Some(Value::Null), _) | (_, Some(Value::Null)) => &[],
        _ if of("object").is_some_and(|kind| kind == "list") => &[],
        _ => list.as_array()?.as_slice(),
    };
    let name = |entry: &Value| {
        let name = ["id", "name", "model"].iter().find_map(|key| entry.get(*key)?.as_str());
        name.or_else(|| entry.as_str()).map(str::to_owned)
    };
    let names: Vec<String> = entries.iter().filter_map(name).take(MAX_MODELS).collect();
    (entries.is_empty() || !names.is_empty()).then_some(names)
}

fn contexts(list: &Value) -> BTreeMap<String, u32> {
    let entries = list["data"].as_array().into_iter().flatten().take(MAX_MODELS);
    entries.filter_map(|entry| Some((entry["id"].as_str()?.to_owned(), context_of(entry)?))).collect()
}

/// Uses an only entry regardless of its name, because a server with a single model accepts any name.
fn listed_context(list: &Value, model: &str) -> Option<u32> {
    let entries = list["data"].as_array()?;
    let entry = match entries.as_slice() {
        [only] => only,
        several => several.iter().find(|entry| entry["id"] == model)?,
    };
    context_of(entry)
}

/// Reads `meta.n_ctx` (llama.cpp), `max_model_len` (vLLM) or `context_length` (OpenRouter).
fn context_of(entry: &Value) -> Option<u32> {
    [&entry["meta"]["n_ctx"], &entry["max_model_len"], &entry["context_length"]].into_iter().find_map(tokens)
}

fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|&count| count > 0)
}

fn has_no_list(error: &ProviderError) -> bool {
    error.kind == ProviderErrorKind::NotFound && matches!(error.status, Some(404 | 405)) || error.status == Some(501)
}

async fn one_token(shared: Arc<ClientState>) -> Result<(), ProviderError> {
    let message = PromptMessage { role: PromptRole::User, text: "Hi".to_owned() };
    let request = Request {
        cache_key: String::new(),
        background: false,
        prompt: Prompt { messages: vec![message], ..Prompt::default() },
        sampling: SamplerOptions { max_tokens: Some(1), ..SamplerOptions::default() }.resolve(0),
        response_schema: None,
    };
    let mut events = Box::pin(reply::reply(shared, request, CancellationToken::new()));
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(())
}
