//! *Test connection*: what an endpoint offers, without writing anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use domain::prompt::{Prompt, PromptMessage, PromptRole};
use domain::sampling::SamplerOptions;
use futures_util::StreamExt;
use reqwest::Url;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::config::{EndpointConfig, Patience};
use super::diagnose;
use super::retry::Failure;
use super::{Shared, reply};
use crate::{ProviderError, ProviderErrorKind, Request};

/// More than any endpoint lists today.
const MAX_MODELS: usize = 2000;

/// What an endpoint says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probe {
    /// The models' names, in the endpoint's order; empty where it has no list.
    pub models: Vec<String>,
    /// Tokens that the configured model takes, where the endpoint says so.
    pub context: Option<u32>,
    /// Tokens that each listed model takes, by name, where the list says so.
    pub contexts: BTreeMap<String, u32>,
}

/// Asks for the list of models, once; an endpoint without one is asked for a reply of one token instead. Whether the
/// configured model is in the list is for the caller to compare.
///
/// # Errors
/// Every class that a reply can fail with, except `ContextOverflow` and `Cut` in the middle of a text.
pub async fn probe(config: &EndpointConfig) -> Result<Probe, ProviderError> {
    let patience = config.patience;
    // Someone sits in front of a test and waits; one short reply is due much sooner than one to a long prompt.
    let patience = Patience { first: patience.first.min(patience.idle), ..patience };
    let shared = Arc::new(Shared::new(config.clone().with_patience(patience))?);
    match shared.get(config.call(&["models"])).await {
        Ok(list) => {
            let models = names(&list);
            let context = match listed_context(&list, &config.model) {
                Some(context) => Some(context),
                None => shared.llama_context().await,
            };
            Ok(Probe { models, context, contexts: contexts(&list) })
        }
        Err(failure) if has_no_list(&failure.error) => {
            one_token(shared).await?;
            Ok(Probe::default())
        }
        Err(failure) => Err(failure.error),
    }
}

impl Shared {
    /// Fetches JSON, within the time that one connection and one silence may take.
    async fn get(&self, url: Url) -> Result<Value, Failure> {
        let limit = self.config.patience.connect + self.config.patience.notice;
        let fetched = tokio::time::timeout(limit, self.fetch(url)).await;
        fetched.unwrap_or_else(|_| Err(diagnose::silent(&self.config, limit)))
    }

    async fn fetch(&self, url: Url) -> Result<Value, Failure> {
        let mut response = self.send(self.http.get(url)).await?;
        if !response.status().is_success() {
            let refusal = self.refusal(&mut response).await;
            return Err(diagnose::refused(&self.config, refusal));
        }
        let body = self.rest(Bytes::new(), &mut response).await?;
        if body.trim_start().starts_with('<') {
            return Err(diagnose::web_page(&self.config));
        }
        serde_json::from_str(&body).map_err(|error| diagnose::malformed(&self.config, &error.to_string()))
    }

    /// llama.cpp tells the context of its slots beside the API. Other servers have nothing there, and that is fine.
    async fn llama_context(&self) -> Option<u32> {
        let props = self.get(self.config.beside("props")).await.ok()?;
        tokens(&props["default_generation_settings"]["n_ctx"])
    }
}

fn names(list: &Value) -> Vec<String> {
    let entries = list["data"].as_array().or_else(|| list["models"].as_array()).or_else(|| list.as_array());
    let name = |entry: &Value| entry["id"].as_str().or_else(|| entry["name"].as_str()).map(str::to_owned);
    entries.into_iter().flatten().filter_map(name).take(MAX_MODELS).collect()
}

fn contexts(list: &Value) -> BTreeMap<String, u32> {
    let entries = list["data"].as_array().into_iter().flatten().take(MAX_MODELS);
    entries.filter_map(|entry| Some((entry["id"].as_str()?.to_owned(), context_of(entry)?))).collect()
}

/// A server with a single model takes any name for it.
fn listed_context(list: &Value, model: &str) -> Option<u32> {
    let entries = list["data"].as_array()?;
    let entry = match entries.as_slice() {
        [only] => only,
        several => several.iter().find(|entry| entry["id"] == model)?,
    };
    context_of(entry)
}

/// llama.cpp says `meta.n_ctx`, vLLM `max_model_len`, OpenRouter `context_length`.
fn context_of(entry: &Value) -> Option<u32> {
    [&entry["meta"]["n_ctx"], &entry["max_model_len"], &entry["context_length"]].into_iter().find_map(tokens)
}

fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|&count| count > 0)
}

fn has_no_list(error: &ProviderError) -> bool {
    error.kind == ProviderErrorKind::NotFound && matches!(error.status, Some(404 | 405)) || error.status == Some(501)
}

async fn one_token(shared: Arc<Shared>) -> Result<(), ProviderError> {
    let message = PromptMessage { role: PromptRole::User, text: "Hi".to_owned() };
    let request = Request {
        cache_key: String::new(),
        prompt: Prompt { messages: vec![message], ..Prompt::default() },
        sampling: SamplerOptions { max_tokens: Some(1), ..SamplerOptions::default() }.resolve(0),
        shape: None,
    };
    let mut events = Box::pin(reply::reply(shared, request, CancellationToken::new()));
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(())
}
