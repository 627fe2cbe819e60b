//! Sampler parameters.

mod grammar;
mod order;
mod rules;
pub mod token_choice;

use serde::{Deserialize, Serialize};

pub use grammar::{GrammarRefusal, MAX_BYTES, check_grammar, check_schema};
pub use order::{STAGES, SamplerOrder, SamplerStage};
pub use rules::{
    LogitBias, NEVER, TokenRules, TokenSelector, banned_tokens, escaped, logit_biases, texts,
};

use crate::settings::Values;

/// Sampler values of one turn. Missing values come from the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplerOptions {
    pub temperature: Option<f32>,
    pub top_p: Option<f32>,
    pub top_k: Option<u32>,
    pub min_p: Option<f32>,
    pub repeat_penalty: Option<f32>,
    pub max_tokens: Option<u32>,
    pub seed: Option<u32>,
}

impl SamplerOptions {
    /// Overrides `base` with the values set here.
    pub fn over(self, base: Sampling) -> Sampling {
        Sampling {
            temperature: self.temperature.unwrap_or(base.temperature),
            top_p: self.top_p.unwrap_or(base.top_p),
            top_k: self.top_k.unwrap_or(base.top_k),
            min_p: self.min_p.unwrap_or(base.min_p),
            repeat_penalty: self.repeat_penalty.unwrap_or(base.repeat_penalty),
            max_tokens: self.max_tokens.unwrap_or(base.max_tokens),
            seed: self.seed.unwrap_or(base.seed),
            ..base
        }
    }

    /// Fills missing values with the built-in settings. The caller draws `seed`, because this crate
    /// uses no randomness.
    pub fn resolve(self, seed: u32) -> Sampling {
        self.over(Values::default().sampling(seed))
    }
}

/// Complete sampler values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 always takes the most likely token.
    pub temperature: f32,
    /// 1 is off.
    pub top_p: f32,
    /// 0 is off.
    pub top_k: u32,
    /// 0 is off.
    pub min_p: f32,
    /// 1 is off.
    pub typical_p: f32,
    /// 0 is off.
    pub top_n_sigma: f32,
    /// 1 is off.
    pub repeat_penalty: f32,
    /// Number of tokens that the penalties look back; 0 is off.
    pub repeat_range: u32,
    /// 0 is off.
    pub frequency_penalty: f32,
    /// 0 is off.
    pub presence_penalty: f32,
    pub dry: Dry,
    pub xtc: Xtc,
    pub mirostat: Mirostat,
    pub dynatemp: Dynatemp,
    /// Maximum length of a reply, in tokens.
    pub max_tokens: u32,
    pub seed: u32,
    pub order: SamplerOrder,
    pub rules: TokenRules,
    /// Number of alternatives to record for each token of a local reply; 0 records nothing.
    pub alternatives: u32,
}

/// DRY: penalty for repeating an earlier sequence, which grows with its length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dry {
    /// 0 is off.
    pub multiplier: f32,
    pub base: f32,
    /// Length of a repetition without penalty, in tokens.
    pub allowed_length: u32,
    /// Number of tokens to look back; 0 is all.
    pub range: u32,
    /// Texts that a repetition does not cross.
    pub breakers: Vec<String>,
}

/// XTC: occasionally excludes the most likely tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Xtc {
    /// 0 is off.
    pub probability: f32,
    /// Above 0.5 it has no effect.
    pub threshold: f32,
}

/// Mirostat: keeps the perplexity of the text steady and replaces the other cut-offs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mirostat {
    /// 0 is off; 1 or 2 selects the version.
    pub version: u32,
    /// Target surprise, in bits.
    pub tau: f32,
    /// Learning rate.
    pub eta: f32,
}

/// Dynamic temperature, which depends on the entropy of the distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dynatemp {
    /// Maximum deviation from the temperature; 0 is off.
    pub range: f32,
    pub exponent: f32,
}
