//! Differences between the APIs of endpoints: how a request is written and how its reply is read.
//! Everything else is shared.

use reqwest::Url;
use serde::Serialize;
use serde_json::Value;

use super::config::EndpointConfig;
use super::dialect::LearnedDialect;
use crate::Request;
use crate::endpoint::stream::chunk::{StreamChunk, Unreadable};

/// One API. An implementation has no state.
pub(crate) trait Api: Send + Sync {
    /// The address of a reply.
    fn reply_url(&self, config: &EndpointConfig) -> Url;

    /// The JSON body of a request, without the parts that `dialect` excludes.
    fn body(&self, config: &EndpointConfig, request: &Request, dialect: &LearnedDialect)
    -> Vec<u8>;

    /// Parses the data of one event, one line, or a whole reply that was not streamed.
    ///
    /// # Errors
    /// If `data` is not JSON, or has a shape that no reply has.
    fn parse(&self, data: &str) -> Result<StreamChunk, Unreadable>;

    /// Whether a reply is streamed as one JSON object per line instead of server-sent events.
    fn streams_lines(&self) -> bool {
        false
    }

    /// Whether an unfinished reply at the end of the prompt is continued.
    fn prefills(&self, dialect: &LearnedDialect) -> bool;

    /// Whether a request can demand a tool call.
    fn forces_calls(&self) -> bool {
        true
    }

    /// Whether whitespace at the end of an unfinished reply is not sent. The model then writes it
    /// again.
    fn trims_prefill(&self) -> bool {
        false
    }

    /// The address of the list of models.
    fn models_url(&self, config: &EndpointConfig) -> Url {
        config.call(&["models"])
    }

    /// Reads the list of models; `None` if `list` is none.
    fn models(&self, list: &Value) -> Option<Vec<ListedModel>>;

    /// Name of this API and its replies in the texts of errors.
    fn names(&self) -> ApiNames;
}

/// Words for the texts of errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApiNames {
    /// Such as "an OpenAI-compatible API".
    pub(crate) api: &'static str,
    /// Such as "a chat completion".
    pub(crate) reply: &'static str,
    /// Such as "chat completions".
    pub(crate) replies: &'static str,
    /// Usual end of this API's addresses, such as `/v1`.
    pub(crate) version: Option<&'static str>,
}

/// A model as an endpoint lists it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ListedModel {
    pub(crate) name: String,
    /// Context length in tokens.
    pub(crate) context: Option<u32>,
    pub(crate) price: Option<ModelPrice>,
}

/// The price of a model in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelPrice {
    pub input: f64,
    pub output: f64,
}

/// Serialises a body. Bodies consist of texts, numbers and valid JSON, so this cannot fail; an
/// empty body would be refused by the endpoint.
pub(crate) fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).unwrap_or_default()
}

/// Reads a positive number of tokens.
pub(crate) fn tokens(value: &Value) -> Option<u32> {
    value
        .as_u64()
        .and_then(|count| u32::try_from(count).ok())
        .filter(|&count| count > 0)
}
