//! What shapes prompts: templates, modes, regex scripts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use specta::Type;

use super::SettingValue;

/// What of prompts can leave as a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum PromptFile {
    RegexScript,
    QuickReplies,
    Template,
}

/// A prompt template in the list of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSummary {
    pub id: String,
    pub name: String,
    pub description: String,
    pub kind: TemplateKind,
    pub built_in: bool,
    /// A built-in that the user has changed; resetting brings it back.
    pub changed: bool,
}

/// What a template is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum TemplateKind {
    Roleplay,
    /// Summaries, titles, extraction.
    Utility,
}

/// A template to edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateDocument {
    pub summary: TemplateSummary,
    pub json: String,
}

/// How bad a problem of a template is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// It cannot be used or saved.
    Error,
    /// It can, and does not do what it seems to.
    Warning,
}

/// What is wrong with a template, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateProblem {
    pub severity: Severity,
    pub section: Option<String>,
    pub variable: Option<String>,
    pub message: String,
}

/// A section as it comes out for a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct RenderedSection {
    pub name: String,
    pub text: String,
    pub tokens: u32,
}

/// A template, filled in for a chat.
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

/// A way of talking that can be switched during a chat.
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
    /// As SillyTavern writes it.
    pub json: String,
    pub enabled: bool,
    /// Why it does not run, if it does not.
    pub problem: Option<String>,
}

/// A regex script, tried on a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ScriptTrial {
    /// As the sample was, where the script failed.
    pub text: String,
    /// Matches that were replaced.
    pub hits: u32,
    /// Why it failed, if it did.
    pub problem: Option<String>,
    /// It cost too much and was stopped.
    pub overrun: bool,
}

/// The regex scripts that a card brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CardScripts {
    /// The user lets them run.
    pub allowed: bool,
    pub scripts: Vec<RegexScriptRow>,
}

/// Named values of samplers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SamplerPreset {
    /// Empty for a new one; what the setting `sampler_preset` names.
    pub id: String,
    pub name: String,
    /// By the keys of settings; what is not here stays as it is.
    pub values: BTreeMap<String, SettingValue>,
}

/// How a model is told whose words are whose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatFormat {
    /// Empty for a new one; what the setting `chat_format` names.
    pub id: String,
    pub name: String,
    /// A chat template, as model files carry one.
    pub jinja: String,
    /// Texts that end a reply.
    pub stop: Vec<String>,
    pub built_in: bool,
}
