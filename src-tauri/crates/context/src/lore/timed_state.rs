//! State of timed effects, which one turn leaves to the next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// State that one turn leaves to the next, by book and uid. Stored with the chat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TimedState {
    pub sticky: BTreeMap<String, Effect>,
    pub cooldown: BTreeMap<String, Effect>,
    /// Entries with a decorator that depends on earlier matches.
    pub matched: BTreeMap<String, Effect>,
}

/// Positions are numbers of messages that are not hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub start: u32,
    pub end: u32,
    /// Stays active even if the chat does not advance.
    pub protected: bool,
    /// Hash of the entry, to detect changes.
    pub hash: String,
}

pub(super) fn id(book: &str, uid: &str) -> String {
    format!("{book}.{uid}")
}
