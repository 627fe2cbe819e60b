//! Reads fields of presets, and writes sections of templates.

use serde_json::{Map, Value};

use crate::prompt_template::{
    PromptTemplate, SCHEMA, Section, TemplateLine, VERSION, escape, slug,
};

/// The text of a field; empty if absent.
pub(super) fn text<'p>(preset: &'p Map<String, Value>, field: &str) -> &'p str {
    preset
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub(super) fn flag(preset: &Map<String, Value>, field: &str) -> bool {
    preset
        .get(field)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

/// A user text as a line; its dollar signs are escaped, so that it contains no variables.
pub(super) fn literal(text: &str) -> TemplateLine {
    TemplateLine::Always(escape(text))
}

/// An empty template with that name.
pub(super) fn template(name: &str) -> PromptTemplate {
    PromptTemplate {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        id: format!("imported-{}", slug(name)),
        name: name.to_owned(),
        ..Default::default()
    }
}

pub(super) fn excluded(name: &str) -> Section {
    Section {
        name: name.to_owned(),
        exclude: true,
        ..Default::default()
    }
}

/// A section that replaces the one of the parent.
pub(super) fn override_of(name: &str, line: TemplateLine) -> Section {
    Section {
        name: name.to_owned(),
        overrides: true,
        lines: vec![line],
        ..Default::default()
    }
}
