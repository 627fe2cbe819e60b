//! Part of the protocol: rules about the tokens of a reply, and the order of the samplers.

use serde::{Deserialize, Serialize};

/// Maximum number of alternatives that are reported for a token.
pub const MAX_ALTERNATIVES: u32 = 20;

/// Rules of one reply. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WireRules {
    /// Order of application. Missing stages do not apply; an empty list means the order of
    /// llama.cpp.
    pub order: Vec<WireStage>,
    /// Biases of one token add up.
    pub logit_bias: Vec<WireBias>,
    /// Texts that do not occur in the reply, in any letter case.
    pub banned_strings: Vec<String>,
    /// Sequence breakers of DRY.
    pub dry_breakers: Vec<String>,
    /// GBNF with a rule `root`. The reply matches it, or a prefix of a match if it ends by length.
    pub grammar: Option<String>,
    /// JSON Schema. Ignored if there is a grammar.
    pub json_schema: Option<String>,
    /// End tokens are excluded up to this number of tokens.
    pub min_tokens: u32,
    /// End tokens are always excluded.
    pub ban_end_token: bool,
    /// Number of alternatives to report for each token, at most [`MAX_ALTERNATIVES`]; 0 reports
    /// nothing.
    pub alternatives: u32,
}

/// A sampler with a place in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireStage {
    Penalties,
    Dry,
    TopNSigma,
    TopK,
    TypicalP,
    TopP,
    MinP,
    Xtc,
    Temperature,
}

impl WireStage {
    /// Order of llama.cpp.
    pub const DEFAULT: [Self; 9] = [
        Self::Penalties,
        Self::Dry,
        Self::TopNSigma,
        Self::TopK,
        Self::TypicalP,
        Self::TopP,
        Self::MinP,
        Self::Xtc,
        Self::Temperature,
    ];
}

/// A number to add to the logits of tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireBias {
    pub ids: Vec<u32>,
    /// Texts whose tokens all get the bias.
    pub texts: Vec<String>,
    /// -100 or less excludes the tokens.
    pub bias: f32,
}

/// A generated token and the tokens that the model considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenChoice {
    /// Whole characters. The texts of all tokens form the reply.
    pub text: String,
    /// Natural logarithm of the probability, before all samplers.
    pub logprob: f32,
    /// Likeliest first. May contain the token itself.
    pub alternatives: Vec<TokenAlternative>,
}

/// A token that the model considered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenAlternative {
    pub text: String,
    pub logprob: f32,
}
