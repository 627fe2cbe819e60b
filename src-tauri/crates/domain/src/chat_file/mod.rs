//! Imports and exports chat files with all versions of each message: JSON lines of SillyTavern.
//! JSON of RisuAI and others, and transcripts, are only imported. [`crate::readable_chat`] writes
//! documents for people.
//!
//! In SillyTavern's files the first line describes the chat and each other line is a message.
//! Dates are strings, exactly as the file contains them.

mod assistants;
mod model;
mod other;
mod read;
mod risuai;
mod talk_tree;
mod transcript;
mod versions;
mod write;

pub use assistants::{AssistantExport, read_assistant};
pub use other::{DetectedChats, OtherChats, detect_chats};
pub use read::Losses;
pub use risuai::{Greeting, RisuChat, from_risuai};
pub use talk_tree::{Talk, TalkBranch};
pub use transcript::Transcript;

pub use self::model::{
    ChatFile, ChatFileAuthor, ChatFileError, ChatFileMessage, MAX_FILE, MessageVersion,
};
