//! The items that a user collects and manages: characters, cards, personas, lorebooks, documents,
//! groups, folders, assets and the trash.
//!
//! Guarantees
//! - Deleted characters and lorebooks can be restored until a purge.
//! - An asset with a reference is never purged.
//! - A group outlives the deletion of any of its characters.

pub(crate) mod asset;
mod bound_persona;
mod card_file;
mod card_version;
mod character;
mod document;
mod favourite;
pub(crate) mod folder;
mod group;
mod item_search;
pub(crate) mod lead;
pub(crate) mod listing;
pub(crate) mod lorebook;
mod persona;
mod private_character;
mod quick_reply;
mod source;
mod trash;

pub use asset::Asset;
pub use card_file::CardFile;
pub use card_version::CardVersion;
pub use character::{Character, ListedCharacter};
pub use document::FoundPassage;
pub use folder::{Folder, FolderContents, FolderKind, Place};
pub use item_search::{FoundItem, ItemKind, ItemPlace};
pub use listing::{CharacterListItem, Listing};
pub use lorebook::{BoundLorebook, ChatParticipants, Lorebook};
pub use quick_reply::QuickReplyOwner;
pub use trash::{TrashId, Trashed};
