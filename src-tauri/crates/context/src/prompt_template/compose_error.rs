//! Errors of composing a prompt from a template.

use crate::prompt_template::graph::Cycle;
use crate::prompt_template::text::Malformed;

/// The prompt could not be composed; no partial prompt is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    #[error("section `{section}`: {source}")]
    Section {
        section: String,
        source: Box<ComposeError>,
    },
    #[error("there is no variable `${{{name}}}`; correct or remove it")]
    UnknownVariable { name: String },
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Cycle(#[from] Cycle),
    #[error("the text is longer than {most} bytes; use fewer or shorter variables")]
    TooLong { most: usize },
    #[error("section `{section}` is required, but its condition `{condition}` is false")]
    RequiredLeftOut { section: String, condition: String },
}

/// Maximum size of a composed prompt in bytes.
pub const MAX_COMPOSED: usize = 8 << 20;
