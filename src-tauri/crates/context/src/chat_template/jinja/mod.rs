//! Jinja for chat templates, within limits.
//!
//! Chat templates come with model files and are as hostile as those. The general engines bound neither the memory that a
//! template takes nor the depth of their own parsers (texts that double, constants folded at parse time, long chains of
//! operators), and say that this is not theirs to do. So this one knows just what chat templates use, with Python's
//! meaning, and holds everything against an account: see [`meter`].
//!
//! What is left out ends in an error that names it: imports and inheritance, `call` blocks, recursive loops, filters and
//! methods that no chat template needs.

mod args;
mod ast;
mod eval;
mod exec;
mod expression;
mod filters;
mod format;
mod lex;
mod meter;
mod methods;
mod ops;
mod parse;
mod print;
mod printf;
mod sequences;
mod tests_of_values;
mod value;

pub(crate) use self::exec::{Input, Program};
pub use self::parse::SyntaxError;

/// Why a render ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The template's own words, by `raise_exception`.
    #[error("it refuses this chat: {0}")]
    Raised(String),
    /// The template asks for something that is not there, or makes no sense.
    #[error("{0}")]
    Failed(String),
    /// The template costs more than a chat template may.
    #[error("it takes more {0} than a chat template may")]
    Limit(&'static str),
}

impl Fault {
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        // A template may have names of any length.
        Self::Failed(what.into().chars().take(300).collect())
    }
}

#[cfg(test)]
mod tests;
