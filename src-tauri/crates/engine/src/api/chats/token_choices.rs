//! Probabilities of the tokens of a reply.

use serde::{Deserialize, Serialize};
use specta::Type;

/// The tokens of a reply. Empty if none were recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TokenChoices {
    /// The text before the first token.
    pub before: String,
    pub tokens: Vec<TokenChoice>,
}

/// A token of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TokenChoice {
    pub text: String,
    /// 0 to 1, before all samplers.
    #[specta(type = u32)]
    pub probability: f64,
    /// Likeliest first. May contain the token itself.
    pub alternatives: Vec<TokenAlternative>,
}

/// A token that the model considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TokenAlternative {
    pub text: String,
    /// 0 to 1, before all samplers.
    #[specta(type = u32)]
    pub probability: f64,
}
