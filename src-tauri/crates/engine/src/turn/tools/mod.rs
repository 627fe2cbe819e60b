//! Tools that a model calls while it writes a reply.
//!
//! [`offered`] lists the tools of a turn. [`round`] runs the calls of one request; `generation.rs`
//! then calls the model again. [`permission`] decides whether a tool may run: the user does, never
//! a card, a message or a result.

mod argument_texts;
pub(crate) mod built_in;
pub(crate) mod call_ids;
mod cut_result;
pub(crate) mod grants;
pub(crate) mod offered;
pub(crate) mod open_requests;
pub(crate) mod permission;
pub(crate) mod progress;
pub(crate) mod round;
pub(crate) mod turn_tools;
