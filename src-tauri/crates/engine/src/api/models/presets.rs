//! Types that shape prompts: templates, modes, regex scripts, sampler presets, chat formats.

use std::collections::BTreeMap;

pub use context::prompt_template::{Severity, TemplateKind};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::SettingValue;

/// A part of a prompt that exports to a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum PromptFile {
    RegexScript,
    QuickReplies,
    Template,
}

/// A prompt template in the list of templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSummary {
    pub id: String,
    pub name: String,
    pub description: String,
    pub kind: TemplateKind,
    pub built_in: bool,
    /// A built-in template that the user has changed; a reset restores the original.
    pub changed: bool,
}

/// A template to edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateDocument {
    pub summary: TemplateSummary,
    pub json: String,
}

/// A problem in a template, and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateProblem {
    pub severity: Severity,
    pub section: Option<String>,
    pub variable: Option<String>,
    pub message: String,
}

/// A section, rendered for a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RenderedSection {
    pub name: String,
    pub text: String,
    pub tokens: u32,
}

/// A template, rendered for a chat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RenderedTemplate {
    pub text: String,
    pub sections: Vec<RenderedSection>,
    pub tokens: u32,
    pub problems: Vec<TemplateProblem>,
}

/// A variable that templates may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct VariableDoc {
    pub name: String,
    pub group: String,
    pub description: String,
    pub inputs: Vec<String>,
}

/// A style of talking that can be switched during a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Mode {
    pub name: String,
    pub text: String,
    pub built_in: bool,
    pub changed: bool,
}

/// A regex script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RegexScriptRow {
    /// Empty for a new one.
    pub id: String,
    pub name: String,
    /// In SillyTavern's format.
    pub json: String,
    pub enabled: bool,
    /// Why it does not run, if it does not.
    pub problem: Option<String>,
}

/// The result of a regex script on a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ScriptTrial {
    /// The sample itself, if the script failed.
    pub text: String,
    /// Number of matches that were replaced.
    pub hits: u32,
    /// Why it failed, if it did.
    pub problem: Option<String>,
    /// It exceeded its limits and was stopped.
    pub overrun: bool,
}

/// The regex scripts of a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CardScripts {
    /// The user allows them to run.
    pub allowed: bool,
    pub scripts: Vec<RegexScriptRow>,
}

/// Sampler values under a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SamplerPreset {
    /// Empty for a new one. The setting `sampler_preset` contains it.
    pub id: String,
    pub name: String,
    /// It ships with the app, and can be copied but not changed.
    #[serde(default)]
    pub built_in: bool,
    /// By the keys of settings. Settings that are absent stay as they are.
    pub values: BTreeMap<String, SettingValue>,
}

/// How a prompt marks who is speaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatFormat {
    /// Empty for a new one. The setting `chat_format` contains it.
    pub id: String,
    pub name: String,
    /// A Jinja chat template, as in model files.
    pub jinja: String,
    /// Texts that end a reply.
    pub stop: Vec<String>,
    pub built_in: bool,
}
