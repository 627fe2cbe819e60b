//! Data that the user owns: characters, chats, lorebooks, personas, documents, memories, trash and
//! backups. Each feature has a room of its own; rooms use those below them.

pub(crate) mod assets;
pub(crate) mod backgrounds;
pub(crate) mod backups;
pub(crate) mod characters;
pub(crate) mod chat_lookup;
pub(crate) mod chats;
pub(crate) mod data_warnings;
pub(crate) mod documents;
pub(crate) mod drafts;
pub(crate) mod exports;
pub(crate) mod folders;
pub(crate) mod forgetting;
pub(crate) mod groups;
pub(crate) mod handle;
pub(crate) mod lorebooks;
pub(crate) mod memories;
pub(crate) mod personas;
pub(crate) mod private_characters;
pub(crate) mod prompt_retention;
pub(crate) mod quick_replies;
pub(crate) mod scripts;
pub(crate) mod snapshots;
pub(crate) mod stale_caches;
pub(crate) mod trash;
pub(crate) mod updates;
mod welcome;
