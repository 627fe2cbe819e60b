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
mod event;
pub mod fake;
mod gemini;
pub mod hub;
mod ollama;
mod openai;
mod port;
mod request;
mod text_completion;
pub mod tls;
mod tokenizer_json;

pub use calibration::Calibration;
pub use endpoint::{
    EndpointClient, EndpointConfig, EndpointProbe, LearnedDialect, ModelPrice, RoleRules, Timeouts,
    guess_dialect, probe,
};
pub use error::{ProviderError, ProviderErrorKind};
pub use event::{FinishReason, GenerationEvent, Timings, Usage};
pub use fake::{FakeProvider, ReplyGate, ReplyScript};
pub use port::{EventStream, Provider};
pub use request::{Request, ResponseSchema};
/// A secret that `Debug` and serde never show. It is wiped from memory when dropped.
pub use secrecy::SecretString;
/// Counts the tokens of models whose encoding is published.
pub use tokenizer::Encoding;
pub use tokenizer_json::{TokenizerJson, TokenizerJsonError};
