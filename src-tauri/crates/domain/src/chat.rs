//! Chats, their messages, and the swipes of a message.

use serde::{Deserialize, Serialize};

use crate::{CharacterId, ChatId, MessageId, PersonaId, SwipeId, Timestamp, ToolCall, model::ModelChoice};

/// Who speaks. Provider words ("assistant", "model") live in the adapters only (S3.5, S3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// How far the text of a swipe got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SwipeState {
    /// Being written now. After a crash this is what an unfinished reply looks like; opening the store turns it into
    /// `Interrupted`.
    Streaming,
    Finished,
    /// Cut off by an error, or by the end of the app or the worker. The text is kept.
    Interrupted,
    /// Stopped by the user. The text is kept.
    Stopped,
}

/// One alternative text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swipe {
    pub id: SwipeId,
    pub message: MessageId,
    /// 0 for the oldest.
    pub position: u32,
    pub text: String,
    pub state: SwipeState,
    pub created: Timestamp,
    /// Name of the model that wrote it; absent for greetings and for what people wrote.
    pub model: Option<String>,
    /// What the model asked for besides. Nothing was run.
    pub tool_calls: Vec<ToolCall>,
}

/// A place in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub chat: ChatId,
    /// Order in the chat, ascending, with gaps allowed.
    pub position: i64,
    pub role: Role,
    pub created: Timestamp,
    /// Never empty; sorted by position.
    pub swipes: Vec<Swipe>,
    /// Index into `swipes` of the one that is shown and sent.
    pub selected: u32,
    /// The context block that was sent in front of these words: frozen with the message, re-sent unchanged until the
    /// epoch ends, never shown or exported (design, section 4).
    pub context_block: Option<String>,
    /// Kept in the prompt word for word when it leaves the window (S4.36).
    pub pinned: bool,
    /// Hidden from the model: the chat shows it folded. Prompts, recall and memory extraction skip it.
    pub hidden: bool,
    /// The time is unknown. `created` only preserves the order.
    pub undated: bool,
    /// What came with the words, in order.
    pub pictures: Vec<Picture>,
}

/// A picture that came with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Names its content among the assets.
    pub hash: String,
    /// What the file was called; empty for what was pasted.
    pub name: String,
}

impl Message {
    /// The swipe that is shown and sent.
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

/// Who says a message of a group scene, where it is not the chat's own character (S4.20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// Absent for the narrator, and once the character is gone.
    pub character: Option<CharacterId>,
    /// As it was when the message was written.
    pub name: String,
}

/// Where the append-only window of a chat stands (design, section 4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowState {
    /// Number of the epoch; it grows by one whenever the sent prefix stops being valid.
    pub epoch: u32,
    /// First message in the window; `None` means from the first message on.
    pub anchor: Option<MessageId>,
    /// Fingerprint of everything whose change ends an epoch: head, template, model, limits.
    pub fingerprint: String,
    /// What the epoch froze, such as its digest; the context crate reads and writes it.
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
    /// What stands in the composer, not yet sent.
    pub draft: String,
    pub window: WindowState,
    /// Messages up to this position belong to earlier scenes, which the prompt leaves out (C25).
    pub scene_after: Option<i64>,
    /// What the macros of its texts have set, in JSON; the context crate reads and writes it.
    pub variables: String,
    pub created: Timestamp,
    pub updated: Timestamp,
}
