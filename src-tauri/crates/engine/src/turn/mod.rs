//! Turns: from the user's message to the stored reply. Each step has a room of its own; rooms use
//! those below them.

pub(crate) mod assembly;
pub(crate) mod client;
pub(crate) mod commands;
pub(crate) mod edits;
pub(crate) mod handle;
pub(crate) mod inputs;
pub(crate) mod lore;
pub(crate) mod previews;
pub(crate) mod replies;
pub(crate) mod sending;
pub(crate) mod slash;
pub(crate) mod tools;
