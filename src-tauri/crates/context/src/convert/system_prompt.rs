//! System prompt presets: one text replaces the rules, another one the end of the prompt.

use serde_json::{Map, Value};

use crate::convert::sections::{excluded, literal, override_of, template, text};
use crate::prompt_template::{PromptTemplate, Section};

pub(super) fn convert(preset: &Map<String, Value>, name: &str) -> PromptTemplate {
    let sections = sections(preset);
    PromptTemplate {
        extends: Some("base-roleplay".to_owned()),
        sections,
        ..template(name)
    }
}

/// Overrides for the rules and for the end of the base template.
pub(super) fn sections(preset: &Map<String, Value>) -> Vec<Section> {
    let mut sections = Vec::new();
    if !text(preset, "content").trim().is_empty() {
        sections.extend([
            excluded("identity"),
            override_of("rules", literal(text(preset, "content"))),
        ]);
    }
    if !text(preset, "post_history").trim().is_empty() {
        sections.push(override_of(
            "postHistory",
            literal(text(preset, "post_history")),
        ));
    }
    sections
}
