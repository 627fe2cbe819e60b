//! What came of it: every entry that was considered, with its reason.

use std::sync::Arc;

use domain::lorebook::{Role, Uid};
use serde::{Serialize, Serializer};

use super::placement::Place;
use super::{TimedState, timed};

/// What one activation found. Entries are in the order in which they were accepted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoreOutcome {
    pub activated: Vec<Activated>,
    /// In the order of the list of entries.
    pub rejected: Vec<Rejected>,
    pub passes: Vec<Pass>,
    /// Tokens that lore may take, and those that it takes, counted entry by entry.
    pub budget: u32,
    pub tokens: u32,
    /// Something did not fit.
    pub overflowed: bool,
    /// Patterns ran out of their share of work: some keys in the form `/.../` were not tried.
    pub patterns_exhausted: bool,
    /// To be stored with the chat; after a preview as it was.
    pub timed: TimedState,
    /// Prompts that active entries ask to leave out (`@@disable_ui_prompt`).
    pub disabled_prompts: Vec<UiPrompt>,
    /// Nothing is bound at all.
    pub no_entries: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Activated {
    pub book: Arc<str>,
    pub uid: Uid,
    /// Counted from 0.
    pub pass: u32,
    pub reason: Reason,
    /// The primary key that was found, as the entry has it.
    pub key: Option<String>,
    /// Where it was found; a message by its place in the input.
    #[serde(rename = "message", serialize_with = "message")]
    pub found: Option<Found>,
    #[serde(flatten)]
    pub place: Place,
    pub role: Role,
    #[serde(serialize_with = "order")]
    pub order: f64,
    pub content: String,
    /// What its text holds for other entries' keys, and is not sent (MC-07).
    #[serde(skip)]
    pub hidden_keys: Vec<String>,
    pub tokens: u32,
    /// It was held by an earlier turn.
    pub sticky: bool,
    /// The index of the entry in its book.
    #[serde(skip)]
    pub index: usize,
}

/// Only a message has a number; the other sources are told by the reason.
fn message<S: Serializer>(found: &Option<Found>, serializer: S) -> Result<S::Ok, S::Error> {
    match found {
        Some(Found::Message(index)) => serializer.serialize_some(index),
        _ => serializer.serialize_none(),
    }
}

/// Whole in nearly every file, and shown so.
fn order<S: Serializer>(order: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if order.fract() == 0.0 { serializer.serialize_i64(*order as i64) } else { serializer.serialize_f64(*order) }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    pub book: Arc<str>,
    pub uid: Uid,
    pub rule: Rule,
    /// The index of the entry in its book.
    #[serde(skip)]
    pub index: usize,
}

/// Why an entry is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Key,
    Constant,
    Sticky,
    /// `@@activate`.
    Decorator,
    /// By other means than keys, such as a vector search.
    External,
    /// `@@keep_activate_after_match`.
    Kept,
}

/// Where a key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// By its place in the input.
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
    /// A key that asks for nothing.
    Anywhere,
}

/// What kept an entry out, the last time it was considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// No pass was run.
    NotConsidered,
    Disabled,
    /// Not for this kind of generation.
    Trigger,
    CharacterFilter,
    TagFilter,
    /// The chat is too short yet.
    Delay,
    Cooldown,
    /// Only a recursion pass may wake it, and this was none.
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
    /// Another member of its group was taken.
    Group,
    /// The roll failed.
    Probability,
    Budget,
    /// The book's own budget.
    BookBudget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    pub kind: PassKind,
    /// Entries that it added.
    pub added: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassKind {
    First,
    /// Over the texts of entries.
    Recursion,
    /// Further back in the chat, for the minimum of activations.
    Widened,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UiPrompt {
    SystemPrompt,
    PostHistoryInstructions,
}

impl Activated {
    /// The name by which timed effects know it.
    pub fn id(&self) -> String {
        timed::id(&self.book, self.uid.as_str())
    }
}
