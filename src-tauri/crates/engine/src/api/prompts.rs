//! The X-ray: what a prompt consists of, what it costs, and how it differs from others.

pub use context::{Priority, Zone};
use domain::{MessageId, SwipeId};
use serde::{Deserialize, Serialize};
use specta::Type;

use super::{BlockReason, Figures, ModelRef, Picture, Signal, SourceLabel};

/// The source of a block, so that the X-ray can link to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "of", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Origin {
    BuiltIn,
    Template {
        template: String,
        section: String,
    },
    Card {
        character: String,
        field: String,
    },
    /// The chat's replacement of a field of the card.
    ChatText {
        field: String,
    },
    Persona {
        id: String,
    },
    Lore {
        book: String,
        entry: String,
    },
    Memory {
        id: String,
    },
    Keyframe {
        id: String,
        /// The first message that it covers, if known.
        first: Option<String>,
    },
    Message {
        id: String,
    },
    /// Messages outside the window.
    Older {
        first: String,
        last: String,
        count: u32,
    },
    /// A document that is attached to the chat, its character or one of its lorebooks.
    Document {
        id: String,
        name: String,
    },
    Clock,
    Mode {
        name: String,
    },
    /// The user's wish for one version of a reply.
    Hint,
    /// A system message of a program that uses the local API.
    Client,
    Setting {
        key: String,
    },
}

/// One block of the prompt, as the X-ray draws it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptBlock {
    /// Unique in its prompt.
    pub id: String,
    pub zone: Zone,
    /// `null` in prompts of older versions.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// `description`, `lore`, `message` and so on.
    pub kind: String,
    /// Its source, as a text in English.
    pub source: String,
    /// The same as a code with values; `null` in prompts of older versions.
    #[serde(default)]
    pub label: Option<SourceLabel>,
    pub origin: Origin,
    /// Identifies the content across prompts: `WhatIf::without` takes it.
    pub key: String,
    /// Why it is a candidate, in English.
    pub reason: String,
    /// The same as codes with values; empty in prompts of older versions.
    #[serde(default)]
    pub reasons: Vec<BlockReason>,
    pub role: String,
    /// Index of the prompt's message that contains it; `null` if it was left out.
    pub turn: Option<u32>,
    /// Index of the prompt's segment that contains its text.
    pub segment: Option<u32>,
    pub score: Option<f32>,
    /// The parts of the score, if it has several; empty in prompts of older versions.
    #[serde(default)]
    pub signals: Vec<Signal>,
    pub tokens: u32,
    pub kept: bool,
    /// Why it is not in the prompt, in English; `null` if it is in the prompt.
    pub dropped_reason: Option<String>,
    /// The same as a code; `null` in prompts of older versions.
    #[serde(default)]
    pub dropped_code: Option<String>,
    /// The model has read it already, at the same place in the prompt of the turn before.
    pub reused: bool,
    pub text: String,
    /// Its own text without the wording that the prompt adds; `null` if `text` is the same.
    #[serde(default)]
    pub own_text: Option<String>,
    /// Its text at the source, before variables, macros and scripts; `null` if it is the same, and
    /// in prompts of older versions.
    #[serde(default)]
    pub source_text: Option<String>,
    /// In a group chat, the character that alone knows it; `null` if everybody does.
    #[serde(default)]
    pub known_to: Option<String>,
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

/// The way in which tokens are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub enum CountedWith {
    /// The model's own tokenizer: exact.
    #[serde(rename = "model")]
    Model,
    /// The file that the user provided for the endpoint's model.
    #[serde(rename = "tokenizer.json")]
    TokenizerJson,
    #[serde(rename = "o200k_base")]
    O200k,
    #[serde(rename = "cl100k_base")]
    Cl100k,
    /// An estimate from the length of the text, because the model's tokenizer is not known.
    #[serde(rename = "estimate")]
    Estimate,
}

impl std::fmt::Display for CountedWith {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Model => "the model's own tokenizer",
            Self::TokenizerJson => "its tokenizer.json",
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
            Self::Estimate => "an estimate from the text length",
        })
    }
}

/// How reliable the numbers of a prompt are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    pub with: CountedWith,
    /// Tokens held back as a safety margin for wrong counts.
    pub margin: u32,
    /// Mean error of the last twenty prompts, as a share of what the endpoint reported; `null` if
    /// it has reported nothing.
    pub mean_error: Option<f32>,
}

