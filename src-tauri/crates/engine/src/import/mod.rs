//! Imports files and folders of this app and of others. Each kind has a room of its own; rooms use
//! those below them.

pub(crate) mod chats;
pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod handle;
pub(crate) mod prompts;
pub(crate) mod reports;
pub(crate) mod sillytavern;
