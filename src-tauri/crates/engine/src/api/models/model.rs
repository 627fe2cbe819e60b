//! Models, endpoints, and the services that offer endpoints.

pub use domain::model::EndpointDialect;
use domain::{EndpointId, ModelId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::CountedWith;

/// Identifies a model that can answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum ModelRef {
    Local {
        id: ModelId,
    },
    /// The id of an endpoint, which selects its preset model, or the id of one of its models.
    Remote {
        id: String,
    },
}

/// Whether a model file fits into this machine's memory, as an estimate from its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Fits {
    Yes,
    Tight,
    No,
}

/// A model file in the library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    pub id: ModelId,
    pub name: String,
    pub path: String,
    #[specta(type = f64)]
    pub bytes: u64,
    pub sha256: String,
    pub architecture: String,
    /// The context size that the model was trained for, in tokens.
    pub context: u32,
    pub fits: Fits,
    /// The file is no longer where it was.
    pub missing: bool,
    /// A warning before a chat: the file cannot chat, or its chat format is a guess.
    pub note: Option<String>,
    /// Chats that choose no model use it.
    pub default: bool,
    /// A file that reads pictures belongs to it.
    pub reads_pictures: bool,
}

/// A remote endpoint. Its key and the values of its headers are never shown again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    pub id: EndpointId,
    pub name: String,
    pub dialect: EndpointDialect,
    pub url: String,
    /// The preset model, which is used if only the endpoint is chosen.
    pub model: String,
    pub context: u32,
    /// The models that it offered when they were last listed, and those that were entered by hand.
    pub models: Vec<EndpointModel>,
    /// The names of the headers that it needs besides the key.
    pub headers: Vec<String>,
    pub has_key: bool,
    /// The key is kept only until the app ends, because this machine has no keychain.
    pub key_is_for_session: bool,
    pub default: bool,
    /// The model that answers by default, if the endpoint is the default. It may differ from
    /// `model`.
    pub default_model: Option<String>,
    pub counted_with: CountedWith,
    /// Mean error of the last twenty counts, as a share of what the endpoint reported; `null` if it
    /// has reported nothing.
    pub mean_error: Option<f32>,
    /// The restrictions that were found since it was last saved.
    pub learned: Vec<Quirk>,
}

/// A restriction that the app found in an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Quirk {
    /// These parameters are not sent.
    LeavesOut { parameters: Vec<String> },
    /// No samplers are sent except those of OpenAI's own API.
    PlainSampling,
    /// The maximum length of the reply is sent as `max_completion_tokens`.
    CompletionTokens,
    /// At most four stop texts are sent.
    FewStops,
    /// It cannot continue an unfinished reply directly, but can be asked to.
    NoPrefill,
    /// One system message at the start, then the user first and both roles in turns.
    StrictRoles,
    /// The same without a system message: its text is sent as the user's.
    NoSystem,
    /// The thoughts of the model are sent back with its replies.
    ThoughtsBack,
}

/// A model of an endpoint. Its id can be chosen like that of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EndpointModel {
    pub id: String,
    pub name: String,
    /// Context size in tokens, if the endpoint says so.
    pub context: Option<u32>,
    /// Entered by hand.
    pub typed: bool,
}

/// A model as an endpoint lists it, or as it was entered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct OfferedModel {
    pub name: String,
    pub context: Option<u32>,
    pub typed: bool,
}

/// A header of every request to an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HeaderDraft {
    pub name: String,
    /// Absent keeps the stored value.
    pub value: Option<String>,
}

/// The contents of the endpoint form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDraft {
    /// Absent for a new one.
    pub id: Option<EndpointId>,
    pub name: String,
    /// Absent keeps the stored one; for a new endpoint it is guessed from the address.
    #[serde(default)]
    pub dialect: Option<EndpointDialect>,
    pub url: String,
    pub model: String,
    pub context: u32,
    /// Absent keeps the stored key; empty removes it.
    pub key: Option<String>,
    /// Absent keeps the stored headers.
    #[serde(default)]
    pub headers: Option<Vec<HeaderDraft>>,
    /// Absent keeps the stored list.
    #[serde(default)]
    pub models: Option<Vec<OfferedModel>>,
}

/// The result of *Test connection*.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EndpointTest {
    /// The models that the endpoint offers; may be empty.
    pub models: Vec<OfferedModel>,
    /// The context size of the preset model, if the endpoint says so.
    pub context: Option<u32>,
    /// The price of the preset model, if the endpoint says so.
    pub price: Option<ModelPrice>,
    /// The API that was used.
    pub dialect: EndpointDialect,
    pub took_ms: f64,
}

/// The price of a model in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    pub input: f64,
    pub output: f64,
}

/// A common service or server, to prefill the endpoint form with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EndpointService {
    pub id: String,
    pub name: String,
    pub url: String,
    #[serde(default)]
    pub dialect: EndpointDialect,
    pub key: KeyNeed,
    /// The page on which users get a key; empty if none is needed.
    pub key_url: String,
}

/// Whether a service needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum KeyNeed {
    None,
    Optional,
    Required,
}

/// The model that makes embeddings, for search by meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddingModel {
    /// `null` if there is none: searches use words only.
    pub name: Option<String>,
    /// The file that the user chose; `null` for the one that comes with the app.
    pub path: Option<String>,
    /// A model has come with the app.
    pub has_bundled: bool,
    /// The chosen file is no longer in its place.
    pub missing: bool,
    /// Texts that it has still to embed.
    pub left: u32,
}
