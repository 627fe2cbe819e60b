use serde::{Deserialize, Serialize};
use specta::Type;

use super::{ApiError, ModelRef};

/// One row of the chat list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatSummary {
    pub id: String,
    pub title: String,
    pub character: String,
    pub character_name: String,
    pub picture: Option<String>,
    /// Start of the newest message.
    pub last_line: String,
    pub message_count: u32,
    pub updated: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Character,
    Narrator,
    Tool,
    Event,
}

/// How far a text got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum SwipeState {
    Streaming,
    Finished,
    /// Cut off by an error or by the end of the app.
    Interrupted,
    /// Stopped by the user.
    Stopped,
}

/// The quiet line under a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Tokens of the prompt.
    pub prompt: Option<u32>,
    pub reused: Option<u32>,
    pub evaluated: Option<u32>,
    pub generated: Option<u32>,
    /// Milliseconds of reading the prompt.
    pub prefill_ms: Option<f64>,
    /// Milliseconds from send to the first text.
    pub first_text_ms: Option<f64>,
    /// Milliseconds of writing.
    pub decode_ms: Option<f64>,
}

/// A text without its hidden passages (S4.70, S4.71).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Display {
    pub text: String,
    /// What a reasoning model said to itself; empty if nothing.
    pub thoughts: String,
    pub has_thoughts: bool,
    pub has_metrics: bool,
    pub has_keyframe: bool,
    /// It says that an episode of the story is over (S4.22).
    pub ends_episode: bool,
}

/// A tool that a reply asked for. None is offered, and nothing was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    pub name: String,
    /// Word for word.
    pub arguments: String,
    /// The arguments are a JSON object.
    pub valid: bool,
}

/// One alternative text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Swipe {
    pub id: String,
    /// As it was written, and as it is edited.
    pub text: String,
    /// How it is shown, where that differs from `text`.
    pub display: Option<Display>,
    pub state: SwipeState,
    pub created: String,
    /// Name of the model that wrote it.
    pub model: Option<String>,
    pub figures: Option<Figures>,
    /// What the model asked for besides.
    pub tool_calls: Vec<ToolCall>,
}

/// A place in a chat with its alternative texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub id: String,
    pub role: Role,
    /// The speaker's name, as shown.
    pub name: String,
    /// The character who says it, where it is not the chat's own; empty for one who is gone, and for the narrator.
    #[serde(default)]
    pub speaker: Option<String>,
    pub swipes: Vec<Swipe>,
    pub selected: u32,
    /// Empty where nobody knows when it was said.
    pub created: String,
    /// Kept in the prompt word for word when it leaves the window.
    pub pinned: bool,
    /// The user keeps it from the model: it is shown folded.
    #[serde(default)]
    pub hidden: bool,
    /// What came with the words, in order.
    pub pictures: Vec<Picture>,
}

/// A picture that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// Names its content among the assets.
    pub hash: String,
    /// What the file was called; empty for what was pasted.
    pub name: String,
}

/// What a text is attached to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "of", rename_all = "camelCase")]
pub enum DocumentOwner {
    Chat {
        id: String,
    },
    /// All chats of the character.
    Character {
        id: String,
    },
    /// Wherever the book counts. One in a card goes by the id of its character, and is the same as that.
    Lorebook {
        id: String,
    },
}

/// A text that is attached to something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AttachedDocument {
    pub id: String,
    pub owner: DocumentOwner,
    /// What the file was called; its passages are told by it.
    pub name: String,
    /// Size of the file.
    pub bytes: u32,
    /// Parts that are found by themselves.
    pub passages: u32,
    pub created: String,
}

/// A page of messages, ascending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    pub messages: Vec<Message>,
    /// There are older ones.
    pub more: bool,
}

/// A text of a card that a chat may have its own of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum CardField {
    Description,
    Personality,
    Scenario,
    MessageExamples,
    SystemPrompt,
    PostHistoryInstructions,
}

/// A text of the card, and what one chat says instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatText {
    pub field: CardField,
    /// What the card says.
    pub card: String,
    /// `null` where the chat says what the card says; empty where it leaves that out.
    pub own: Option<String>,
}

/// A character who takes part in a chat besides its own (S4.20).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct GroupMember {
    pub id: String,
    pub name: String,
    pub picture: Option<String>,
}

/// An open chat: everything its screen needs in one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    pub id: String,
    pub title: String,
    pub character: String,
    pub character_name: String,
    pub picture: Option<String>,
    /// Who takes part besides the character, in the order of their turns.
    #[serde(default)]
    pub members: Vec<GroupMember>,
    pub persona: Persona,
    /// The user's name in the app that the chat came from, while no persona is chosen: `persona_from_chat` makes it one.
    #[serde(default)]
    pub name_kept: Option<String>,
    /// What stood in the composer.
    pub draft: String,
    /// Overrides the default model.
    pub model: Option<ModelRef>,
    pub page: MessagePage,
    /// First message that the model still reads word for word; `null` while it reads all.
    pub anchor: Option<String>,
    /// The reply being written right now, so that a reloaded UI joins it (S1.25).
    pub generating: Option<Generating>,
    /// The draft of the user's next message being written right now.
    pub drafting: Option<Drafting>,
}

use super::Persona;

/// A reply being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Generating {
    pub message: String,
    pub swipe: String,
    /// The words so far, as they are shown.
    pub text: String,
    /// The thoughts so far.
    pub thoughts: String,
    /// The next `token` or `thought` event has this number.
    pub seq: u32,
}

/// A draft being written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Drafting {
    /// The words so far.
    pub text: String,
    /// The next `draft` event has this number.
    pub seq: u32,
}

/// What a send, regenerate or continue started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// The user's message, where one was sent: it is on disk.
    pub sent: Option<Message>,
    /// The reply's message with its new, empty swipe selected.
    pub reply: Message,
}

/// How a generation ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum EndReason {
    Stop,
    Length,
    /// The user stopped it.
    Cancelled,
    Failed {
        error: ApiError,
    },
}
