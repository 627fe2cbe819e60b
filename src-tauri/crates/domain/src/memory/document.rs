//! Documents that users attach to a chat, a character or a lorebook, and the passages that search
//! finds in them.

use crate::{CharacterId, ChatId, DocumentId, LorebookId, Timestamp};

/// Maximum size of a passage, in bytes. This is about 200 tokens, so a small share of a small
/// context holds one.
pub const MAX_PASSAGE: usize = 800;

/// The object that a document is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentOwner {
    Chat(ChatId),
    /// Applies to all chats of the character.
    Character(CharacterId),
    /// Applies wherever the lorebook applies.
    Lorebook(LorebookId),
}

/// A text attached to a chat, a character or a lorebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: DocumentId,
    pub owner: DocumentOwner,
    /// File name. Citations use it.
    pub name: String,
    /// Size of the file.
    pub bytes: u64,
    pub created: Timestamp,
}

/// A part of a document that is readable on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The heading above it; empty if there is none.
    pub heading: String,
    /// At most [`MAX_PASSAGE`] bytes, never empty.
    pub text: String,
}
