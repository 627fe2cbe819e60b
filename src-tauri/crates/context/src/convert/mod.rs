//! Converts presets of SillyTavern (prompt manager, context, instruct, system prompt, sampler, and
//! bundles) and of RisuAI.
//!
//! The report lists every field without a counterpart. The caller stores the original JSON.

mod bundle;
mod context_template;
mod converted;
mod instruct;
mod note;
mod own_parts;
mod preset_notes;
mod prompt_manager;
mod reply_defaults;
mod risuai;
mod sampler;
mod sampler_texts;
mod sections;
mod story_string;
mod system_prompt;

pub use sampler::write_sampler;
use serde_json::{Map, Value};

pub use self::converted::{
    ConvertError, Converted, ConvertedKind, InstructFormat, MAX_BYTES, SamplerPreset,
};
pub use self::note::ConversionNote;
use self::sections::text;

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
