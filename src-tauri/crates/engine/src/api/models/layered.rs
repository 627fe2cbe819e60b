//! Settings with their layers: value, origin, owner.

use domain::{CharacterId, ChatId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::ModelRef;

/// The owner of a layer of settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "scope", rename_all = "camelCase")]
pub enum SettingOwner {
    Global,
    Model { model: ModelRef },
    Character { id: CharacterId },
    Chat { id: ChatId },
}

/// A layer of settings. Later ones override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingLayer {
    BuiltIn,
    /// The suggestions of the chosen prompt template.
    Template,
    Global,
    Model,
    Character,
    Chat,
    Environment,
}

/// The value of a setting, as plain JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(untagged)]
pub enum SettingValue {
    Switch(bool),
    Whole(u32),
    Number(#[specta(type = u32)] f64),
    Text(String),
}

/// The values that a setting accepts. Ranges include both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum SettingKind {
    Switch,
    /// A whole number, or `word` in its place, such as `auto` or `off`.
    Whole {
        word: Option<String>,
        min: u32,
        max: u32,
    },
    Number {
        #[specta(type = u32)]
        min: f64,
        #[specta(type = u32)]
        max: f64,
    },
    Choice {
        words: Vec<String>,
    },
    /// The name of something, or `word` if the app chooses.
    Name {
        word: String,
        /// The choices.
        choices: Vec<SettingChoice>,
    },
    /// At most `max` bytes.
    Text {
        max: u32,
    },
    /// A text of at most `max` bytes that follows a syntax.
    Code {
        max: u32,
    },
    /// These names in any order, separated by commas.
    Order {
        names: Vec<String>,
    },
}

/// Something that a setting can name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingChoice {
    pub name: String,
    pub title: String,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingUnit {
    None,
    Tokens,
    Messages,
    Exchanges,
}

/// The section in which a setting is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingGroup {
    Context,
    Prompt,
    Story,
    Chat,
    Tools,
    Sampler,
    Loading,
    Privacy,
}

/// The value of a setting on one layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingAt {
    pub layer: SettingLayer,
    /// Absent if it cannot be read.
    pub value: Option<SettingValue>,
    /// Why it is not used.
    pub problem: Option<String>,
}

/// Another setting that can switch this one off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingSilencer {
    pub key: String,
    /// This one is off if the other is 0; otherwise, if the other is not 0.
    pub at_zero: bool,
}

/// Why a setting has no effect with the model in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingInactive {
    /// The endpoint has refused it.
    Refused,
    /// The endpoint accepts only the parameters of OpenAI's own API.
    PlainApi,
    /// It works only with local models.
    LocalOnly,
}

/// One setting, with the value in use and the layer that it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LayeredSetting {
    pub key: String,
    pub group: SettingGroup,
    pub kind: SettingKind,
    pub unit: SettingUnit,
    /// The built-in value.
    pub default: SettingValue,
    pub value: SettingValue,
    pub origin: SettingLayer,
    /// The sampler preset that contains the value and was chosen on that layer.
    pub preset: Option<String>,
    /// The layers on which it may be set.
    pub scopes: Vec<SettingLayer>,
    /// The layers on which it is set, lowest first.
    pub layers: Vec<SettingAt>,
    /// The settings that can switch it off, whatever its value is.
    pub silencers: Vec<SettingSilencer>,
    /// Why it has no effect with the model in use, whatever its value is.
    pub inactive: Option<SettingInactive>,
    /// The environment variable that overrides it.
    pub variable: String,
}

/// Every setting as it is for one owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LayeredSettings {
    pub settings: Vec<LayeredSetting>,
    /// Contradictory settings, as a text with the sum. The budget still stays within the limit.
    pub contradictions: Vec<String>,
    /// The model whose layer applies.
    pub model: Option<ModelRef>,
    /// The character whose layer applies.
    pub character: Option<CharacterId>,
}