/// The cost of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptTokens {
    pub total: u32,
    /// The context size.
    pub limit: u32,
    /// Held back for the reply.
    pub reserve: u32,
    pub by_zone: ZoneTokens,
    /// The prompt begins with this many tokens of the prompt of the turn before. A model with that
    /// turn in its cache does not read them again. `null` if no earlier prompt is stored.
    pub reusable: Option<u32>,
    /// The counts that the model reported after reading the prompt; `null` for prompts that were
    /// not sent.
    #[serde(default)]
    pub measured: Option<MeasuredPrompt>,
    /// Whether the model's own tokenizer counted.
    pub exact: bool,
    /// `null` in old records.
    pub counted: Option<Counted>,
}

/// A prompt as the model counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredPrompt {
    pub tokens: u32,
    /// Tokens that were in its cache.
    pub reused: u32,
}

/// How the budget was divided. All numbers are tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptShares {
    pub history_budget: u32,
    pub history_used: u32,
    pub retrieval_budget: u32,
    pub retrieval_used: u32,
    pub digest: u32,
}

/// A run of the prompt's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptSegment {
    pub text: String,
    pub control: bool,
}

/// A message as a provider would send it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptMessage {
    pub role: String,
    pub text: String,
}

/// Milliseconds per stage of the assembly. The call of the model is not included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AssemblyTimings {
    pub collect_ms: f64,
    pub activate_ms: f64,
    pub count_ms: f64,
    pub plan_ms: f64,
    /// From the store to the final text: the stages, and what is between them (regex scripts, the
    /// frame).
    #[serde(default)]
    pub total_ms: f64,
    /// Segments that a tokenizer had to count; the others were counted before.
    #[serde(default)]
    pub counted: u32,
}

/// The place of triggered lore and notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    #[default]
    CacheFirst,
    Classic,
}

/// The prompt that would be sent, or was sent: text, blocks, cost. The manifest of a turn is stored
/// in this form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptReport {
    pub text: String,
    pub segments: Vec<PromptSegment>,
    pub messages: Vec<PromptMessage>,
    pub blocks: Vec<PromptBlock>,
    pub tokens: PromptTokens,
    pub shares: PromptShares,
    pub placement: Placement,
    pub epoch: u32,
    /// Why an epoch begins with this turn; `null` if none does.
    pub new_epoch: Option<String>,
    /// The same as a code; `null` in prompts of older versions.
    #[serde(default)]
    pub new_epoch_code: Option<String>,
    /// First message in the window.
    pub anchor: Option<String>,
    pub model: String,
    /// Id of the prompt template.
    pub template: String,
    /// Notices for the user, such as that macros are unknown.
    pub notices: Vec<String>,
    pub timings: AssemblyTimings,
}

/// A job of the chat other than a normal reply. Its prompt continues that of the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Ask {
    /// Continues the last reply. The model is asked to only if it cannot extend its own text.
    Continue,
    /// A draft of the user's next message.
    Impersonate,
    Title,
}

/// Changes to try on a prompt without sending it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct WhatIf {
    /// Keys of blocks to leave out.
    pub without: Vec<String>,
    /// Context size in tokens.
    pub limit: Option<u32>,
    pub model: Option<ModelRef>,
    pub placement: Option<Placement>,
    /// Id of a prompt template.
    pub template: Option<String>,
    /// JSON of a template that is not stored; it replaces `template`.
    pub template_json: Option<String>,
    /// The prompt of a job instead of the next turn's.
    pub ask: Option<Ask>,
    /// Pictures that would be sent with the message.
    pub pictures: Vec<Picture>,
    /// Another version of the last reply instead of the next turn. It has no effect if there is a
    /// text.
    pub regenerate: bool,
}

/// A past turn in the list of the X-ray page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PastTurn {
    pub message: MessageId,
    pub swipe: SwipeId,
    /// The start of the reply.
    pub line: String,
    pub created: String,
    pub model: Option<String>,
    pub figures: Figures,
}

/// How a piece of text differs in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    Same,
    Added,
    Removed,
}

/// Adjacent lines that differ in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChangedText {
    pub change: Change,
    pub text: String,
}

/// The stages of a prompt, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum PromptStage {
    /// Everything that may be sent, as it is written: with variables and macros.
    Sources,
    /// The same, after variables, macros and regex scripts.
    Filled,
    /// The part that fits into the budget.
    Budget,
    /// With the wording of the prompt and the control text of the model, as it is sent.
    Sent,
}

/// A prompt at one stage, compared with the stage before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StageComparison {
    pub stage: PromptStage,
    /// `null` for the first stage.
    pub before: Option<PromptStage>,
    /// Line by line; blocks and runs of control text begin on lines of their own.
    pub parts: Vec<ChangedText>,
}

/// A prompt, compared with that of the turn before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptComparison {
    /// The swipe of the turn that it is compared with; `null` if there is none.
    pub previous: Option<String>,
    pub parts: Vec<ChangedText>,
}
