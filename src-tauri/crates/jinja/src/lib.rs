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
mod error;
mod eval;
mod exec;
mod expression;
mod field;
mod functions;
mod lex;
mod meter;
mod ops;
mod parse;
mod print;
mod steppers;
#[cfg(test)]
mod tests;
mod tools;
mod value;

pub use self::error::RenderError;
pub use self::exec::{Input, Program};
pub use self::parse::SyntaxError;
pub use self::tools::{ToolCallInput, ToolDefinitionInput, ToolInput};
