//! Settings of the app, and its health.

use domain::{ChatId, PersonaId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{LocalApiSettings, ModelRef};

/// The colour theme of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    Light,
    Dark,
    /// White on black.
    Contrast,
    #[default]
    System,
}

/// Notifications of the desktop about replies that end while the window is not in front.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum Notifications {
    Off,
    /// Without names and texts.
    #[default]
    Discreet,
    /// With the name of the chat and the beginning of the reply.
    Full,
}

/// Product settings, which are in the database. Settings that only the window needs are in the
/// shell's store, and those of prompts and replies are in `LayeredSettings`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    pub theme: Theme,
    /// Language of the interface, such as `en`; empty follows the system.
    pub language: String,
    /// Used by chats that choose no model.
    pub default_model: Option<ModelRef>,
    /// Persona of new chats.
    pub default_persona: Option<PersonaId>,
    pub notifications: Notifications,
    pub local_api: LocalApiSettings,
    /// Looks for updates once a week.
    pub weekly_update_check: bool,
    /// Locks an encrypted data folder after so many minutes without input; 0 for never.
    pub lock_after_minutes: u32,
    /// Locks an encrypted data folder when the computer sleeps or its session is locked.
    pub lock_on_suspend: bool,
    /// Lets running replies end before the app locks itself.
    pub finish_replies_before_lock: bool,
}

impl Settings {
    /// Maximum of `lock_after_minutes`: a day.
    pub const MAX_LOCK_MINUTES: u32 = 24 * 60;
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            language: String::new(),
            default_model: None,
            default_persona: None,
            notifications: Notifications::default(),
            local_api: LocalApiSettings::default(),
            weekly_update_check: false,
            lock_after_minutes: 0,
            lock_on_suspend: true,
            finish_replies_before_lock: true,
        }
    }
}

/// Product settings to change. Fields that are absent stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsChange {
    pub theme: Option<Theme>,
    pub language: Option<String>,
    pub default_model: Option<ModelRef>,
    pub default_persona: Option<PersonaId>,
    pub notifications: Option<Notifications>,
    pub local_api: Option<LocalApiSettings>,
    pub weekly_update_check: Option<bool>,
    pub lock_after_minutes: Option<u32>,
    pub lock_on_suspend: Option<bool>,
    pub finish_replies_before_lock: Option<bool>,
}

/// One line of the health report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheck {
    pub name: String,
    pub ok: bool,
    pub reason: String,
}

/// Answer to a yes-or-no question, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HealthFact {
    pub value: bool,
    pub reason: String,
}

/// Answers for programs that watch the app. None of them makes the app unhealthy by itself: a model
/// is loaded only when it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct HealthFacts {
    /// A test write has just succeeded.
    pub database_writable: HealthFact,
    /// A local model is loaded.
    pub model_loaded: HealthFact,
    /// All endpoints have just answered; `null` if they were not asked.
    pub endpoint_reachable: Option<HealthFact>,
}

/// Health of the whole app. Every failed check has a reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    pub ok: bool,
    pub version: String,
    pub checks: Vec<HealthCheck>,
    /// `null` in reports on the data alone.
    #[serde(default)]
    pub facts: Option<HealthFacts>,
}

/// The data that the window needs for its first screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Startup {
    pub version: String,
    pub settings: Settings,
    /// The chat that was open last; on the first start that of the sample character.
    pub chat: Option<ChatId>,
    /// Events before the window existed, such as replies that a crash cut off.
    pub notices: Vec<String>,
    pub data_dir: String,
}
