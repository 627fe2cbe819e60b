//! Sections of a prompt template, as pages show and edit them.

use serde::{Deserialize, Serialize};
use specta::Type;

/// The sections of a chat's prompt template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptSections {
    /// Name of the template.
    pub template: String,
    /// In the order of the template.
    pub sections: Vec<PromptSection>,
    /// Size of the next prompt, before a new message; `null` if it cannot be counted.
    pub tokens: Option<u32>,
}

/// A section of a chat's prompt template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PromptSection {
    pub name: String,
    pub is_required: bool,
    pub is_on: bool,
}

/// A section of a template that is being edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSection {
    pub name: String,
    /// Lower values come first.
    pub order: i32,
    /// Empty if the section is always present.
    pub condition: String,
    /// Precedes the text; empty if there is none.
    pub heading: String,
    /// The heading is repeated before each example dialogue.
    pub repeat_heading: bool,
    pub lines: Vec<TemplateText>,
    /// Lines that are numbered in the prompt.
    pub rules: Vec<TemplateText>,
    pub is_required: bool,
    /// False if the template excludes it.
    pub is_on: bool,
    /// The template itself defines or changes it.
    pub is_own: bool,
    /// A template that this one extends has it.
    pub is_inherited: bool,
}

/// A line of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TemplateText {
    pub text: String,
    /// Empty if the line is always present.
    pub condition: String,
}
