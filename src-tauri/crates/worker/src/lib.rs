//! The inference worker's frame protocol: what `local` says to `inglenook-worker`, and what comes back.
//!
//! Promises
//! - A frame is at most [`frame::LIMIT`] bytes; a longer, cut or malformed one is a typed error, never a panic.
//! - [`Reply::Ready`] is the first frame of a worker and names the protocol's version.
//! - Every [`Request::Generate`] is answered by exactly one [`Reply::Done`] or one [`Reply::Error`] with its id.
//! - A saved cache is taken up only whole, and only in the place that it was saved in.
//!
//! Absent: llama.cpp (only the binary of this package knows it), processes, async.

pub mod frame;
pub mod protocol;
pub mod saved;

pub use frame::FrameError;
pub use protocol::{Reply, Request};
