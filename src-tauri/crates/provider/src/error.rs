//! Error classes of a failed request. Each client maps its backend's errors to them.

use serde::{Deserialize, Serialize};

/// Error classes that callers distinguish.
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
    /// The service's content filter refused the request or ended the reply.
    Filtered,
    /// The endpoint cannot continue an unfinished reply. The caller may ask for the rest in a new
    /// message.
    NoPrefill,
    /// The prompt is longer than the model's context.
    ContextOverflow,
    /// The response does not follow the API.
    Malformed,
    /// The connection ended before the reply did.
    Cut,
    /// The TLS handshake failed: a wrong certificate, or plain HTTP behind an https address.
    Tls,
    /// The model file is missing, damaged, or of a kind that the worker cannot run.
    Model,
    /// The worker process died.
    WorkerDied,
    /// The machine has not enough memory for the model.
    OutOfMemory,
}

/// A failed request: its class, and texts for the user.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    pub kind: ProviderErrorKind,
    /// Says what happened and why, with the address or the file. Contains neither a key nor a
    /// prompt.
    pub message: String,
    /// Says what the user can do about it.
    pub hint: String,
    /// HTTP status, if there was one.
    pub status: Option<u16>,
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    pub fn new(
        kind: ProviderErrorKind,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
            status: None,
            source: None,
        }
    }

    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}
