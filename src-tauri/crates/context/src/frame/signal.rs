//! Why something was found, in figures.

use serde::{Deserialize, Serialize};

/// What speaks for a candidate, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    pub of: SignalKind,
    pub value: f32,
}

/// What a [`Signal`] looks at (memory.md, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

impl SignalKind {
    pub fn is(self, value: f32) -> Signal {
        Signal { of: self, value }
    }
}
