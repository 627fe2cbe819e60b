//! Imports files and folders of this app and of others.

pub(crate) mod any_file;
pub(crate) mod assistants;
pub(crate) mod backyard;
pub(crate) mod bundle;
pub(crate) mod card_notes;
pub(crate) mod cards;
pub(crate) mod chat_losses;
pub(crate) mod chat_titles;
pub(crate) mod chats;
pub(crate) mod group_files;
pub(crate) mod handle;
pub(crate) mod known_files;
pub(crate) mod lorebooks;
pub(crate) mod new_chat;
pub(crate) mod presets;
pub(crate) mod progress;
pub(crate) mod reports;
pub(crate) mod sillytavern;
pub(crate) mod talks;
