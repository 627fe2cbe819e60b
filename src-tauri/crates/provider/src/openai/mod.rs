//! OpenAI's chat completions: `POST {url}/chat/completions`, as llama.cpp, vLLM, LM Studio and most
//! services have them.

mod body;
pub(crate) mod messages;
pub(crate) mod models;
pub(crate) mod samplers;
pub(crate) mod wire;

pub(crate) use body::{Input, OpenAiBody};
use reqwest::Url;
use serde_json::Value;

use crate::Request;
use crate::endpoint::api::{Api, ApiNames, ListedModel, json};
use crate::endpoint::config::EndpointConfig;
use crate::endpoint::dialect::LearnedDialect;
use crate::endpoint::stream::chunk::{StreamChunk, Unreadable};

#[derive(Debug)]
pub(crate) struct OpenAi;

impl Api for OpenAi {
    fn reply_url(&self, config: &EndpointConfig) -> Url {
        config.call(&["chat", "completions"])
    }

    fn body(
        &self,
        config: &EndpointConfig,
        request: &Request,
        dialect: &LearnedDialect,
    ) -> Vec<u8> {
        json(&OpenAiBody::new(
            &config.model,
            request,
            dialect,
            Input::chat(request, dialect),
        ))
    }

    fn parse(&self, data: &str) -> Result<StreamChunk, Unreadable> {
        wire::parse(data)
    }

    fn prefills(&self, dialect: &LearnedDialect) -> bool {
        dialect.prefills()
    }

    fn models(&self, list: &Value) -> Option<Vec<ListedModel>> {
        models::listed(list)
    }

    fn names(&self) -> ApiNames {
        ApiNames {
            api: "an OpenAI-compatible API",
            reply: "a chat completion",
            replies: "chat completions",
            version: Some("/v1"),
        }
    }
}
