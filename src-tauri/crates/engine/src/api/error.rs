//! The error of every operation.

use provider::ProviderErrorKind;
use serde::{Deserialize, Serialize};
use specta::Type;

use super::{Origin, SourceLabel};

/// An error that the UI can tell apart. A variant exists only if the UI acts on it. `message` says
/// what happened and why, `hint` says what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type, thiserror::Error)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ApiError {
    /// The mandatory blocks do not fit into the model's context. All numbers are tokens.
    #[error("{message}")]
    ContextOverflow {
        message: String,
        hint: String,
        /// The largest mandatory block; `null` if the context holds no text at all.
        block: Option<Box<LargeBlock>>,
        missing: u32,
        /// Includes the room for the reply.
        needed: u32,
        available: u32,
    },
    /// The model or endpoint could not answer.
    #[error("{message}")]
    Provider {
        message: String,
        hint: String,
        class: ProviderClass,
    },
    /// No model is set up, so nothing can answer.
    #[error("{message}")]
    NoModel { message: String, hint: String },
    /// A file or a field was refused.
    #[error("{message}")]
    BadInput { message: String, hint: String },
    /// It does not exist, or no longer exists.
    #[error("{message}")]
    NotFound { message: String },
    /// The prompt of a past turn was not kept, because the settings say so.
    #[error("{message}")]
    PromptNotKept { message: String, hint: String },
    /// Something else must end first, such as a reply in this chat.
    #[error("{message}")]
    Busy { message: String, hint: String },
    /// The disk or the database failed.
    #[error("{message}")]
    Storage { message: String, hint: String },
    /// The operating system's keychain failed or is missing.
    #[error("{message}")]
    Keychain { message: String, hint: String },
    /// A tool server could not be started, reached or used.
    #[error("{message}")]
    ToolServer { message: String, hint: String },
    /// A bug in this program; the log has the chain of causes.
    #[error("{message}")]
    Internal { message: String },
}

/// The largest block of a prompt that is too long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LargeBlock {
    /// As in [`PromptBlock`](super::PromptBlock).
    pub kind: String,
    /// Its source, as a text in English.
    pub source: String,
    /// The same as a code with values.
    #[serde(default)]
    pub label: Option<SourceLabel>,
    /// The place where the user can shorten it.
    pub origin: Origin,
    pub tokens: u32,
}

/// The classes of provider failures, as the UI shows them.
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
    Filtered,
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
            ProviderErrorKind::Filtered => Self::Filtered,
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
