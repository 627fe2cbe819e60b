//! Google's Gemini API: `POST {url}/models/{model}:streamGenerateContent?alt=sse`. The service
//! caches the beginning of prompts by itself and reports how much it reused.
//!
//! Not supported: continuing an unfinished reply, which the API does not promise.

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

/// Collection of ordinary models in the names of models.
const MODELS: &str = "models";

#[derive(Debug)]
pub(crate) struct Gemini;

impl Api for Gemini {
    fn reply_url(&self, config: &EndpointConfig) -> Url {
        let (collection, name) = config
            .model
            .split_once('/')
            .unwrap_or((MODELS, &config.model));
        let mut url = config.call(&[collection, &format!("{name}:streamGenerateContent")]);
        url.query_pairs_mut().append_pair("alt", "sse");
        url
    }

    fn body(
        &self,
        config: &EndpointConfig,
        request: &Request,
        dialect: &LearnedDialect,
    ) -> Vec<u8> {
        json(&body::GeminiBody::new(&config.model, request, dialect))
    }

    fn parse(&self, data: &str) -> Result<StreamChunk, Unreadable> {
        wire::parse(data)
    }

    fn prefills(&self, dialect: &LearnedDialect) -> bool {
        !dialect.no_prefill
    }

    fn models_url(&self, config: &EndpointConfig) -> Url {
        let mut url = config.call(&[MODELS]);
        url.query_pairs_mut().append_pair("pageSize", "1000");
        url
    }

    /// Lists the models that generate text.
    fn models(&self, list: &Value) -> Option<Vec<ListedModel>> {
        let entries = list["models"].as_array()?;
        let model = |entry: &Value| {
            let calls = entry["supportedGenerationMethods"].as_array();
            let generates =
                calls.is_none_or(|calls| calls.iter().any(|call| call == "generateContent"));
            let name = entry["name"].as_str().filter(|_| generates)?;
            let name = name.strip_prefix("models/").unwrap_or(name).to_owned();
            Some(ListedModel {
                name,
                context: tokens(&entry["inputTokenLimit"]),
                price: None,
            })
        };
        Some(entries.iter().filter_map(model).take(MAX_MODELS).collect())
    }

    fn names(&self) -> ApiNames {
        ApiNames {
            api: "the Gemini API",
            reply: "a reply of the Gemini API",
            replies: "replies of the Gemini API",
            version: Some("/v1beta"),
        }
    }
}
