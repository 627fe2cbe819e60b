//! Outcome of an activation: every entry that was considered, with the reason for the decision.

use std::sync::Arc;

use domain::lorebook::{InsertionRole, Uid};
use serde::{Serialize, Serializer};

use super::position::EntryPosition;
use super::{TimedState, timed_state};

/// The result of one activation. Active entries are in the order in which they were accepted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoreOutcome {
    pub activated: Vec<Activated>,
    /// In list order.
    pub rejected: Vec<Rejected>,
    pub passes: Vec<Pass>,
    /// Token budget for lore.
    pub budget: u32,
    /// Tokens of the active entries, counted entry by entry.
    pub tokens: u32,
    /// An entry did not fit.
    pub overflowed: bool,
    /// The work limit for patterns was reached: some keys of the form `/.../` were not tried.
    pub patterns_exhausted: bool,
    /// To be stored with the chat; unchanged after a preview.
    pub timed: TimedState,
    /// Prompts that active entries disable (`@@disable_ui_prompt`).
    pub disabled_prompts: Vec<UiPrompt>,
    /// No entries are bound.
    pub no_entries: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Activated {
    pub book: Arc<str>,
    pub uid: Uid,
    /// Starts at 0.
    pub pass: u32,
    pub reason: Reason,
    /// The primary key that matched, as written in the entry.
    pub key: Option<String>,
    /// The position of the match; a message by its index in the input.
    #[serde(rename = "message", serialize_with = "message")]
    pub found: Option<KeyLocation>,
    #[serde(flatten)]
    pub place: EntryPosition,
    pub role: InsertionRole,
    #[serde(serialize_with = "order")]
    pub order: f64,
    pub content: String,
    /// Hidden keys in the text, which other entries can match and which are not sent.
    #[serde(skip)]
    pub hidden_keys: Vec<String>,
    pub tokens: u32,
    /// Active because of an earlier turn.
    pub sticky: bool,
    /// Index of the entry in its book.
    #[serde(skip)]
    pub index: usize,
}

/// Only a message has a number; `reason` identifies the other sources.
fn message<S: Serializer>(found: &Option<KeyLocation>, serializer: S) -> Result<S::Ok, S::Error> {
    match found {
        Some(KeyLocation::Message(index)) => serializer.serialize_some(index),
        _ => serializer.serialize_none(),
    }
}

/// Serializes integral values as integers, which nearly all files use.
fn order<S: Serializer>(order: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if order.fract() == 0.0 {
        serializer.serialize_i64(*order as i64)
    } else {
        serializer.serialize_f64(*order)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    pub book: Arc<str>,
    pub uid: Uid,
    pub rule: Rule,
    /// Index of the entry in its book.
    #[serde(skip)]
    pub index: usize,
}

/// The reason why an entry is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Key,
    Constant,
    Sticky,
    /// `@@activate`.
    Decorator,
    /// Found by other means than keys, such as a vector search.
    External,
    /// `@@keep_activate_after_match`.
    Kept,
}

/// The text that contains a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLocation {
    /// Index in the input.
    Message(usize),
    Persona,
    Description,
    Personality,
    DepthPrompt,
    Scenario,
    CreatorNotes,
    /// The author's note or another prompt.
    Prompt,
    /// The text of an entry of an earlier pass.
    Entry,
    /// A key that matches without any text.
    Anywhere,
}

/// The rule that rejected an entry when it was last considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// No pass ran.
    NotConsidered,
    Disabled,
    /// The entry does not apply to this kind of generation.
    Trigger,
    CharacterFilter,
    TagFilter,
    /// The chat is too short.
    Delay,
    Cooldown,
    /// Only a recursion pass may trigger it, and this was not one.
    DelayUntilRecursion,
    /// Its recursion level was not reached.
    RecursionLevel,
    ExcludeRecursion,
    /// `@@dont_activate`.
    DontActivate,
    /// `@@activate_only_after` or `@@activate_only_every`.
    MessageCount,
    /// `@@is_greeting`.
    Greeting,
    /// `@@is_user_icon`.
    UserIcon,
    /// `@@dont_activate_after_match`.
    MatchedBefore,
    NoKeys,
    KeyNotFound,
    SecondaryKeys,
    /// `@@additional_keys`.
    AdditionalKeys,
    /// `@@exclude_keys`.
    ExcludeKeys,
    /// Another member of its group was chosen.
    Group,
    /// The probability roll failed.
    Probability,
    Budget,
    /// The budget of the book.
    BookBudget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    pub kind: PassKind,
    /// Number of entries that it added.
    pub added: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassKind {
    First,
    /// Scans the texts of entries.
    Recursion,
    /// Scans further back in the chat, to reach the minimum of activations.
    Widened,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UiPrompt {
    SystemPrompt,
    PostHistoryInstructions,
}

impl Activated {
    /// The key of timed effects.
    pub fn id(&self) -> String {
        timed_state::id(&self.book, self.uid.as_str())
    }
}
