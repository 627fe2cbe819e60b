//! Why a block is a candidate for the prompt: reasons as codes, and the parts of its score.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use specta::Type;

/// Why a block is a candidate for the prompt: a code with its values, to be translated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct BlockReason {
    pub code: String,
    #[serde(flatten)]
    pub values: BTreeMap<String, ReasonValue>,
}

/// The source of a block: a code with its values, to be translated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct SourceLabel {
    pub code: String,
    #[serde(flatten)]
    pub values: BTreeMap<String, ReasonValue>,
}

/// A value of a [`BlockReason`] or a [`SourceLabel`]: a name, a number, or several names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(untagged)]
pub enum ReasonValue {
    Number(#[specta(type = u32)] f64),
    Text(String),
    Names(Vec<String>),
}

/// One part of the score of something that was found, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct Signal {
    pub of: SignalKind,
    #[specta(type = u32)]
    pub value: f32,
}

/// The quantity that a [`Signal`] measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SignalKind {
    /// Lexical score: words of the question, in it or around it (BM25).
    Words,
    /// Cosine similarity to the question.
    Nearness,
    /// Late interaction with the rare tokens of the question (MaxSim).
    Pieces,
    /// Cosine similarity of its nearest sentence to the question.
    Sentence,
    /// It was said by the speaker that the question asks about.
    Who,
    /// It was said at the time that the question asks about.
    When,
    /// It names the same possession as the question ("my dog").
    Named,
    /// Share of it that does not consist of questions.
    Telling,
    Importance,
    Recency,
    /// Share of it that better results do not repeat.
    Novelty,
}
