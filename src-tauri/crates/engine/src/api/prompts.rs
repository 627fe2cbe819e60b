//! The X-ray: what a prompt is made of, what it cost, what another one would be.

use serde::{Deserialize, Serialize};
use specta::Type;

use super::{Figures, ModelRef, Picture};

/// Zones of the prompt, top to bottom (design, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Zone {
    Head,
    Digest,
    Window,
    Input,
}

/// How dear a block is: what is dearer is left out later (S0.3; requirements, section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Trimmable,
    Medium,
    High,
    /// Without it nothing is sent.
    Must,
}

/// Where a block comes from, so that the X-ray can lead there.
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
    /// What the chat says instead of a field of the card.
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
        /// The first message that it tells of, while it is known.
        first: Option<String>,
    },
    Message {
        id: String,
    },
    /// Messages that are outside the window.
    Older {
        first: String,
        last: String,
        count: u32,
    },
    /// A text that is attached to the chat, its character or one of its lorebooks.
    Document {
        id: String,
        name: String,
    },
    Clock,
    Mode {
        name: String,
    },
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
    /// `null` in prompts that older versions sent.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// `description`, `lore`, `message` and so on.
    pub kind: String,
    /// Where it comes from, in words.
    pub source: String,
    pub origin: Origin,
    /// Names the thing across prompts: what `WhatIf::without` takes.
    pub key: String,
    /// Why it is a candidate.
    pub reason: String,
    pub role: String,
    /// Message of the prompt that it is part of; `null` where it was left out.
    pub turn: Option<u32>,
    /// Segment of the prompt that has its text.
    pub segment: Option<u32>,
    pub score: Option<f32>,
    /// What the score is made of, where several things make it; none in prompts that older versions sent.
    #[serde(default)]
    pub signals: Vec<Signal>,
    pub tokens: u32,
    pub kept: bool,
    pub dropped_reason: Option<String>,
    /// The model has read it already, at this very place, in the turn before.
    pub reused: bool,
    pub text: String,
    /// What it says itself, where the prompt's words stand around it; `null` where `text` is that.
    #[serde(default)]
    pub own_text: Option<String>,
    /// As it is written where it comes from, before variables, macros and scripts; `null` where it says the same, and in
    /// prompts that older versions sent.
    #[serde(default)]
    pub source_text: Option<String>,
}

/// What speaks for something that was found, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct Signal {
    pub of: SignalKind,
    #[specta(type = u32)]
    pub value: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SignalKind {
    /// Words of the question, in it or around it.
    Words,
    /// How near its meaning is.
    Nearness,
    /// How well each rare piece of the question is met in it.
    Pieces,
    /// How near the meaning of its nearest sentence is.
    Sentence,
    /// Said by the one who is asked about.
    Who,
    /// Of the time that is asked about.
    When,
    /// Names what is asked about, and as whose.
    Named,
    /// How much of it tells something, and does not ask.
    Telling,
    Importance,
    Recency,
    /// How little of it those that go before say (C11).
    Novelty,
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

/// Who counted tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub enum CountedWith {
    /// The model itself: exact.
    #[serde(rename = "model")]
    Model,
    /// The file that the user gave for the endpoint's model.
    #[serde(rename = "tokenizer.json")]
    TokenizerJson,
    #[serde(rename = "o200k_base")]
    O200k,
    #[serde(rename = "cl100k_base")]
    Cl100k,
    /// Nobody: letters were counted, for the model's tokenizer is not known.
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
            Self::Estimate => "an estimate by letters",
        })
    }
}

/// How far the figures of a prompt can be trusted (S0.6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    pub with: CountedWith,
    /// Tokens that are kept free for wrong counts.
    pub margin: u32,
    /// Of the last twenty prompts, as a share of what the endpoint reported; `null` where it has reported nothing.
    pub mean_error: Option<f32>,
}

/// What a prompt costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptTokens {
    pub total: u32,
    /// The context size.
    pub limit: u32,
    /// Kept free for the reply.
    pub reserve: u32,
    pub by_zone: ZoneTokens,
    /// The same bytes as at the beginning of the turn before: what a model with that turn in its cache does not read.
    pub reusable: u32,
    /// What the model reported once it had read the prompt; `null` for prompts that were not sent.
    #[serde(default)]
    pub measured: Option<MeasuredPrompt>,
    /// True where the model's own tokenizer counted.
    pub exact: bool,
    /// `null` in old records.
    pub counted: Option<Counted>,
}

/// A prompt as the model counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredPrompt {
    pub tokens: u32,
    /// Tokens that it had in its cache.
    pub reused: u32,
}

/// How the budget was shared out. All figures are tokens.
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

/// A message as an adapter would send it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptMessage {
    pub role: String,
    pub text: String,
}

/// Milliseconds per stage of assembly, which ends where the model begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AssemblyTimings {
    pub collect_ms: f64,
    pub activate_ms: f64,
    pub count_ms: f64,
    pub plan_ms: f64,
    /// From the store to the bytes: the stages, and what is between them (regex scripts, the frame).
    #[serde(default)]
    pub total_ms: f64,
    /// Segments that a tokenizer had to count; the others were counted before.
    #[serde(default)]
    pub counted: u32,
}

/// Where triggered lore and notes go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    #[default]
    CacheFirst,
    Classic,
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
    pub shares: PromptShares,
    pub placement: Placement,
    pub epoch: u32,
    /// Why an epoch begins with this turn; `null` where none does.
    pub new_epoch: Option<String>,
    /// First message in the window.
    pub anchor: Option<String>,
    pub model: String,
    /// Id of the prompt template.
    pub template: String,
    /// What the user may want to know, such as macros that nobody knows.
    pub notices: Vec<String>,
    pub timings: AssemblyTimings,
}

/// A job beside the chat, with a prompt of its own behind the chat's (S4.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Ask {
    /// Goes on with the last reply; in words only where the model does not find its own.
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
    /// The JSON of a template that is not stored; it stands in the place of `template`.
    pub template_json: Option<String>,
    /// The prompt of a job beside the chat instead of the next turn's.
    pub ask: Option<Ask>,
    /// What would be sent with the words.
    pub pictures: Vec<Picture>,
    /// Another version of the last reply instead of the next turn; with words it has no effect.
    pub regenerate: bool,
}

/// A past turn, for the list on the X-ray's page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PastTurn {
    pub message: String,
    pub swipe: String,
    /// The start of the reply.
    pub line: String,
    pub created: String,
    pub model: Option<String>,
    pub figures: Figures,
}

/// What a piece of text is in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    Same,
    Added,
    Removed,
}

/// Lines that changed alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChangedText {
    pub change: Change,
    pub text: String,
}

/// What a prompt goes through, in this order (S0.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum PromptStage {
    /// All that may be sent, as it is written: variables and macros still named.
    Sources,
    /// The same, after variables, macros and regex scripts.
    Filled,
    /// What the budget keeps of it.
    Budget,
    /// With the prompt's words around it and the model's control text, as it goes out.
    Sent,
}

/// A prompt at one stage, beside itself at the stage before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct StageComparison {
    pub stage: PromptStage,
    /// `null` for the first stage.
    pub before: Option<PromptStage>,
    /// Line by line; blocks and runs of control text begin on lines of their own.
    pub parts: Vec<ChangedText>,
}

/// A prompt beside that of the turn before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptComparison {
    /// The swipe of the turn it is compared with; `null` where there is none.
    pub previous: Option<String>,
    pub parts: Vec<ChangedText>,
}
