//! How the next token is drawn.

use serde::{Deserialize, Serialize};

use crate::settings::Values;

/// What one turn may say; what it leaves out comes from the settings.
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
    /// Values set here win over `base`: turn over settings.
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

    /// Fills what is not set with the built-in settings. `seed` is drawn by the caller, never in passing.
    pub fn resolve(self, seed: u32) -> Sampling {
        self.over(Values::default().sampling(seed))
    }
}

/// Resolved sampling: nothing is optional any more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
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
    /// Tokens that the penalties look back on; 0 is off.
    pub repeat_range: u32,
    /// 0 is off.
    pub frequency_penalty: f32,
    /// 0 is off.
    pub presence_penalty: f32,
    pub dry: Dry,
    pub xtc: Xtc,
    pub mirostat: Mirostat,
    pub dynatemp: Dynatemp,
    /// Tokens of reply at the most.
    pub max_tokens: u32,
    pub seed: u32,
}

/// A penalty on going on with what was said before, that grows with its length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dry {
    /// 0 is off.
    pub multiplier: f32,
    pub base: f32,
    /// Tokens that may be said again for nothing.
    pub allowed_length: u32,
    /// Tokens that it looks back on; 0 is all.
    pub range: u32,
}

/// Leaves out the likeliest tokens now and then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Xtc {
    /// 0 is off.
    pub probability: f32,
    /// Above one half nothing is left out.
    pub threshold: f32,
}

/// Holds the surprise of a text steady, in place of the other cuts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mirostat {
    /// 0 is off; 1 or 2.
    pub version: u32,
    /// The surprise, in bits.
    pub tau: f32,
    /// How fast it is learned.
    pub eta: f32,
}

/// A temperature that follows how sure the model is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dynatemp {
    /// On either side of the temperature; 0 is off.
    pub range: f32,
    pub exponent: f32,
}
