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
    Interrupted,
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
    /// Milliseconds from send to the first text.
    pub first_text_ms: Option<f64>,
    /// Milliseconds of writing.
    pub decode_ms: Option<f64>,
}

/// A text without its hidden passages (S4.70, S4.71).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Display {
    pub text: String,
    /// What a reasoning model said to itself; empty if nothing.
    pub thoughts: String,
    pub has_metrics: bool,
    pub has_keyframe: bool,
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
}

/// A place in a chat with its alternative texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub id: String,
    pub role: Role,
    /// The speaker's name, as shown.
    pub name: String,
    pub swipes: Vec<Swipe>,
    pub selected: u32,
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

/// An open chat: everything its screen needs in one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Chat {
    pub id: String,
    pub title: String,
    pub character: String,
    pub character_name: String,
    pub picture: Option<String>,
    pub persona: Persona,
    /// What stood in the composer.
    pub draft: String,
    /// Overrides the default model.
    pub model: Option<ModelRef>,
    pub page: MessagePage,
    /// The reply being written right now, so that a reloaded UI joins it (S1.25).
    pub generating: Option<Generating>,
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

/// What a send, regenerate or continue started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Started {
    /// The user's message, where one was sent: it is on disk.
    pub sent: Option<Message>,
    /// The reply's message with its new, empty swipe selected.
    pub reply: Message,
}

/// Zones of the prompt, top to bottom (design, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    Head,
    Digest,
    Window,
    Input,
}

/// One block of the prompt, as the X-ray draws it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptBlock {
    pub id: String,
    pub zone: Zone,
    /// `description`, `message`, `contextBlock` and so on.
    pub kind: String,
    /// Where it comes from, in words.
    pub source: String,
    /// Why it is a candidate.
    pub reason: String,
    pub tokens: u32,
    pub kept: bool,
    pub dropped_reason: Option<String>,
    pub text: String,
}

/// Tokens by zone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ZoneTokens {
    pub head: u32,
    pub digest: u32,
    pub window: u32,
    pub input: u32,
}

/// What a prompt costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptTokens {
    pub total: u32,
    /// The context size.
    pub limit: u32,
    /// Kept free for the reply.
    pub reserve: u32,
    pub by_zone: ZoneTokens,
    /// True where the model's own tokenizer counted.
    pub exact: bool,
}

/// A run of the prompt's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptSegment {
    pub text: String,
    pub control: bool,
}

/// A message as an adapter would send it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptMessage {
    pub role: String,
    pub text: String,
}

/// Milliseconds per stage of assembly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AssemblyTimings {
    pub collect_ms: f64,
    pub count_ms: f64,
    pub plan_ms: f64,
    pub compile_ms: f64,
}

/// The prompt that would be sent, or was: text, blocks, cost (S0.11). The manifest of a turn is stored in this form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptReport {
    pub text: String,
    pub segments: Vec<PromptSegment>,
    pub messages: Vec<PromptMessage>,
    pub blocks: Vec<PromptBlock>,
    pub tokens: PromptTokens,
    pub epoch: u32,
    /// First message in the window.
    pub anchor: Option<String>,
    pub model: String,
    pub timings: AssemblyTimings,
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
