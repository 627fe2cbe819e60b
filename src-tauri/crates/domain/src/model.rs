//! Models that can generate replies: local model files and remote endpoints.

use serde::{Deserialize, Serialize};

use crate::{EndpointId, ModelId};

/// The model that generates replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
pub enum ModelChoice {
    Local(ModelId),
    /// Id of an endpoint, which selects its default model, or id of one of its [`EndpointModel`]s.
    Remote(EndpointId),
}

/// The API that an endpoint speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum EndpointDialect {
    /// OpenAI's `POST /chat/completions`.
    #[default]
    OpenAi,
    /// Text completions, `POST /completions`. The app's own chat format renders the prompt.
    Text,
    /// Anthropic's `POST /messages`.
    Anthropic,
    /// Google's `streamGenerateContent`.
    Gemini,
    /// Ollama's own `POST /api/chat`.
    Ollama,
}

/// A remote endpoint and its default model. The OS keychain stores its key and header values under
/// the endpoint's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub id: EndpointId,
    pub name: String,
    pub dialect: EndpointDialect,
    /// Base address including the API version if there is one, such as `http://127.0.0.1:8080/v1`.
    pub url: String,
    /// Model name for requests; empty if the server has only one.
    pub model: String,
    /// Context size, in tokens.
    pub context: u32,
    /// Names of additional request headers. The keychain stores their values.
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
    /// Absolute path. The file stays in place.
    pub path: String,
    pub bytes: u64,
    /// Hash of the whole file, in lower-case hexadecimal.
    pub sha256: String,
    pub architecture: String,
    /// Context size of the model's training, in tokens.
    pub context: u32,
}
