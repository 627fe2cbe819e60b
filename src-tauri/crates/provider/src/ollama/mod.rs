//! Ollama's own API: `POST {url}/api/chat`, streamed as lines of JSON. Unlike its OpenAI-compatible
//! API, it lets the client choose the context size, without which Ollama silently drops the
//! beginning of long prompts.

mod body;
mod wire;

use reqwest::Url;
use serde_json::Value;

use crate::Request;
use crate::endpoint::api::{Api, ApiNames, ListedModel, json, tokens};
use crate::endpoint::config::EndpointConfig;
use crate::endpoint::dialect::LearnedDialect;
use crate::endpoint::stream::chunk::{StreamChunk, Unreadable};
use crate::openai::models::MAX_MODELS;

/// Largest context size that is suggested for a model. Ollama reserves memory for all of it.
const SUGGESTED_CONTEXT: u32 = 16_384;

#[derive(Debug)]
pub(crate) struct Ollama;

impl Api for Ollama {
    fn reply_url(&self, config: &EndpointConfig) -> Url {
        config.call(&["api", "chat"])
    }

    fn body(
        &self,
        config: &EndpointConfig,
        request: &Request,
        dialect: &LearnedDialect,
    ) -> Vec<u8> {
        json(&body::OllamaBody::new(config, request, dialect))
    }

    fn parse(&self, data: &str) -> Result<StreamChunk, Unreadable> {
        wire::parse(data)
    }

    fn streams_lines(&self) -> bool {
        true
    }

    /// Ollama leaves an assistant's message at the end open.
    fn prefills(&self, dialect: &LearnedDialect) -> bool {
        !dialect.no_prefill
    }

    /// The API has no field for it.
    fn forces_calls(&self) -> bool {
        false
    }

    fn models_url(&self, config: &EndpointConfig) -> Url {
        config.call(&["api", "tags"])
    }

    fn models(&self, list: &Value) -> Option<Vec<ListedModel>> {
        let entries = list["models"].as_array()?;
        let model = |entry: &Value| {
            let name = entry["name"]
                .as_str()
                .or_else(|| entry["model"].as_str())?
                .to_owned();
            Some(ListedModel {
                name,
                ..ListedModel::default()
            })
        };
        Some(entries.iter().filter_map(model).take(MAX_MODELS).collect())
    }

    fn names(&self) -> ApiNames {
        ApiNames {
            api: "Ollama",
            reply: "a reply of Ollama",
            replies: "replies of Ollama",
            version: None,
        }
    }
}

/// Reads the context size to suggest from a response of `/api/show`, where the name of the field
/// begins with the model's architecture.
pub(crate) fn shown_context(shown: &Value) -> Option<u32> {
    let facts = shown["model_info"].as_object()?;
    let length = facts
        .iter()
        .find(|(key, _)| key.ends_with(".context_length"))?
        .1;
    Some(tokens(length)?.min(SUGGESTED_CONTEXT))
}
