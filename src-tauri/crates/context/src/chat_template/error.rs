//! Errors of chat templates.

use jinja::{RenderError, SyntaxError};

/// The reason why a template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("the model's chat template is longer than {} KiB", LONGEST_SOURCE >> 10)]
    SourceTooLong,
    #[error("the model's chat template does not parse: {0}")]
    Syntax(#[from] SyntaxError),
    #[error("the model's chat template failed: {0}")]
    Render(#[from] RenderError),
    #[error("the model's chat template dropped, duplicated or changed a message")]
    Contents,
    #[error("the chat has more messages than a prompt can hold")]
    TooLong,
}

impl TemplateError {
    pub(super) fn is_costly(&self) -> bool {
        matches!(self, Self::Render(RenderError::Limit(_)))
    }
}

/// Maximum length of a source in bytes. Real templates have a few thousand.
pub(super) const LONGEST_SOURCE: usize = 256 << 10;
