//! Replies for programs that use the local API.
//!
//! A request belongs to one of three kinds. It joins a stored chat (`in_chat`), it brings its
//! conversation along (`given`), or it names a model without a character (`raw`). The first two use
//! the same prompt assembly as every other turn.

pub(crate) mod caches;
pub(crate) mod calls;
pub(crate) mod given;
pub(crate) mod in_chat;
pub(crate) mod options;
pub(crate) mod past;
pub(crate) mod queue;
pub(crate) mod raw;
mod raw_prompt;
pub(crate) mod reply;
pub(crate) mod reports;
pub(crate) mod rights;
pub(crate) mod schema;
pub(crate) mod stream;
pub(crate) mod target;
