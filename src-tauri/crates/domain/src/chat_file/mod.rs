//! Chats as files: what was said, by whom, in all its versions. SillyTavern's are JSON lines, of which the first tells of
//! the chat and each other of a message; RisuAI's are one JSON; people read text and Markdown, and write talks down.
//!
//! Points in time are texts here, as the files write them.

mod other;
mod read;
mod risuai;
mod transcript;
mod versions;
mod write;

use serde_json::{Map, Value};

pub use other::{OtherChats, Recognised, recognise};
pub use read::Losses;
pub use risuai::{Greeting, RisuChat, from_risuai};
pub use transcript::Transcript;

/// What SillyTavern calls the narrator's words, and a note.
const NARRATOR: &str = "narrator";
const NOTE: &str = "comment";

/// Bytes of a file at the most: ten years of talk.
pub const MAX_FILE: usize = 64 << 20;
/// The user's years with one character.
const MAX_MESSAGES: usize = 200_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatFile {
    /// Whom the user plays.
    pub user: String,
    pub character: String,
    /// Empty where the file does not say.
    pub created: String,
    /// Unused fields of the first line, unchanged: `chat_metadata` with the author's note, variables, bookmarks and so
    /// on.
    pub header: Map<String, Value>,
    pub messages: Vec<Said>,
}

/// A message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    pub name: String,
    /// File of the picture of who says it, which tells members of a group apart; empty where it is not said.
    pub avatar: String,
    pub by: By,
    /// The user keeps it from the model, as people do with what is long past.
    pub hidden: bool,
    /// A note of the app, or of the user to themselves: nobody said it.
    pub note: bool,
    /// Never empty; the oldest first.
    pub versions: Vec<Version>,
    /// Index into `versions` of the one that is shown.
    pub selected: usize,
    /// Unused fields of the message's line, unchanged.
    pub rest: Map<String, Value>,
}

impl Said {
    /// The version that is shown.
    ///
    /// # Panics
    /// If there is none, which is never read.
    pub fn shown(&self) -> &Version {
        &self.versions[self.selected.min(self.versions.len() - 1)]
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    User,
    #[default]
    Character,
    Narrator,
}

/// One of the texts of a message. What is not known is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    pub text: String,
    /// What a reasoning model said to itself.
    pub thoughts: String,
    pub sent: String,
    /// Name of the model that wrote it.
    pub model: String,
    /// Unused fields of the version, unchanged: generation times, and `extra` with pictures, translations and so on.
    pub rest: Map<String, Value>,
}

/// Why a file is no chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatFileError {
    #[error("the file has {bytes} bytes; a chat may have {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the file is not UTF-8: byte {offset} cannot be read")]
    NotUtf8 { offset: usize },
    #[error("this is no chat of SillyTavern's: its lines hold no messages")]
    NoChat,
    #[error("this chat is empty: the file has no messages")]
    Empty,
    #[error("this text is no talk: its lines do not begin with the names of at least two, as in \"Mira: Come in.\"")]
    NoTalk,
    #[error("the chat has more than {limit} messages")]
    TooManyMessages { limit: usize },
    #[error("the messages of the chat have more than {limit} versions together")]
    TooManyVersions { limit: usize },
}
