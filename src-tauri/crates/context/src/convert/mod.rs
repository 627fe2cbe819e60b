//! SillyTavern's presets in our forms: prompt manager, context, instruct, system prompt and sampler presets, and the
//! bundle of all (formats.md 1.5, 1.6); and RisuAI's (3.6).
//!
//! Nothing is guessed silently: what has no counterpart stands in the report. The original JSON is the store's to keep.

mod bundle;
mod context_template;
mod instruct;
mod own_parts;
mod prompt_manager;
mod risuai;
mod sampler;
mod story_string;
mod system_prompt;

use std::collections::BTreeMap;

use domain::settings::Value as SettingValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use sampler::write_sampler;

use crate::prompt_template::{Line, PromptTemplate, SCHEMA, Section, VERSION, escape, slug};

/// Bytes of a preset's file at the most.
pub const MAX_BYTES: usize = 8 << 20;

/// What a file of a preset is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresetKind {
    /// Chat completion: prompts in an order, and samplers.
    PromptManager,
    /// The story string and what goes with it.
    Context,
    /// A model's turn markers.
    Instruct,
    SystemPrompt,
    Sampler,
    /// Several of them in one file.
    Bundle,
    /// RisuAI's: prompts in an order, and samplers.
    RisuAi,
}

/// A preset in our forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    pub kind: PresetKind,
    pub name: String,
    /// The first is for chats; others are for jobs beside them.
    pub templates: Vec<PromptTemplate>,
    pub format: Option<InstructFormat>,
    pub sampling: Option<SamplerPreset>,
    /// What has no counterpart, or is done in another way.
    pub report: Vec<Note>,
}

/// A model's turn markers as a Jinja template, as `chat_template` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructFormat {
    pub name: String,
    pub jinja: String,
    /// Texts that end a reply.
    pub stop: Vec<String>,
}

/// Samplers that we have, by the keys of our settings, and the values of those we do not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplerPreset {
    pub name: String,
    pub values: BTreeMap<String, SettingValue>,
    /// As they were, for the export.
    pub kept: Map<String, Value>,
}

/// A field that did not come over as it is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    pub field: String,
    pub what: String,
}

impl Note {
    fn new(field: impl Into<String>, what: impl Into<String>) -> Self {
        Self { field: field.into(), what: what.into() }
    }
}

/// A file that is no preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    #[error("the preset is larger than {} MiB, the most that is read", MAX_BYTES >> 20)]
    TooLarge,
    #[error("the file is no JSON: {message}")]
    NotJson { message: String },
    #[error("this is none of the presets that can be read: prompt manager, context, instruct, system prompt, sampler")]
    NotAPreset,
}

/// Converts the preset in `json`; `name` is the file's, for presets that do not say their own.
///
/// # Errors
/// [`ConvertError`] where the file is no preset. Odd values inside one are reported, not refused.
pub fn convert(name: &str, json: &str) -> Result<Converted, ConvertError> {
    if json.len() > MAX_BYTES {
        return Err(ConvertError::TooLarge);
    }
    let value: Value = serde_json::from_str(json.trim_start_matches('\u{feff}'))
        .map_err(|error| ConvertError::NotJson { message: error.to_string() })?;
    let preset = value.as_object().ok_or(ConvertError::NotAPreset)?;
    let kind = kind_of(preset).ok_or(ConvertError::NotAPreset)?;
    let name = match text(preset, "name").trim() {
        "" => name,
        own => own,
    };
    let mut converted = Converted {
        kind,
        name: name.to_owned(),
        templates: Vec::new(),
        format: None,
        sampling: None,
        report: Vec::new(),
    };
    match kind {
        PresetKind::PromptManager => prompt_manager::convert(preset, &mut converted),
        PresetKind::Context => {
            converted.templates = vec![context_template::convert(preset, name, &mut converted.report)]
        }
        PresetKind::Instruct => converted.format = Some(instruct::convert(preset, name, &mut converted.report)),
        PresetKind::SystemPrompt => converted.templates = vec![system_prompt::convert(preset, name)],
        PresetKind::Sampler => converted.sampling = Some(sampler::convert(preset, name, &[], &mut converted.report)),
        PresetKind::Bundle => bundle::convert(preset, &mut converted),
        PresetKind::RisuAi => risuai::convert(preset, &mut converted),
    }
    Ok(converted)
}

/// What a preset is, by the fields that only it has.
pub fn kind_of(preset: &Map<String, Value>) -> Option<PresetKind> {
    let has = |field: &str| preset.contains_key(field);
    let part = |field: &str| preset.get(field).is_some_and(Value::is_object);
    if risuai::is_risuai(preset) {
        Some(PresetKind::RisuAi)
    } else if part("instruct") || part("context") || part("sysprompt") || part("preset") {
        Some(PresetKind::Bundle)
    } else if preset.get("prompts").is_some_and(Value::is_array) {
        Some(PresetKind::PromptManager)
    } else if has("story_string") {
        Some(PresetKind::Context)
    } else if has("input_sequence") || has("output_sequence") {
        Some(PresetKind::Instruct)
    } else if preset.get("content").is_some_and(Value::is_string) {
        Some(PresetKind::SystemPrompt)
    } else if ["temp", "temperature", "top_p", "rep_pen"].into_iter().any(has) {
        Some(PresetKind::Sampler)
    } else {
        None
    }
}

/// A field's text; empty where it has none.
fn text<'p>(preset: &'p Map<String, Value>, field: &str) -> &'p str {
    preset.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn flag(preset: &Map<String, Value>, field: &str) -> bool {
    preset.get(field).and_then(Value::as_bool).unwrap_or_default()
}

/// A text of the user's as a line: its dollar signs are no variables of ours.
fn literal(text: &str) -> Line {
    Line::Always(escape(text))
}

/// An empty template of that name.
fn template(name: &str) -> PromptTemplate {
    PromptTemplate {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        id: format!("imported-{}", slug(name)),
        name: name.to_owned(),
        ..Default::default()
    }
}

fn excluded(name: &str) -> Section {
    Section { name: name.to_owned(), exclude: true, ..Default::default() }
}

/// A section that stands instead of the parent's.
fn override_of(name: &str, line: Line) -> Section {
    Section { name: name.to_owned(), overrides: true, lines: vec![line], ..Default::default() }
}
