//! Score components of retrieved candidates.

use serde::{Deserialize, Serialize};

/// A component of the score of a candidate, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Signal {
    pub of: SignalKind,
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub value: f32,
}

/// The feature that a [`Signal`] measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum SignalKind {
    /// Lexical match with the query, in the message or around it.
    Words,
    /// Similarity of meaning.
    Nearness,
    /// Late-interaction score: how well each rare token of the query matches.
    Pieces,
    /// Similarity of the nearest sentence.
    Sentence,
    /// The speaker is the one that the query asks about.
    Who,
    /// The date matches the time that the query asks about.
    When,
    /// Names the subject of the query, and its owner.
    Named,
    /// Share of statements, as opposed to questions.
    Telling,
    Importance,
    Recency,
    /// Share that higher-ranked candidates do not already say.
    Novelty,
}

impl SignalKind {
    pub fn is(self, value: f32) -> Signal {
        Signal { of: self, value }
    }
}
