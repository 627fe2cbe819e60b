//! Chats, their messages, and the swipes of a message.

use serde::{Deserialize, Serialize};

use crate::model::ModelChoice;
use crate::{CharacterId, ChatId, MessageId, PersonaId, SwipeId, Timestamp, ToolCall, ToolRound};

/// The author of a message. Provider role names ("assistant", "model") exist only in the adapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Character,
    Narrator,
    Tool,
    Event,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Character => "character",
            Self::Narrator => "narrator",
            Self::Tool => "tool",
            Self::Event => "event",
        }
    }
}

/// Source of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum MessageSource {
    /// Written by the user, or by a model.
    #[default]
    Typed,
    /// Spoken by the user. The text may contain recognition errors.
    Voice,
    /// Sent by another program through the local API.
    Api,
    /// Added by a tool.
    Tool,
}

impl MessageSource {
    pub const ALL: [Self; 4] = [Self::Typed, Self::Voice, Self::Api, Self::Tool];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typed => "typed",
            Self::Voice => "voice",
            Self::Api => "api",
            Self::Tool => "tool",
        }
    }
}

/// State of a swipe's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum SwipeState {
    /// The text is still being written. After a crash an unfinished reply has this state; opening
    /// the store changes it to `Interrupted`.
    Streaming,
    Finished,
    /// An error, or the end of the app or the worker, ended the generation. The text is kept.
    Interrupted,
    /// Stopped by the user. The text is kept.
    Stopped,
}

/// One alternative text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swipe {
    pub id: SwipeId,
    pub message: MessageId,
    /// Order among the swipes; 0 is the oldest.
    pub position: u32,
    pub text: String,
    pub state: SwipeState,
    pub created: Timestamp,
    /// Name of the model that wrote it. `None` for greetings and for texts of people.
    pub model: Option<String>,
    /// Tool calls that the model requested and that were not run.
    pub tool_calls: Vec<ToolCall>,
    /// The calls that were run for this reply, with their results, in order.
    pub tool_rounds: Vec<ToolRound>,
    /// `None` for texts that no model of this app wrote.
    pub emotion: Option<Emotion>,
}

/// The emotion that a reply shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Emotion {
    /// One of the labels that were set when the reply was written.
    pub label: String,
    /// The text of the reply's own tag, if it is not one of them. The label is then `neutral`.
    pub unknown_tag: Option<String>,
}

/// A message of a chat, with all its swipes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub chat: ChatId,
    /// Order in the chat: ascending, with gaps.
    pub position: i64,
    pub role: Role,
    pub created: Timestamp,
    /// Never empty; sorted by position.
    pub swipes: Vec<Swipe>,
    /// Index into `swipes` of the one that is shown and sent.
    pub selected: u32,
    /// Context block that was sent in front of this text. It is re-sent unchanged until the epoch
    /// ends, and is never shown or exported.
    pub context_block: Option<String>,
    /// Stays in the prompt verbatim, even outside the window.
    pub pinned: bool,
    /// Hidden from the model: the chat shows it folded. Prompts, recall and memory extraction skip
    /// it.
    pub hidden: bool,
    /// The time is unknown. `created` only preserves the order.
    pub undated: bool,
    pub source: MessageSource,
    /// Attached pictures, in order.
    pub pictures: Vec<Picture>,
}

/// A picture attached to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// Content hash that identifies the asset.
    pub hash: String,
    /// File name; empty for a pasted picture.
    pub name: String,
}

impl Message {
    /// Returns the swipe that is shown and sent.
    ///
    /// # Panics
    /// If the message has no swipes, which the store never returns.
    pub fn swipe(&self) -> &Swipe {
        let index = (self.selected as usize).min(self.swipes.len() - 1);
        &self.swipes[index]
    }

    pub fn text(&self) -> &str {
        &self.swipe().text
    }
}

/// Author of a message in a group scene, if it is not the chat's own character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// `None` for the narrator, and for a deleted character.
    pub character: Option<CharacterId>,
    /// Name at the time the message was written.
    pub name: String,
}

/// How the characters of a group scene take turns. A character that the user's message names speaks
/// first, except in [`TurnOrder::Manual`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum TurnOrder {
    /// By chance, weighted by the talkativeness of each card.
    Natural,
    /// One after the other.
    #[default]
    List,
    /// Everyone once after each message of the user, by chance.
    Pooled,
    /// Only a character that the user calls upon speaks.
    Manual,
    /// The model is asked who speaks next; if its answer names nobody, [`TurnOrder::Natural`]
    /// applies.
    Director,
}

impl TurnOrder {
    pub const ALL: [Self; 5] = [
        Self::Natural,
        Self::List,
        Self::Pooled,
        Self::Manual,
        Self::Director,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::List => "list",
            Self::Pooled => "pooled",
            Self::Manual => "manual",
            Self::Director => "director",
        }
    }
}

/// Settings of a group scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSettings {
    pub order: TurnOrder,
    /// A character may answer its own message.
    pub self_responses: bool,
    /// In natural order, all characters that the user names and others by chance answer one
    /// message.
    pub several_replies: bool,
    /// Seconds between two replies while the characters talk by themselves, 0 to 3,600.
    pub auto_delay: u32,
    /// Fields of another app's group file that this app does not use, as a JSON object.
    pub foreign: String,
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self {
            order: TurnOrder::default(),
            self_responses: false,
            several_replies: false,
            auto_delay: 5,
            foreign: "{}".to_owned(),
        }
    }
}

/// State of a character in a group scene.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberState {
    /// Hears everything, but speaks only when the user calls upon it.
    pub muted: bool,
    /// Neither hears nor speaks.
    pub away: bool,
}

/// State of a chat's append-only context window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowState {
    /// Number of the epoch. It increases whenever the sent prefix becomes invalid.
    pub epoch: u32,
    /// First message in the window; `None` is the first message of the chat.
    pub anchor: Option<MessageId>,
    /// Fingerprint of all inputs whose change ends an epoch: head, template, model, limits.
    pub fingerprint: String,
    /// Content frozen for the epoch, such as its digest. The context crate defines the format.
    pub frozen: String,
}

/// A conversation with a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub id: ChatId,
    pub character: CharacterId,
    pub persona: Option<PersonaId>,
    pub title: String,
    /// Overrides the default model for this chat.
    pub model: Option<ModelChoice>,
    /// Unsent text in the composer.
    pub draft: String,
    pub window: WindowState,
    /// Messages up to this position belong to earlier scenes, which prompts omit.
    pub scene_after: Option<i64>,
    /// Macro variables, the time of the head, greetings and lore timers, as JSON of the engine's
    /// `StoredMacroState`.
    pub variables: String,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// The messages of a chat before a position (exclusive).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRange {
    pub chat: ChatId,
    pub before: i64,
}
