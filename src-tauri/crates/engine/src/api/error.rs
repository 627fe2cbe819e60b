use provider::ProviderErrorKind;
use serde::{Deserialize, Serialize};
use specta::Type;

use super::Origin;

/// What the UI can tell apart. A variant exists only where the UI acts on it; `message` says what and why, `hint` what to
/// do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type, thiserror::Error)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ApiError {
    /// What must stay does not fit into the model's context (S0.9, S2.30). Figures are tokens.
    #[error("{message}")]
    ContextOverflow {
        message: String,
        hint: String,
        /// The largest of what must stay; `null` if the context takes no text at all.
        block: Option<Box<LargeBlock>>,
        missing: u32,
        /// With room for the reply.
        needed: u32,
        available: u32,
    },
    /// The model or endpoint could not answer.
    #[error("{message}")]
    Provider { message: String, hint: String, class: ProviderClass },
    /// No model is set up, so nothing can answer.
    #[error("{message}")]
    NoModel { message: String, hint: String },
    /// A file or a field was refused.
    #[error("{message}")]
    BadInput { message: String, hint: String },
    /// The thing is not there (any more).
    #[error("{message}")]
    NotFound { message: String },
    /// Something else is going on that must end first, such as a reply in this chat.
    #[error("{message}")]
    Busy { message: String, hint: String },
    /// The disk or the database refused.
    #[error("{message}")]
    Storage { message: String, hint: String },
    /// The operating system's keychain refused or is absent.
    #[error("{message}")]
    Keychain { message: String, hint: String },
    /// A defect of ours; the log has the cause chain.
    #[error("{message}")]
    Internal { message: String },
}

/// What takes most of a prompt that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LargeBlock {
    /// As in [`PromptBlock`](super::PromptBlock).
    pub kind: String,
    /// In words.
    pub source: String,
    /// Where it can be shortened.
    pub origin: Origin,
    pub tokens: u32,
}

/// Classes of a provider's failure, as the UI shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ProviderClass {
    Unreachable,
    Timeout,
    Unauthorized,
    NotFound,
    RateLimited,
    Server,
    BadRequest,
    ContextOverflow,
    Malformed,
    Cut,
    Tls,
    Model,
    WorkerDied,
    OutOfMemory,
}

impl From<ProviderErrorKind> for ProviderClass {
    fn from(kind: ProviderErrorKind) -> Self {
        match kind {
            ProviderErrorKind::Unreachable => Self::Unreachable,
            ProviderErrorKind::Timeout => Self::Timeout,
            ProviderErrorKind::Unauthorized => Self::Unauthorized,
            ProviderErrorKind::NotFound => Self::NotFound,
            ProviderErrorKind::RateLimited => Self::RateLimited,
            ProviderErrorKind::Server => Self::Server,
            ProviderErrorKind::BadRequest | ProviderErrorKind::NoPrefill => Self::BadRequest,
            ProviderErrorKind::ContextOverflow => Self::ContextOverflow,
            ProviderErrorKind::Malformed => Self::Malformed,
            ProviderErrorKind::Cut => Self::Cut,
            ProviderErrorKind::Tls => Self::Tls,
            ProviderErrorKind::Model => Self::Model,
            ProviderErrorKind::WorkerDied => Self::WorkerDied,
            ProviderErrorKind::OutOfMemory => Self::OutOfMemory,
        }
    }
}
