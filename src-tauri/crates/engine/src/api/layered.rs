use serde::{Deserialize, Serialize};
use specta::Type;

use super::ModelRef;

/// Whose layer of settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "scope", rename_all = "camelCase")]
pub enum SettingOwner {
    Global,
    Model { model: ModelRef },
    Character { id: String },
    Chat { id: String },
}

/// A layer of settings; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingLayer {
    BuiltIn,
    /// What the chosen prompt template suggests.
    Template,
    Global,
    Model,
    Character,
    Chat,
    Environment,
}

/// A value of a setting: plain JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(untagged)]
pub enum SettingValue {
    Switch(bool),
    Whole(u32),
    Number(#[specta(type = u32)] f64),
    Text(String),
}

/// What a setting takes. Ranges include both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum SettingKind {
    Switch,
    /// A whole number, or `word` in its place: `auto`, `off`.
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
    /// The name of something, or `word` where the app chooses.
    Name {
        word: String,
        /// What there is to choose from.
        choices: Vec<SettingChoice>,
    },
    /// At most `max` bytes.
    Text {
        max: u32,
    },
}

/// Something that a setting can name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingChoice {
    pub name: String,
    pub title: String,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingUnit {
    None,
    Tokens,
    Messages,
    Exchanges,
}

/// Where a setting is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SettingGroup {
    Context,
    Prompt,
    Story,
    Chat,
    Sampler,
}

/// What one layer says of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingAt {
    pub layer: SettingLayer,
    /// Absent where it cannot be read.
    pub value: Option<SettingValue>,
    /// Why it is not used.
    pub problem: Option<String>,
}

/// Another setting, at whose value one does nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SettingSilencer {
    pub key: String,
    /// At 0; else at anything but 0.
    pub at_zero: bool,
}

/// One setting, with the value in use and where that comes from (S4.76).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LayeredSetting {
    pub key: String,
    pub group: SettingGroup,
    pub kind: SettingKind,
    pub unit: SettingUnit,
    /// As built in.
    pub default: SettingValue,
    pub value: SettingValue,
    pub origin: SettingLayer,
    /// The sampler preset that says so, chosen on that layer.
    pub preset: Option<String>,
    /// Layers it may be set on.
    pub scopes: Vec<SettingLayer>,
    /// Layers that say something, from below.
    pub layers: Vec<SettingAt>,
    /// What can make it do nothing, whatever its value is.
    pub silencers: Vec<SettingSilencer>,
    /// The environment variable that overrides it.
    pub variable: String,
}

/// Every setting as it is for one owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LayeredSettings {
    pub settings: Vec<LayeredSetting>,
    /// What cannot all be meant at once, in words with the sum; the budget keeps within the limit all the same.
    pub contradictions: Vec<String>,
    /// The model whose layer counts.
    pub model: Option<ModelRef>,
    /// The character whose layer counts.
    pub character: Option<String>,
}
