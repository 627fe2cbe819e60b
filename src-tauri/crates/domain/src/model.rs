//! What can answer: a model file on this machine, or a remote endpoint.

use serde::{Deserialize, Serialize};

use crate::{EndpointId, ModelId};

/// Which model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
pub enum ModelChoice {
    Local(ModelId),
    Remote(EndpointId),
}

/// A remote, OpenAI-compatible endpoint. Its key is in the OS keychain, under the endpoint's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub id: EndpointId,
    pub name: String,
    /// Up to and including the version, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// The model's name at the endpoint; empty where the server has only one.
    pub model: String,
    /// Tokens of context to plan for.
    pub context: u32,
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
