//! Converts older template forms to the current one.

use serde_json::{Map, Value, json};

use super::load::{LoadError, slug};
use super::schema::{SCHEMA, VERSION};
use crate::prompt_template::variables;

/// The `schema` of the structured form that ours is based on.
pub(super) const STRUCTURED: &str = "olio.llm.promptTemplate";

/// Order of the first section; later ones follow in the same steps.
const FIRST: i64 = 10;

/// Order of the first introduction of the persona; that of the character is twice as high.
const INTRODUCTIONS: i64 = 1_000_000;

fn wrong(path: &str, message: &str) -> LoadError {
    LoadError::Field {
        path: path.to_owned(),
        section: None,
        message: message.to_owned(),
    }
}

/// Version 1: sections by name with `content`, roles with `content`.
pub(super) fn structured(mut value: Value) -> Result<Value, LoadError> {
    let template = value
        .as_object_mut()
        .ok_or_else(|| wrong(".", "a template is an object"))?;
    let name = name_of(template)?;
    template.insert("schema".into(), SCHEMA.into());
    template.insert("version".into(), VERSION.into());
    template.entry("id").or_insert_with(|| slug(&name).into());
    if let Some(Value::Object(sections)) = template.get_mut("sections").map(Value::take) {
        let listed = sections
            .into_iter()
            .map(|(name, section)| named_section(name, section));
        template.insert("sections".into(), listed.collect::<Result<_, _>>()?);
    }
    if let Some(roles) = template.get_mut("roles").and_then(Value::as_object_mut) {
        roles
            .values_mut()
            .filter_map(Value::as_object_mut)
            .for_each(content_to_lines);
    }
    Ok(value)
}

fn named_section(name: String, section: Value) -> Result<Value, LoadError> {
    let Value::Object(mut section) = section else {
        return Err(wrong(&format!("sections.{name}"), "a section is an object"));
    };
    content_to_lines(&mut section);
    if let Some((_, kind, placement)) = KNOWN.iter().find(|(known, ..)| *known == name) {
        section.entry("kind").or_insert_with(|| (*kind).into());
        section
            .entry("placement")
            .or_insert_with(|| (*placement).into());
    }
    section.insert("name".into(), name.into());
    introduction(&mut section);
    Ok(Value::Object(section))
}

/// Kind and placement of well-known sections; older forms had neither field.
const KNOWN: [(&str, &str, &str); 13] = [
    ("identity", "rules", "head"),
    ("rules", "rules", "head"),
    ("rating", "rating", "head"),
    ("description", "description", "head"),
    ("personality", "personality", "head"),
    ("scenario", "scenario", "head"),
    ("persona", "persona", "head"),
    ("scene", "scene", "head"),
    ("episode", "episode", "head"),
    ("perspective", "perspective", "head"),
    ("media", "media", "head"),
    ("examples", "examples", "head"),
    ("memory", "memory", "context"),
];

/// Texts of the user and of the character are introductions: they follow the system text, and exist
/// only while introductions are on.
fn introduction(section: &mut Map<String, Value>) {
    let late = match section.get("role").and_then(Value::as_str) {
        Some("user") => INTRODUCTIONS,
        Some("assistant") => 2 * INTRODUCTIONS,
        _ => return,
    };
    if !matches!(
        section.get("placement").and_then(Value::as_str),
        None | Some("head")
    ) {
        return;
    }
    let order = section
        .get("order")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    section.insert(
        "order".into(),
        (late + order.clamp(0, INTRODUCTIONS - 1)).into(),
    );
    let condition = match section.get("condition").and_then(Value::as_str) {
        Some(own) => format!("assist && ({own})"),
        None => "assist".to_owned(),
    };
    section.insert("condition".into(), condition.into());
    section.remove("required");
}

fn content_to_lines(of: &mut Map<String, Value>) {
    if let Some(content) = of.remove("content") {
        let lines = if content.is_string() {
            json!([content])
        } else {
            content
        };
        of.insert("lines".into(), lines);
    }
}

fn name_of(template: &Map<String, Value>) -> Result<String, LoadError> {
    let name = template
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim();
    match name {
        "" => Err(wrong("name", "a template needs a name")),
        name => Ok(name.to_owned()),
    }
}

/// Converts `system[]`, `user[]` and `assistant[]` lists of lines. Other lists of lines become
/// variables with their names, unless a built-in variable has the name. Lines with memories become
/// the memory section, whose content is sent as blocks.
pub(super) fn flat(value: Value, notes: &mut Vec<String>) -> Result<Value, LoadError> {
    let Value::Object(template) = value else {
        return Err(LoadError::NotATemplate);
    };
    let name = template
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or("Imported prompt")
        .to_owned();
    let mut sections = Vec::new();
    let mut variables = Vec::new();
    let mut memories = Vec::new();
    for (field, content) in &template {
        match (field.as_str(), texts(content)) {
            ("schema" | "name" | "description", _) => {}
            ("system" | "user" | "assistant", Some(lines)) => {
                let (recalled, lines): (Vec<_>, Vec<_>) = lines
                    .into_iter()
                    .partition(|line| line.contains("${memory."));
                memories.extend(recalled);
                let mut section =
                    json!({"name": field, "order": FIRST, "role": field, "lines": lines});
                section.as_object_mut().into_iter().for_each(introduction);
                sections.push(section);
            }
            // Prompts that try to bypass filters of a provider are not converted.
            (bypass, _) if bypass.to_lowercase().contains("jailbreak") => {
                notes.push(format!(
                    "`{bypass}` is left out: extra instructions have their own section"
                ));
            }
            (own, Some(lines)) if super::text::is_name(own) && !variables::known(own) => {
                variables.push(json!({"name": own, "text": lines.join("\n")}));
            }
            (other, _) => notes.push(format!(
                "`{other}` is left out: the current form has no counterpart"
            )),
        }
    }
    if !memories.is_empty() {
        sections
            .push(json!({"name": "memory", "order": 100, "kind": "memory", "placement": "context", "lines": memories}));
    }
    let description = template
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Ok(
        json!({"schema": SCHEMA, "version": VERSION, "id": slug(&name), "name": name, "description": description,
        "variables": variables, "sections": sections}),
    )
}

/// Converts `{name, lines[]}`, with an appendix for picture tags.
pub(super) fn lines(value: Value, notes: &mut Vec<String>) -> Result<Value, LoadError> {
    let Value::Object(template) = value else {
        return Err(LoadError::NotATemplate);
    };
    let name = name_of(&template)?;
    let mut sections = Vec::new();
    for (field, content) in &template {
        match (field.as_str(), texts(content)) {
            ("schema" | "name", _) => {}
            ("lines", Some(lines)) => sections.push(json!({"name": "lines", "order": FIRST, "lines": lines})),
            ("imageTagsAppendix", Some(lines)) => sections.push(
                json!({"name": "imageTags", "order": 90, "kind": "media", "condition": "hasImageTags", "lines": lines}),
            ),
            (other, _) => notes.push(format!("`{other}` is left out: the current form has no counterpart")),
        }
    }
    Ok(
        json!({"schema": SCHEMA, "version": VERSION, "id": slug(&name), "name": name, "style": "directive",
        "sections": sections}),
    )
}

fn texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}
