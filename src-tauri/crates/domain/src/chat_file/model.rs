//! Chats, messages and versions as files hold them.

use serde_json::{Map, Value};

/// SillyTavern's `extra.type` of a narrator's message and of a note.
pub(super) const NARRATOR: &str = "narrator";

pub(super) const NOTE: &str = "comment";

/// Field in `extra` of this app, and its value for an event.
pub(super) const OWN: &str = "inglenook";

pub(super) const EVENT: &str = "event";

/// Maximum size of a file, in bytes.
pub const MAX_FILE: usize = 64 << 20;

/// Maximum number of messages per file.
pub(super) const MAX_MESSAGES: usize = 200_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatFile {
    /// Name of the user's persona.
    pub user: String,
    pub character: String,
    /// Empty if the file does not state it.
    pub created: String,
    /// Unused fields of the first line, unchanged, such as `chat_metadata` with the author's note,
    /// variables and bookmarks.
    pub header: Map<String, Value>,
    pub messages: Vec<ChatFileMessage>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatFileMessage {
    pub name: String,
    /// Picture file of the speaker, which identifies members of a group. Empty if unknown.
    pub avatar: String,
    pub by: ChatFileAuthor,
    /// The user excluded the message from prompts.
    pub hidden: bool,
    /// A note of the app or the user, not part of the conversation.
    pub note: bool,
    /// An event of this app. Other apps show it as a note.
    pub event: bool,
    /// Names of picture files that come with the chat, or `data:` URIs.
    pub pictures: Vec<String>,
    /// Never empty; oldest first.
    pub versions: Vec<MessageVersion>,
    /// Index into `versions` of the shown one.
    pub selected: usize,
    /// Unused fields of the message's line, unchanged.
    pub unused_fields: Map<String, Value>,
}

impl ChatFileMessage {
    /// Returns the shown version.
    ///
    /// # Panics
    /// If there is no version, which the readers never produce.
    pub fn shown(&self) -> &MessageVersion {
        &self.versions[self.selected.min(self.versions.len() - 1)]
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChatFileAuthor {
    User,
    #[default]
    Character,
    Narrator,
}

/// One of the alternative texts of a message. Unknown values are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageVersion {
    pub text: String,
    /// Reasoning text of the model.
    pub thoughts: String,
    pub date: String,
    /// Name of the model that wrote it.
    pub model: String,
    /// Unused fields of the version, unchanged: generation times, and `extra` with pictures,
    /// translations and so on.
    pub unused_fields: Map<String, Value>,
}

/// Why a file could not be read as a chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatFileError {
    #[error("the file has {bytes} bytes, and the limit for a chat is {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the file is not UTF-8 text (invalid byte at {offset}); save it as UTF-8")]
    NotUtf8 { offset: usize },
    #[error("this is not a SillyTavern chat: its lines contain no messages")]
    NoChat,
    #[error("this chat is empty: the file has no messages")]
    Empty,
    #[error(
        "this text is not a chat. Each line should start with a name, as in \"Mira: Come in.\""
    )]
    NoTalk,
    #[error("the chat has more than {limit} messages; split the file")]
    TooManyMessages { limit: usize },
    #[error("the chat has more than {limit} message versions (swipes); split the file")]
    TooManyVersions { limit: usize },
}
