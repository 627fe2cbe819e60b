//! Branches, checkpoints, revisions and the story tree.

use domain::{ChatId, MessageId, SwipeId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{Chat, Role};

/// The chat that a branch began in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct BranchOrigin {
    pub chat: ChatId,
    pub title: String,
    /// The last message that both have; `null` if it is deleted.
    pub message: Option<MessageId>,
    /// Number of that message in the chat, from 1.
    pub number: u32,
}

/// A branch that began in a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct BranchSummary {
    pub chat: ChatId,
    pub title: String,
    /// The last message that both have.
    pub message: Option<MessageId>,
}

/// A named bookmark on a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    pub message: MessageId,
    pub name: String,
    pub created: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Rating {
    Up,
    Down,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RatedSwipe {
    pub swipe: SwipeId,
    pub rating: Rating,
}

/// Marks of the user in a chat, and its links to other chats.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatMarks {
    pub origin: Option<BranchOrigin>,
    /// The branches that began in this chat, oldest first.
    pub branches: Vec<BranchSummary>,
    /// In the order of the messages.
    pub checkpoints: Vec<Checkpoint>,
    /// Messages whose shown text was edited.
    pub edited: Vec<MessageId>,
    pub ratings: Vec<RatedSwipe>,
    /// Swipes with recorded token probabilities.
    pub token_swipes: Vec<SwipeId>,
}

/// The text that a message had before an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    pub text: String,
    /// The time of the edit that replaced it.
    pub replaced: String,
}

/// A chat as a place in the story tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StoryEnd {
    pub chat: ChatId,
    pub title: String,
}

/// The start, a fork, a checkpoint or the end of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StoryNode {
    /// Index of the node before this one; `null` for the start.
    pub parent: Option<u32>,
    /// A chat that contains the message; the asked one, if it does.
    pub chat: ChatId,
    /// Empty for a start at which the chats have nothing in common.
    pub message: String,
    /// Number of the message in its chat, from 1; 0 for a start at which the chats have nothing in
    /// common.
    pub number: u32,
    /// The beginning of the message.
    pub text: String,
    pub role: Role,
    /// The checkpoints of this message.
    pub checkpoints: Vec<String>,
    /// The chats that end here.
    pub ends: Vec<StoryEnd>,
    /// The asked chat contains this message.
    pub is_current: bool,
}

/// The chats of one origin as a tree. A node follows its parent in the list, and precedes its own
/// branches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StoryTree {
    pub nodes: Vec<StoryNode>,
    /// Number of chats.
    pub chats: u32,
}

/// A message of a path, for reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StoryMessage {
    pub message: MessageId,
    pub role: Role,
    pub name: String,
    pub text: String,
}

/// The result of joining two chats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct JoinedChat {
    /// The chat with the messages of both.
    pub chat: Chat,
    /// The new messages, in order. To undo it, delete from the first one on.
    pub added: Vec<MessageId>,
    /// The other chat, which is in the trash.
    pub joined: ChatId,
}

/// The result of splitting a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SplitChat {
    /// The new chat.
    pub chat: Chat,
    /// The messages that the old chat lost; `restore_messages` brings them back.
    pub moved: Vec<MessageId>,
}
