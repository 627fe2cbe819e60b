//! Models on this machine: reading GGUF headers, the library's estimates, and the worker processes that make replies,
//! as one more [`provider::Provider`].
//!
//! Promises
//! - A file is checked here, in Rust, before a worker sees it; the error says what is wrong with which file.
//! - A worker's death is an ordinary event: the running reply ends with [`ProviderErrorKind::WorkerDied`], the next
//!   request starts a new worker. No worker outlives its [`LocalHost`].
//! - One reply at a time; the others wait in order and say so.
//! - A cancelled reply ends within 300 ms, whatever the worker does.
//! - Tokens are counted in this process only where that was found to agree with the worker; else the worker counts.
//! - What was read of a chat is kept on disk, within a budget, and meets no other model or context size; a damaged file
//!   costs time, never a reply.
//!
//! Absent: llama.cpp (it lives in the worker), chat templates, downloads, the list of models (`store` keeps it).
//!
//! [`ProviderErrorKind::WorkerDied`]: provider::ProviderErrorKind::WorkerDied

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod actor;
mod counting;
mod embedding;
mod failure;
pub mod gguf;
mod health;
mod host;
pub mod library;
mod process;
mod saved;
mod settings;
mod status;
pub mod tokenizer;

pub use counting::{CountedBy, REVISION as COUNTING_REVISION};
pub use embedding::Embedding;
pub use gguf::{GgufError, Header};
pub use host::{LocalHost, LocalProvider};
pub use library::{Fit, Inspected, ModelError, inspect};
pub use settings::{Policy, Settings};
pub use status::{State, Status};
pub use tokenizer::Tokenizer;
