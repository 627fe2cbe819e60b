//! Converts presets of SillyTavern (prompt manager, context, instruct, system prompt, sampler, and
//! bundles) and of RisuAI.
//!
//! The report lists every field without a counterpart. The caller stores the original JSON.

mod bundle;
mod context_template;
mod instruct;
mod own_parts;
mod preset_notes;
mod prompt_manager;
mod reply_defaults;
mod risuai;
mod sampler;
mod sampler_texts;
mod story_string;
mod system_prompt;

use std::collections::BTreeMap;

use domain::settings::ConfigValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use sampler::write_sampler;

use crate::prompt_template::{
    PromptTemplate, SCHEMA, Section, TemplateLine, VERSION, escape, slug,
};

/// Maximum size of a preset file in bytes.
pub const MAX_BYTES: usize = 8 << 20;

/// The kind of a preset file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertedKind {
    /// Chat completion: ordered prompts and samplers.
    PromptManager,
    /// The story string and related settings.
    Context,
    /// Turn markers of a model.
    Instruct,
    SystemPrompt,
    Sampler,
    /// Several presets in one file.
    Bundle,
    /// RisuAI: ordered prompts and samplers.
    RisuAi,
}

/// A converted preset.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    pub kind: ConvertedKind,
    pub name: String,
    /// The first template is for chats; others are for background jobs.
    pub templates: Vec<PromptTemplate>,
    pub format: Option<InstructFormat>,
    pub sampling: Option<SamplerPreset>,
    /// Fields without a counterpart, or with another effect.
    pub report: Vec<ConversionNote>,
}

/// Turn markers as a Jinja template for `chat_template`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructFormat {
    pub name: String,
    pub jinja: String,
    /// Texts that end a reply.
    pub stop: Vec<String>,
}

/// Sampler values: `values` has the supported ones by our setting keys, `kept` the other fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplerPreset {
    pub name: String,
    pub values: BTreeMap<String, ConfigValue>,
    /// Original fields, written back on export.
    pub kept: Map<String, Value>,
}

/// A field that was not converted exactly.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ConversionNote {
    pub field: String,
    pub what: String,
}

impl ConversionNote {
    fn new(field: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            what: what.into(),
        }
    }
}

/// The file cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    #[error("the preset is larger than {} MiB and cannot be read", MAX_BYTES >> 20)]
    TooLarge,
    #[error("the file is not valid JSON: {message}")]
    NotJson { message: String },
    #[error(
        "this file is not a preset of a supported kind: prompt manager, context, instruct, system prompt or sampler"
    )]
    NotAPreset,
}

/// Converts the preset in `json`. `name` is the file name, used if the preset has no name.
///
/// Errors [`ConvertError`] if the file is not a preset. Invalid values inside a preset are reported
/// instead.
pub fn convert(name: &str, json: &str) -> Result<Converted, ConvertError> {
    if json.len() > MAX_BYTES {
        return Err(ConvertError::TooLarge);
    }
    let value: Value =
        serde_json::from_str(json.trim_start_matches('\u{feff}')).map_err(|error| {
            ConvertError::NotJson {
                message: error.to_string(),
            }
        })?;
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
        ConvertedKind::PromptManager => prompt_manager::convert(preset, &mut converted),
        ConvertedKind::Context => {
            converted.templates = vec![context_template::convert(
                preset,
                name,
                &mut converted.report,
            )]
        }
        ConvertedKind::Instruct => {
            converted.format = Some(instruct::convert(preset, name, &mut converted.report))
        }
        ConvertedKind::SystemPrompt => {
            converted.templates = vec![system_prompt::convert(preset, name)]
        }
        ConvertedKind::Sampler => {
            converted
                .report
                .extend(preset_notes::texts_beside_samplers(preset));
            converted.sampling = Some(sampler::convert(preset, name, &[], &mut converted.report));
        }
        ConvertedKind::Bundle => bundle::convert(preset, &mut converted),
        ConvertedKind::RisuAi => risuai::convert(preset, &mut converted),
    }
    Ok(converted)
}

/// Detects the kind of a preset by its characteristic fields.
pub fn kind_of(preset: &Map<String, Value>) -> Option<ConvertedKind> {
    let has = |field: &str| preset.contains_key(field);
    let part = |field: &str| preset.get(field).is_some_and(Value::is_object);
    if risuai::is_risuai(preset) {
        Some(ConvertedKind::RisuAi)
    } else if part("instruct") || part("context") || part("sysprompt") || part("preset") {
        Some(ConvertedKind::Bundle)
    } else if preset.get("prompts").is_some_and(Value::is_array) {
        Some(ConvertedKind::PromptManager)
    } else if has("story_string") {
        Some(ConvertedKind::Context)
    } else if has("input_sequence") || has("output_sequence") {
        Some(ConvertedKind::Instruct)
    } else if is_system_prompt(preset) {
        Some(ConvertedKind::SystemPrompt)
    } else if ["temp", "temperature", "top_p", "rep_pen", "logit_bias"]
        .into_iter()
        .any(has)
    {
        Some(ConvertedKind::Sampler)
    } else {
        None
    }
}

/// Whether this is a system prompt of SillyTavern: a text with a name, and no field of another kind
/// of file.
fn is_system_prompt(preset: &Map<String, Value>) -> bool {
    const FIELDS: [&str; 6] = [
        "name",
        "content",
        "post_history",
        "enabled",
        "default",
        "preset",
    ];
    let named = preset.get("name").is_some_and(Value::is_string);
    let content = preset.get("content").is_some_and(Value::is_string);
    named && content && preset.keys().all(|field| FIELDS.contains(&field.as_str()))
}

/// The text of a field; empty if absent.
fn text<'p>(preset: &'p Map<String, Value>, field: &str) -> &'p str {
    preset
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn flag(preset: &Map<String, Value>, field: &str) -> bool {
    preset
        .get(field)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// A user text as a line; its dollar signs are escaped, so that it contains no variables.
fn literal(text: &str) -> TemplateLine {
    TemplateLine::Always(escape(text))
}

/// An empty template with that name.
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
    Section {
        name: name.to_owned(),
        exclude: true,
        ..Default::default()
    }
}

/// A section that replaces the one of the parent.
fn override_of(name: &str, line: TemplateLine) -> Section {
    Section {
        name: name.to_owned(),
        overrides: true,
        lines: vec![line],
        ..Default::default()
    }
}
