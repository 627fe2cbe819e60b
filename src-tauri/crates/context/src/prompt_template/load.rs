//! Reads a template from JSON, whatever its age (S4.10, S4.21).

use serde_json::Value;

use super::legacy;
use super::schema::{PromptTemplate, SCHEMA, VERSION};

/// Maximum size of a template file in bytes: the largest preset of another app after conversion, with room for escapes.
pub const MAX_BYTES: usize = 2 * crate::convert::MAX_BYTES;

/// Sections of a template at the most.
pub const MAX_SECTIONS: usize = 1_000;
/// Variables of a template's own at the most.
pub const MAX_VARIABLES: usize = 300;

/// A file that is no template of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("the template is larger than {} MiB; remove what does not belong to it", MAX_BYTES >> 20)]
    TooLarge,
    #[error("the file is no JSON: {message}")]
    NotJson { message: String },
    #[error(
        "this is no prompt template: it has neither a `schema` of \"{SCHEMA}\" nor the `system` or `lines` of older ones"
    )]
    NotATemplate,
    #[error("the template is of form {found}, this program knows up to {VERSION}; update the program")]
    Newer { found: u64 },
    #[error("the template has more than {most} {what}; split it into several that extend one another")]
    TooMany { what: &'static str, most: usize },
    #[error("{path}: {message}")]
    Field {
        path: String,
        /// The section the field is in, if it is in one.
        section: Option<String>,
        message: String,
    },
}

/// A template that was read, and what of an older form found no place in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub template: PromptTemplate,
    pub notes: Vec<String>,
}

/// Reads a template of any form: today's, an older version of it, the structured, the flat (`system[]`) or the
/// `{name, lines[]}` form that came before.
///
/// # Errors
/// [`LoadError`] says which field is wrong. JSON nested deeper than 128 is no JSON here.
pub fn from_json(text: &str) -> Result<Loaded, LoadError> {
    if text.len() > MAX_BYTES {
        return Err(LoadError::TooLarge);
    }
    let text = text.trim_start_matches('\u{feff}');
    let value = serde_json::from_str(text).map_err(|error| LoadError::NotJson { message: error.to_string() })?;
    from_value(value)
}

fn from_value(value: Value) -> Result<Loaded, LoadError> {
    let mut notes = Vec::new();
    let current = match value["schema"].as_str() {
        Some(SCHEMA) => migrated(value)?,
        Some(legacy::STRUCTURED) => legacy::structured(value)?,
        _ if value["system"].is_array() => legacy::flat(value, &mut notes)?,
        _ if value["lines"].is_array() => legacy::lines(value, &mut notes)?,
        _ => return Err(LoadError::NotATemplate),
    };
    let template = typed(current)?;
    if template.sections.len() > MAX_SECTIONS {
        return Err(LoadError::TooMany { what: "sections", most: MAX_SECTIONS });
    }
    if template.variables.len() > MAX_VARIABLES {
        return Err(LoadError::TooMany { what: "variables", most: MAX_VARIABLES });
    }
    Ok(Loaded { template, notes })
}

/// One step of each: from the version before to the one named.
type Step = fn(Value) -> Result<Value, LoadError>;
const STEPS: [(u64, Step); 1] = [(2, legacy::structured)];

fn migrated(mut value: Value) -> Result<Value, LoadError> {
    let found = value["version"].as_u64().unwrap_or(1);
    if found > u64::from(VERSION) {
        return Err(LoadError::Newer { found });
    }
    for (_, step) in STEPS.iter().filter(|(to, _)| *to > found) {
        value = step(value)?;
    }
    Ok(value)
}

fn typed(value: Value) -> Result<PromptTemplate, LoadError> {
    serde_path_to_error::deserialize(&value).map_err(|error| {
        let path = error.path().to_string();
        let index = path.strip_prefix("sections[").and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        let section = index.and_then(|at| Some(value["sections"][at]["name"].as_str()?.to_owned()));
        LoadError::Field { path, section, message: error.into_inner().to_string() }
    })
}

/// `name` as an id: lower-case letters and digits with dashes between.
pub fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    match words.collect::<Vec<_>>().join("-").to_lowercase() {
        id if id.is_empty() => "template".to_owned(),
        id => id.chars().take(60).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn load(value: &Value) -> Result<Loaded, LoadError> {
        from_json(&value.to_string())
    }

    #[test]
    fn reads_what_it_writes() {
        let value = json!({"schema": SCHEMA, "version": 2, "id": "a", "name": "A", "kind": "roleplay", "sections": [
            {"name": "rules", "order": 10, "required": true, "override": true,
             "rules": ["One.", {"text": "Two.", "condition": "assist"}]}]});
        let template = load(&value).unwrap().template;
        assert_eq!(serde_json::to_value(&template).unwrap(), value);
    }

    #[test]
    fn brings_the_first_version_up() {
        let old = json!({"schema": SCHEMA, "version": 1, "name": "Old One", "sections": {
            "rules": {"order": 20, "content": ["Be kind."]}, "start": {"order": 10, "content": ["Hello."]}}});
        let template = load(&old).unwrap().template;
        assert_eq!((template.id.as_str(), template.version), ("old-one", 2));
        let texts: Vec<_> = template.sections.iter().map(|it| (it.name.as_str(), it.lines[0].text())).collect();
        assert_eq!(texts, [("rules", "Be kind."), ("start", "Hello.")]);
    }

    #[test]
    fn a_thousand_sections_are_enough() {
        let sections: Vec<_> = (0..=MAX_SECTIONS).map(|n| json!({"name": n.to_string()})).collect();
        let many = json!({"schema": SCHEMA, "version": 2, "id": "a", "name": "A", "sections": sections});
        assert_eq!(load(&many), Err(LoadError::TooMany { what: "sections", most: MAX_SECTIONS }));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let wrong = json!({"schema": SCHEMA, "version": 2, "id": "a", "name": "A",
            "sections": [{"name": "rules", "ordr": 10}]});
        let Err(LoadError::Field { path, section, message }) = load(&wrong) else { panic!("accepted") };
        assert_eq!(section.as_deref(), Some("rules"));
        assert!(path.contains("sections[0]") && message.contains("ordr"), "{path}: {message}");
        assert_eq!(load(&json!({"schema": SCHEMA, "version": 3})), Err(LoadError::Newer { found: 3 }));
        assert_eq!(load(&json!({"schema": "else"})), Err(LoadError::NotATemplate));
        assert_eq!(load(&json!([1, 2])), Err(LoadError::NotATemplate));
        assert_eq!(from_json(&" ".repeat(MAX_BYTES + 1)), Err(LoadError::TooLarge));
        assert!(matches!(from_json(&"[".repeat(100_000)), Err(LoadError::NotJson { .. })));
    }
}
