//! Anthropic's messages API: `POST {url}/messages`, with `anthropic-version: 2023-06-01`.
//!
//! Thinking is not requested. Thoughts that a service sends anyway are read, and their blocks are
//! sent back unchanged with the results of the calls that followed them
//! (<https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks>).

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

/// Context length of every published Claude model that the list of models does not report.
const CONTEXT: u32 = 200_000;

#[derive(Debug)]
pub(crate) struct Anthropic;

impl Api for Anthropic {
    fn reply_url(&self, config: &EndpointConfig) -> Url {
        config.call(&["messages"])
    }

    fn body(
        &self,
        config: &EndpointConfig,
        request: &Request,
        dialect: &LearnedDialect,
    ) -> Vec<u8> {
        json(&body::AnthropicBody::new(&config.model, request, dialect))
    }

    fn parse(&self, data: &str) -> Result<StreamChunk, Unreadable> {
        wire::parse(data)
    }

    /// Newer models refuse it; the first refusal is learned.
    fn prefills(&self, dialect: &LearnedDialect) -> bool {
        !dialect.no_prefill
    }

    fn trims_prefill(&self) -> bool {
        true
    }

    fn models_url(&self, config: &EndpointConfig) -> Url {
        let mut url = config.call(&["models"]);
        url.query_pairs_mut().append_pair("limit", "1000");
        url
    }

    fn models(&self, list: &Value) -> Option<Vec<ListedModel>> {
        let entries = list["data"].as_array()?;
        let model = |entry: &Value| {
            let name = entry["id"].as_str()?.to_owned();
            let stated = [&entry["max_input_tokens"], &entry["context_window"]]
                .into_iter()
                .find_map(tokens);
            let context = stated.or_else(|| name.starts_with("claude").then_some(CONTEXT));
            Some(ListedModel {
                name,
                context,
                price: None,
            })
        };
        Some(entries.iter().filter_map(model).take(MAX_MODELS).collect())
    }

    fn names(&self) -> ApiNames {
        ApiNames {
            api: "the Anthropic API",
            reply: "a reply of the Anthropic API",
            replies: "messages",
            version: Some("/v1"),
        }
    }
}
