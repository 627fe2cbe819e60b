//! Servers that offer tools (Model Context Protocol): list, changes, permissions, calls.
//!
//! A server starts only after the user has switched it on, or for a test that the user asks for.
//! Nothing that a card, a message or a tool contains reaches these functions.

mod added;
mod calls;
mod grants;
mod list;
mod running;
mod source;
mod values;
mod view;

pub use calls::OfferedServerTool;
pub(crate) use running::RunningServers;
