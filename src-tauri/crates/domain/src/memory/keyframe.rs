//! Keyframes: summaries of message ranges, used after the messages have left the window.

use crate::{ChatId, KeyframeId, MessageId, Timestamp};

/// The summary of a range of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyframe {
    pub id: KeyframeId,
    pub chat: ChatId,
    /// The messages it covers, oldest first. Any change to one of them invalidates the keyframe.
    pub messages: Vec<MessageId>,
    /// Positions of the first and the last message.
    pub first: i64,
    pub last: i64,
    /// Never empty.
    pub summary: String,
    /// State of the story at its end; empty if no model has written one.
    pub analysis: String,
    /// Importance, from 1 to 10.
    pub rating: u8,
    /// Names of the participants.
    pub characters: Vec<String>,
    /// No model wrote this summary. It consists of first sentences of the messages.
    pub fallback: bool,
    pub created: Timestamp,
}
