//! The reason why a render failed.

/// The reason why a render failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The message that the template passed to `raise_exception`.
    #[error("it rejects this chat: {0}")]
    Raised(String),
    /// The template uses an absent or invalid value.
    #[error("{0}")]
    Failed(String),
    /// The template exceeds a resource limit.
    #[error("it exceeds the limit of a chat template for {0}")]
    Limit(&'static str),
}

impl RenderError {
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        // Names in a template may have any length.
        Self::Failed(what.into().chars().take(300).collect())
    }
}
