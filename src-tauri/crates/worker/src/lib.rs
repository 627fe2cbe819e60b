//! Frame protocol between `local` and `inglenook-worker`.
//!
//! Guarantees
//! - A frame has at most [`frame::LIMIT`] bytes. A longer, truncated or malformed one is a typed
//!   error, never a panic.
//! - [`WorkerReply::Ready`] is the first frame of a worker and contains the protocol version.
//! - Each [`WorkerRequest::Generate`] is answered by exactly one [`WorkerReply::Done`] or
//!   [`WorkerReply::Error`] with its id.
//! - A saved cache is used only if it is complete and was saved for the same model and chat.
//! - Keys of caches travel only in a [`protocol::Load`] frame, and [`Debug`](std::fmt::Debug) does
//!   not show them.
//!
//! Not in this crate's library: llama.cpp (only the binary uses it), processes, async.

pub mod frame;
pub mod protocol;
pub mod saved;
pub mod token_rules;

pub use frame::FrameError;
pub use protocol::{WorkerReply, WorkerRequest};
