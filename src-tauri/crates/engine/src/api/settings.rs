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

/// Product settings. All of them are in the database; what only the window needs is in the shell's store, and those of
/// prompts and replies are `LayeredSettings`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    pub theme: Theme,
    /// Language of the interface, such as `en`; empty follows the system.
    pub language: String,
    /// Answers where a chat does not say otherwise.
    pub default_model: Option<ModelRef>,
    /// Persona of new chats.
    pub default_persona: Option<String>,
}

/// Product settings to change; what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsChange {
    pub theme: Option<Theme>,
    pub language: Option<String>,
    pub default_model: Option<ModelRef>,
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
