//! Keyframes: what a stretch of a chat came to, for the time when its messages have left the window (S4.31).

use crate::{ChatId, KeyframeId, MessageId, Timestamp};

/// The summary of a stretch of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyframe {
    pub id: KeyframeId,
    pub chat: ChatId,
    /// Those it covers, oldest first. It stands only while each says what it said.
    pub messages: Vec<MessageId>,
    /// Positions of the first and the last of them.
    pub first: i64,
    pub last: i64,
    /// Never empty.
    pub summary: String,
    /// Where things stand at its end; empty where no model has read it.
    pub analysis: String,
    /// How much it matters, 1 to 10.
    pub rating: u8,
    /// Who takes part, by name.
    pub characters: Vec<String>,
    /// No model has read the messages: the summary is some of their first sentences.
    pub fallback: bool,
    pub created: Timestamp,
}
