//! What answers a prompt: the [`Provider`] port, its events and typed errors, a scripted fake, and the client for
//! OpenAI-compatible endpoints. The local worker is one more provider, in the crate `local`. Model files that the user asks
//! for are fetched here too, for this crate has the HTTP client.
//!
//! Promises
//! - Events are data: text of a model is never mistaken for an event (S1.6).
//! - A stream ends with exactly one `Finished` or one error; what was streamed before an error is the caller's to keep.
//! - A request is retried at most twice, and never after its first token.
//!
//! Absent: prompt building, storage, settings.

pub mod calibration;
pub mod conformance;
pub mod download;
mod encoding;
mod error;
pub mod fake;
pub mod openai;
pub mod tls;
mod tokenizer_json;

use domain::ToolCall;
use domain::prompt::Prompt;
use domain::sampling::Sampling;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

pub use calibration::Calibration;
pub use encoding::Encoding;
pub use error::{ProviderError, ProviderErrorKind};
pub use fake::{FakeProvider, Gate, Script};
pub use openai::{Dialect, EndpointConfig, OpenAiClient, Patience, Probe, Roles, probe};
/// A secret that neither `Debug` nor serde shows, wiped when it is dropped.
pub use secrecy::SecretString;
pub use tokenizer_json::{TokenizerJson, TokenizerJsonError};

/// What a provider is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Whose cache this continues: the chat's id. Two requests with one key share a prefix.
    pub cache_key: String,
    pub prompt: Prompt,
    pub sampling: Sampling,
    /// What the answer looks like; `None` for words.
    pub shape: Option<Shape>,
}

/// The form of an answer that a program reads, said twice: models on this machine follow the grammar, endpoints that can the
/// schema. An endpoint that cannot is held to nothing, so whoever asks reads the answer with care.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// GBNF, with a rule `root`.
    pub grammar: String,
    /// JSON Schema of an object.
    pub schema: serde_json::Value,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinishReason {
    /// The model ended its turn, or a stop sequence did.
    Stop,
    /// `max_tokens` was reached.
    Length,
    /// The caller cancelled.
    Cancelled,
}

/// Token counts of a finished request. `None` where an endpoint does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the whole prompt.
    pub prompt: Option<u32>,
    /// Of those, taken from the cache of an earlier request.
    pub reused: Option<u32>,
    /// Of those, read anew: `prompt - reused`.
    pub evaluated: Option<u32>,
    pub generated: Option<u32>,
}

/// Milliseconds spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// Reading the prompt.
    pub prefill_ms: f64,
    /// Writing the reply.
    pub decode_ms: f64,
    /// From the request to the first text.
    pub first_text_ms: f64,
}

/// What happens while a reply is made, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum GenerationEvent {
    /// Another request holds the model; this one waits.
    Queued,
    /// The model is being loaded; 0 to 1.
    Loading { fraction: f32 },
    /// `done` of `total` prompt tokens are read; the first `reused` came from the cache.
    Prefill { done: u32, total: u32, reused: u32 },
    /// A piece of the reply, always whole characters.
    Text(String),
    /// The model asks for a tool. Comes whole, once all text has come; nobody runs anything.
    ToolCall(ToolCall),
    /// The request failed before its first token and is sent again after `after_ms`.
    Retrying { attempt: u32, after_ms: u64, why: String },
    /// Nothing has arrived for `seconds`; the request goes on.
    Stalled { seconds: u32 },
    /// The last event.
    Finished { reason: FinishReason, usage: Usage, timings: Timings },
}

/// The stream of one reply.
pub type EventStream = BoxStream<'static, Result<GenerationEvent, ProviderError>>;

/// Something that answers prompts.
pub trait Provider: Send + Sync {
    /// Starts a reply. Cancelling stops it with `Finished { reason: Cancelled, .. }`; dropping the stream stops it too.
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream;
}
