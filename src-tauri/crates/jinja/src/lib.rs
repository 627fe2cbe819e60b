//! A Jinja interpreter for chat templates, with resource limits.
//!
//! Chat templates come with model files and may be hostile. General Jinja engines limit neither the
//! memory of a template nor the depth of their own parsers (doubling texts, constant folding, long
//! operator chains). This interpreter supports only the features that chat templates use, with
//! Python semantics, and limits all resources: see [`meter`].
//!
//! Unsupported features fail with an error that names them: imports, inheritance, `call` blocks,
//! recursive loops, and filters and methods that no chat template needs.

mod ast;
mod braces;
mod eval;
mod exec;
mod expression;
mod functions;
mod lex;
mod meter;
mod ops;
mod parse;
mod print;
mod steppers;
mod tools;
mod value;

pub use self::exec::{Input, Program};
pub use self::parse::SyntaxError;
pub use self::tools::{ToolCallInput, ToolDefinitionInput, ToolInput};

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

#[cfg(test)]
mod tests;
