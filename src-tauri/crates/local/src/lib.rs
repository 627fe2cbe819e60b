//! Local models: GGUF headers, estimates of memory and speed, and the supervisor of the worker
//! processes, which implements [`provider::Provider`].
//!
//! Guarantees
//! - A file is checked in Rust before a worker opens it. The error names the file and the fault.
//! - After a worker's death the running reply ends with [`ProviderErrorKind::WorkerDied`], and the
//!   next request starts a new worker. No worker outlives its [`LocalHost`].
//! - Only one reply runs at a time, over all models. The others are queued and report it.
//! - A graphics device that fails costs a model its place there, not the reply: the processor takes
//!   over, and says why.
//! - A cancelled reply ends within 300 ms, even if the worker does not react.
//! - This process counts tokens only if its tokenizer agrees with the worker; otherwise the worker
//!   counts.
//! - KV caches of chats are saved to disk within a budget, separately per model and context size. A
//!   damaged file costs time, never a reply. With [`WorkerSettings::cache_keys`] they are encrypted.
//!
//! Not in this crate: llama.cpp (in `worker`), tokenizers (in `tokenizer`), chat templates,
//! downloads, the list of models (in `store`).
//!
//! [`ProviderErrorKind::WorkerDied`]: provider::ProviderErrorKind::WorkerDied

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod actor;
mod adapters;
mod core_dumps;
mod counting;
mod crash_history;
mod devices;
mod embedding;
mod failure;
pub mod gguf;
mod gpu_fit;
mod host;
mod last_output;
pub mod library;
mod load;
mod pictures;
mod pool;
mod process;
mod projectors;
mod saved;
mod settings;
pub mod speed;
mod status;
mod token_rules;

pub use adapters::{AdapterFault, check_adapter};
pub use core_dumps::disable_core_dumps;
pub use counting::{CountingMethod, REVISION as COUNTING_REVISION};
pub use devices::{Devices, is_graphics};
pub use failure::GRAMMAR_HINT;
pub use gguf::{GgufError, GgufHeader, open_tokenizer};
pub use gpu_fit::{GraphicsFit, graphics_fit, graphics_memory, graphics_share};
pub use host::{LocalHost, LocalProvider};
pub use library::{Fit, Inspected, ModelError, inspect};
pub use load::{LoadNote, LoadOptions, LoadReason};
pub use pictures::picture_size;
pub use pool::ModelLimits;
pub use projectors::{paired_projector, suits};
pub use settings::{Policy, WorkerSettings};
pub use status::{LoadedModel, UsedDevice, WorkerState, WorkerStatus};
pub use tokenizer::Tokenizer;
pub use worker::protocol::{Adapter, CacheType, Device, DeviceKind, FlashAttention};
pub use worker::saved::CacheKeys;
