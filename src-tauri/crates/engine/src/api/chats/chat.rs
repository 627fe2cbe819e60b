//! Chats and messages as pages show them.

pub use context::display::Display;
pub use domain::chat::{Emotion, MessageSource, Picture, Role, SwipeState, TurnOrder};
use domain::{CharacterId, ChatId, DocumentId, LorebookId, MessageId, SwipeId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{ApiError, ListPlace, ModelRef, ToolRound, ToolRoundFigures, VisionStatus};

/// One row of the chat list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatSummary {
    pub id: ChatId,
    pub title: String,
    pub character: CharacterId,
    pub character_name: String,
    pub picture: Option<String>,
    /// The first other participant of a group.
    pub other_member: Option<ChatFace>,
    /// The start of the newest message.
    pub last_line: String,
    pub message_count: u32,
    pub created: String,
    pub updated: String,
    pub place: ListPlace,
}

/// A participant in the list of chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatFace {
    pub name: String,
    /// Hash of the picture.
    pub picture: Option<String>,
}

/// Token counts and timings, shown under a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Tokens of the prompt.
    pub prompt: Option<u32>,
    pub reused: Option<u32>,
    pub evaluated: Option<u32>,
    pub generated: Option<u32>,
    /// Milliseconds to process the prompt.
    pub prefill_ms: Option<f64>,
    /// Milliseconds from sending to the first text.
    pub first_text_ms: Option<f64>,
    /// Milliseconds to write the text.
    pub decode_ms: Option<f64>,
    /// Milliseconds from the first text to the end of the thoughts; `null` without thoughts.
    #[serde(default)]
    pub thought_ms: Option<f64>,
    /// One for each tool round.
    #[serde(default)]
    pub tool_rounds: Vec<ToolRoundFigures>,
    /// The reply was written without tools because it had reached its limit of rounds.
    #[serde(default)]
    pub tool_limit: bool,
}

/// A tool call in a reply that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    pub name: String,
    /// Verbatim.
    pub arguments: String,
    /// Whether the arguments are a JSON object.
    pub valid: bool,
}

/// One of the alternative texts of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Swipe {
    pub id: SwipeId,
    /// The text as written, which the user can edit.
    pub text: String,
    /// The text as shown, if it differs from `text`.
    pub display: Option<Display>,
    pub state: SwipeState,
    pub created: String,
    /// Name of the model that wrote it.
    pub model: Option<String>,
    pub figures: Option<Figures>,
    /// Tool calls in the reply that were not run.
    pub tool_calls: Vec<ToolCall>,
    /// The calls that were run for the reply, with their results.
    #[serde(default)]
    pub tool_rounds: Vec<ToolRound>,
    /// `null` for texts that no model of this app wrote.
    #[serde(default)]
    pub emotion: Option<Emotion>,
}

/// A position in a chat, with its alternative texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    /// The speaker's name, as shown.
    pub name: String,
    /// The character who says it, if it is not the chat's own; empty for one that was deleted, and
    /// for the narrator.
    #[serde(default)]
    pub speaker: Option<String>,
    pub swipes: Vec<Swipe>,
    pub selected: u32,
    /// Empty if the time is unknown.
    pub created: String,
    /// Stays in the prompt verbatim when it leaves the window.
    pub pinned: bool,
    /// The user hides it from the model; it is shown folded.
    #[serde(default)]
    pub hidden: bool,
    /// A reply that can be written anew while it is the last message of the chat. A greeting of the
    /// card cannot.
    pub can_regenerate: bool,
    /// The pictures of the message, in order.
    pub pictures: Vec<Picture>,
    #[serde(default)]
    pub source: MessageSource,
    /// The changes that an event of a group chat reports. Its text says the same in English.
    #[serde(default)]
    pub events: Vec<GroupEvent>,
}

/// Something that a character of a group chat does between two replies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct GroupEvent {
    pub kind: GroupEventKind,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum GroupEventKind {
    Joins,
    Leaves,
    GoesAway,
    ComesBack,
}

/// The owner of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "of", rename_all = "camelCase")]
pub enum DocumentOwner {
    Chat {
        id: ChatId,
    },
    /// All chats of the character.
    Character {
        id: CharacterId,
    },
    /// All chats in which the lorebook applies. A lorebook in a card has the id of its character
    /// and is the same as `character`.
    Lorebook {
        id: LorebookId,
    },
}

