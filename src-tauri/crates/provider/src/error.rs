//! What can go wrong between a prompt and its reply, in our own classes. A backend's vocabulary is translated once, in
//! its own client.

use serde::{Deserialize, Serialize};

/// The classes that callers can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProviderErrorKind {
    /// Nothing listens at the address, or its name does not resolve.
    Unreachable,
    /// The endpoint did not answer in time.
    Timeout,
    /// The key is missing, wrong, or may not use this model.
    Unauthorized,
    /// The address answers, but not with this API, or it does not know the model.
    NotFound,
    /// Too many requests, or no credit left.
    RateLimited,
    /// The endpoint failed, or is overloaded.
    Server,
    /// The request was refused as malformed.
    BadRequest,
    /// The endpoint does not go on with an unfinished reply. The caller may ask for the rest in words.
    NoPrefill,
    /// The prompt is longer than the model takes.
    ContextOverflow,
    /// What came back is not what the API promises.
    Malformed,
    /// The connection ended before the reply did.
    Cut,
    /// The TLS handshake failed: a wrong certificate, or plain HTTP behind an https address.
    Tls,
    /// The model file is missing, damaged, or of a kind that the worker cannot run.
    Model,
    /// The worker process died.
    WorkerDied,
    /// The machine has no room for it.
    OutOfMemory,
}

/// A failed request: what happened and where, in words for people, and the class.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    /// What and why, naming the address or the file; never a key, never a prompt.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into(), status: None, source: None }
    }

    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
