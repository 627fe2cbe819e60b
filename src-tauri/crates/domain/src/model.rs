//! What can answer: a model file on this machine, or a remote endpoint.

use serde::{Deserialize, Serialize};

use crate::{EndpointId, ModelId};

/// Which model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
pub enum ModelChoice {
    Local(ModelId),
    /// Id of an endpoint, which selects its default model, or id of one of its [`EndpointModel`]s.
    Remote(EndpointId),
}

/// API dialect of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointDialect {
    /// OpenAI's `POST /chat/completions`.
    #[default]
    OpenAi,
}

/// A remote endpoint and its default model. The OS keychain stores its key and header values under the endpoint's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub id: EndpointId,
    pub name: String,
    pub dialect: EndpointDialect,
    /// Up to and including the version, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// The model's name at the endpoint; empty where the server has only one.
    pub model: String,
    /// Tokens of context to plan for.
    pub context: u32,
    /// Names of the headers that each request sends besides the key.
    pub headers: Vec<String>,
}

/// A model that an endpoint offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointModel {
    /// Shares the id space of endpoints, so that a choice can name either.
    pub id: EndpointId,
    pub name: String,
    /// Context size in tokens, if the endpoint reports it.
    pub context: Option<u32>,
    /// The user entered it by hand. Refreshing the list from the server does not remove it.
    pub typed: bool,
}

/// A GGUF file in the library, as its header describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalModel {
    pub id: ModelId,
    pub name: String,
    /// Absolute path; the file stays where it is.
    pub path: String,
    pub bytes: u64,
    /// Of the whole file, lower-case hexadecimal.
    pub sha256: String,
    pub architecture: String,
    /// Tokens the model was trained for.
    pub context: u32,
}