/// A document that is attached to something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AttachedDocument {
    pub id: DocumentId,
    pub owner: DocumentOwner,
    /// The name of its file; passages are cited by it.
    pub name: String,
    /// The size of the file.
    pub bytes: u32,
    /// Number of passages, which are searched separately.
    pub passages: u32,
    pub created: String,
}

/// A page of messages, in ascending order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    pub messages: Vec<Message>,
    /// There are older messages.
    pub more: bool,
}

/// A field of a card that a chat can replace.
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

/// A field of the card, and its replacement in one chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatText {
    pub field: CardField,
    /// The text of the card.
    pub card: String,
    /// `null` if the chat uses the card's text; empty if the chat leaves it out.
    pub own: Option<String>,
}

/// A character that takes part in a group chat besides the chat's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct GroupMember {
    pub id: CharacterId,
    pub name: String,
    pub picture: Option<String>,
}

/// Settings of a group chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct GroupOptions {
    pub order: TurnOrder,
    /// A character may answer its own message.
    pub self_responses: bool,
    /// In natural order, all characters that the user names and others by chance answer one
    /// message.
    pub several_replies: bool,
    /// Seconds between two replies while the characters talk by themselves, 0 to 3,600.
    pub auto_delay: u32,
}

/// State of a character in a group chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemberState {
    pub id: CharacterId,
    /// Hears everything, but speaks only when the user calls upon it.
    pub muted: bool,
    /// Neither hears nor speaks.
    pub away: bool,
    /// Number of messages of the chat that it does not know.
    pub missed: u32,
}

/// A group chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    pub options: GroupOptions,
    /// The chat's own character first, then the others in the order of their turns.
    pub members: Vec<MemberState>,
}

/// An open chat: everything its screen needs in one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    pub id: ChatId,
    pub title: String,
    pub character: CharacterId,
    pub character_name: String,
    pub picture: Option<String>,
    /// The characters besides the chat's own, in the order of their turns.
    #[serde(default)]
    pub members: Vec<GroupMember>,
    /// `null` unless several characters take part.
    #[serde(default)]
    pub group: Option<Group>,
    pub persona: Persona,
    /// The user's name in the app that the chat was imported from, while no persona is chosen.
    /// `persona_from_chat` makes it one.
    #[serde(default)]
    pub name_kept: Option<String>,
    /// Whether to ask who plays the user: no persona has that name, and the user has not decided to
    /// keep it.
    #[serde(default)]
    pub asks_name: bool,
    /// The text in the composer.
    pub draft: String,
    /// Overrides the default model.
    pub model: Option<ModelRef>,
    pub page: MessagePage,
    /// The first message that is still sent verbatim; `null` if all of them are.
    pub anchor: Option<MessageId>,
    /// The reply that is being written, so that a reloaded UI can join it.
    pub generating: Option<Generating>,
    /// The draft of the user's next message that is being written.
    pub drafting: Option<Drafting>,
    /// The last report of a program with a camera; `null` while vision is off.
    #[serde(default)]
    pub vision: Option<VisionStatus>,
}

use crate::api::Persona;

/// A reply that is being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Generating {
    pub message: MessageId,
    pub swipe: SwipeId,
    /// The text so far, as shown.
    pub text: String,
    /// The reasoning so far.
    pub thoughts: String,
    /// The number of the next `token` or `thought` event.
    pub seq: u32,
    /// Set if several characters answer one message.
    #[serde(default)]
    pub turn: Option<ReplyTurn>,
}

/// A reply among several to one message: the first has number 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ReplyTurn {
    pub number: u32,
    pub of: u32,
}

/// A draft that is being written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Drafting {
    /// The text so far.
    pub text: String,
    /// The number of the next `draft` event.
    pub seq: u32,
}

/// The result of sending, regenerating or continuing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// The user's message, if one was sent; it is stored.
    pub sent: Option<Message>,
    /// The reply's message with its new, empty swipe selected; `null` if the reply to a stored
    /// message could not start. `Event::Ended` says why.
    pub reply: Option<Message>,
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
