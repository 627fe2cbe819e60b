//! The [`Provider`] port: requests, events and typed errors. Also a scripted fake, the client for
//! remote endpoints, the client for model hubs, and the downloader of model files. The crate
//! `local` implements the port for local models.
//!
//! Guarantees
//! - Text from a model is never mistaken for an event, because events are typed values.
//! - A stream ends with exactly one `Finished` or one error. The caller may keep the text that came
//!   before an error.
//! - A request is retried at most twice, and never after its first token.
//!
//! Not in this crate: prompt building, storage, settings.

mod anthropic;
pub mod calibration;
pub mod conformance;
pub mod download;
pub mod endpoint;
mod error;
pub mod fake;
mod gemini;
pub mod hub;
mod ollama;
mod openai;
mod text_completion;
pub mod tls;
mod tokenizer_json;

use std::borrow::Cow;

use domain::prompt::Prompt;
use domain::sampling::Sampling;
use domain::token_choice::TokenChoice;
use domain::{SignedThought, ToolCall};
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

pub use calibration::Calibration;
pub use endpoint::{
    EndpointClient, EndpointConfig, EndpointProbe, LearnedDialect, ModelPrice, RoleRules, Timeouts,
    guess_dialect, probe,
};
pub use error::{ProviderError, ProviderErrorKind};
pub use fake::{FakeProvider, ReplyGate, ReplyScript};
/// A secret that `Debug` and serde never show. It is wiped from memory when dropped.
pub use secrecy::SecretString;
/// Counts the tokens of models whose encoding is published.
pub use tokenizer::Encoding;
pub use tokenizer_json::{TokenizerJson, TokenizerJsonError};

/// One generation request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Cache to continue: the chat's id. Requests with the same key share a prefix.
    pub cache_key: String,
    /// A helper job, which must not evict the chat from the cache of a local model.
    pub background: bool,
    pub prompt: Prompt,
    pub sampling: Sampling,
    /// Required form of the reply; `None` for free text.
    pub response_schema: Option<ResponseSchema>,
}

impl Request {
    /// The schema of the request, else that of the user.
    pub(crate) fn schema(&self) -> Option<Cow<'_, serde_json::Value>> {
        match (&self.response_schema, &self.sampling.rules.json_schema) {
            (Some(shape), _) => Some(Cow::Borrowed(&shape.schema)),
            (None, Some(schema)) => serde_json::from_str(schema).ok().map(Cow::Owned),
            (None, None) => None,
        }
    }
}

/// Form of a machine-readable reply. Local models apply the grammar, endpoints the schema if they
/// support it. An endpoint may ignore it, so the caller must validate the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSchema {
    /// GBNF, with a rule `root`.
    pub grammar: String,
    /// JSON Schema of an object.
    pub schema: serde_json::Value,
}

/// Why the reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinishReason {
    /// The model ended its turn, or a stop text matched.
    Stop,
    /// `max_tokens` was reached.
    Length,
    /// The caller cancelled.
    Cancelled,
}

/// Token counts of a finished request. `None` if the endpoint does not report a count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the whole prompt.
    pub prompt: Option<u32>,
    /// Prompt tokens reused from the cache of an earlier request.
    pub reused: Option<u32>,
    /// Prompt tokens that were processed: `prompt - reused`.
    pub evaluated: Option<u32>,
    pub generated: Option<u32>,
}

/// Durations in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// Prompt processing.
    pub prefill_ms: f64,
    /// Text generation.
    pub decode_ms: f64,
    /// From the request to the first text.
    pub first_text_ms: f64,
}

/// Events of one reply, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum GenerationEvent {
    /// The model is busy with another request.
    Queued,
    /// The model is loading; 0 to 1.
    Loading { fraction: f32 },
    /// `done` of `total` prompt tokens are processed; the first `reused` came from the cache.
    Prefill { done: u32, total: u32, reused: u32 },
    /// A piece of the reply, of one or more tokens; it never splits a character.
    Text(String),
    /// A piece of the model's thoughts, which are no part of the reply. Some services send them
    /// apart from the text.
    Thoughts(String),
    /// A thought that the service demands back with the results of the calls. Sent before the
    /// calls.
    SignedThought(SignedThought),
    /// The probabilities of the tokens of the text so far, if the request wants them. Only local
    /// models report them.
    Choices(Vec<TokenChoice>),
    /// A complete tool call, sent after all text. The provider never runs it.
    ToolCall(ToolCall),
    /// The request failed before its first token and will be sent again after `after_ms`.
    Retrying {
        attempt: u32,
        after_ms: u64,
        why: String,
    },
    /// Nothing has arrived for `seconds`; the request continues.
    Stalled { seconds: u32 },
    /// The last event.
    Finished {
        reason: FinishReason,
        usage: Usage,
        timings: Timings,
    },
}

/// Events of one reply.
pub type EventStream = BoxStream<'static, Result<GenerationEvent, ProviderError>>;

/// A model backend that generates replies.
pub trait Provider: Send + Sync {
    /// Starts a reply. Cancelling ends it with `Finished { reason: Cancelled, .. }`. Dropping the
    /// stream also stops it.
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream;
}
