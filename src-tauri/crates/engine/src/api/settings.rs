use serde::{Deserialize, Serialize};
use specta::Type;

use super::ModelRef;

/// How the window looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    Light,
    Dark,
    #[default]
    System,
}

/// Samplers as the settings screen shows them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct SamplerSettings {
    /// 0 to 2; 0 always takes the likeliest token.
    pub temperature: f32,
    /// 0 to 1; 1 is off.
    pub top_p: f32,
    /// 0 is off.
    pub top_k: u32,
    /// 0 to 1; 0 is off.
    pub min_p: f32,
    /// 1 is off.
    pub repeat_penalty: f32,
    /// Tokens of reply at the most.
    pub max_tokens: u32,
}

impl Default for SamplerSettings {
    fn default() -> Self {
        let built_in = domain::sampling::SamplerOptions::default().resolve(0);
        Self {
            temperature: built_in.temperature,
            top_p: built_in.top_p,
            top_k: built_in.top_k,
            min_p: built_in.min_p,
            repeat_penalty: built_in.repeat_penalty,
            max_tokens: built_in.max_tokens,
        }
    }
}

/// Product settings. All of them are in the database; what only the window needs is in the shell's store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    pub theme: Theme,
    /// Language of the interface, such as `en`; empty follows the system.
    pub language: String,
    pub sampler: SamplerSettings,
    /// Tokens of context to use with local models; 0 lets the app choose.
    pub local_context: u32,
    /// Answers where a chat does not say otherwise.
    pub default_model: Option<ModelRef>,
    /// Persona of new chats.
    pub default_persona: Option<String>,
}

/// One line of the health report (S1.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheck {
    pub name: String,
    pub ok: bool,
    pub reason: String,
}

/// Health of the whole app; every check that is not ok carries a reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    pub ok: bool,
    pub version: String,
    pub checks: Vec<HealthCheck>,
}

/// What the window needs to draw its first screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Startup {
    pub version: String,
    pub settings: Settings,
    /// The chat that was open last; on the first start the sample character's.
    pub chat: Option<String>,
    /// Things that happened before the window was there, such as replies cut by a crash.
    pub notices: Vec<String>,
    pub data_dir: String,
}
