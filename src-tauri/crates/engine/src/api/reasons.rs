//! Why a block is a candidate for the prompt: reasons as codes, and the parts of its score.

use std::collections::BTreeMap;

pub use context::frame::{Signal, SignalKind};
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
