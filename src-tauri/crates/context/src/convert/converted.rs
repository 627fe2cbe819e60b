//! The results of a conversion.

use std::collections::BTreeMap;

use domain::settings::ConfigValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::convert::note::ConversionNote;
use crate::prompt_template::PromptTemplate;

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
