//! Quick replies: buttons above the composer.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::CommandOutcome;

/// A set whose buttons a chat shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct QuickReplySet {
    pub id: String,
    pub name: String,
    /// Those with a button.
    pub replies: Vec<QuickReply>,
}

/// A button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct QuickReply {
    /// Its place in the set, from 0.
    pub index: u32,
    /// One short line.
    pub label: String,
    /// Its description, or the start of its text.
    pub hint: String,
    /// The part of its script that is not supported; then it cannot run.
    pub unsupported: Option<UnsupportedScript>,
}

/// The first part of a script that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct UnsupportedScript {
    /// Counted from 1.
    pub line: u32,
    pub text: String,
}

/// A set, and where it is shown, as seen from a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct QuickReplySetSummary {
    pub id: String,
    pub name: String,
    /// Number of replies.
    pub count: u32,
    /// Number of replies with a script that is not supported.
    pub unsupported: u32,
    /// Number of replies that can run by themselves.
    pub automatic: u32,
    /// Whether the user allowed that.
    pub allowed: bool,
    /// Every chat shows it.
    pub everywhere: bool,
    /// The chats of this character show it.
    pub with_character: bool,
    /// This chat shows it.
    pub in_chat: bool,
}

/// The chats that show a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum QuickReplyScope {
    Everywhere,
    Character,
    Chat,
}

/// The effects of a quick reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct QuickReplyRun {
    /// One for each command. The last one may be a refusal, which ends the run.
    pub outcomes: Vec<CommandOutcome>,
    /// The text in the composer is part of what was sent.
    pub used_text: bool,
}

/// A set in the editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct QuickReplyForm {
    /// `None` for a new set.
    pub id: Option<String>,
    pub name: String,
    pub replies: Vec<QuickReplyRow>,
}

/// A quick reply in the editor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct QuickReplyRow {
    /// Its place in the stored set, from 0; `None` for a new one. Fields that the editor does not
    /// show are kept.
    pub from: Option<u32>,
    pub label: String,
    /// Tooltip of the button.
    pub title: String,
    /// The text or the commands.
    pub message: String,
    /// It has no button.
    pub hidden: bool,
}
