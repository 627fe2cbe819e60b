//! Parses a template from JSON, in the current or an older form.

use serde_json::Value;

use super::legacy;
use super::schema::{PromptTemplate, SCHEMA, VERSION};

/// Maximum size of a template file in bytes: the largest preset of another app after conversion,
/// with room for escapes.
pub const MAX_BYTES: usize = 2 * crate::convert::MAX_BYTES;

/// Maximum number of sections of a template.
pub const MAX_SECTIONS: usize = 1_000;
/// Maximum number of variables that a template defines.
pub const MAX_VARIABLES: usize = 300;

/// The file is not a template, or is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("the template is larger than {} MiB; remove unrelated content", MAX_BYTES >> 20)]
    TooLarge,
    #[error("the file is not valid JSON: {message}")]
    NotJson { message: String },
    #[error(
        "this is not a prompt template: it has neither the `schema` \"{SCHEMA}\" nor the `system` or `lines` of older forms"
    )]
    NotATemplate,
    #[error(
        "the template has version {found}, but the app supports versions up to {VERSION}; update the app"
    )]
    Newer { found: u64 },
    #[error(
        "the template has more than {most} {what}; split it into several templates that extend each other"
    )]
    TooMany { what: &'static str, most: usize },
    #[error("{path}: {message}")]
    Field {
        path: String,
        /// The section of the field, if it is in one.
        section: Option<String>,
        message: String,
    },
}

/// A parsed template, and notes about parts of an older form that were dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub template: PromptTemplate,
    pub notes: Vec<String>,
}

/// Parses a template of any form: the current one, older versions of it, the structured form, the
/// flat form (`system[]`), or the older `{name, lines[]}`.
///
/// Errors
/// [`LoadError`] names the invalid field. JSON nested deeper than 128 levels is rejected.
pub fn from_json(text: &str) -> Result<Loaded, LoadError> {
    if text.len() > MAX_BYTES {
        return Err(LoadError::TooLarge);
    }
    let text = text.trim_start_matches('\u{feff}');
    let value = serde_json::from_str(text).map_err(|error| LoadError::NotJson {
        message: error.to_string(),
    })?;
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
        return Err(LoadError::TooMany {
            what: "sections",
            most: MAX_SECTIONS,
        });
    }
    if template.variables.len() > MAX_VARIABLES {
        return Err(LoadError::TooMany {
            what: "variables",
            most: MAX_VARIABLES,
        });
    }
    Ok(Loaded { template, notes })
}

/// A migration step from the previous version to the given one.
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
        let index = path
            .strip_prefix("sections[")
            .and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
        let section = index.and_then(|at| Some(value["sections"][at]["name"].as_str()?.to_owned()));
        LoadError::Field {
            path,
            section,
            message: error.into_inner().to_string(),
        }
    })
}

/// `name` as an id: lower-case letters and digits, separated by dashes.
pub fn slug(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
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
    fn reads_back_written_template() {
        let value = json!({"schema": SCHEMA, "version": 2, "id": "a", "name": "A", "kind": "roleplay", "sections": [
            {"name": "rules", "order": 10, "required": true, "override": true,
             "rules": ["One.", {"text": "Two.", "condition": "assist"}]}]});
        let template = load(&value).unwrap().template;
        assert_eq!(serde_json::to_value(&template).unwrap(), value);
    }

    #[test]
    fn migrates_version_1() {
        let old = json!({"schema": SCHEMA, "version": 1, "name": "Old One", "sections": {
            "rules": {"order": 20, "content": ["Be kind."]}, "start": {"order": 10, "content": ["Hello."]}}});
        let template = load(&old).unwrap().template;
        assert_eq!((template.id.as_str(), template.version), ("old-one", 2));
        let texts: Vec<_> = template
            .sections
            .iter()
            .map(|it| (it.name.as_str(), it.lines[0].text()))
            .collect();
        assert_eq!(texts, [("rules", "Be kind."), ("start", "Hello.")]);
    }

    #[test]
    fn rejects_more_than_max_sections() {
        let sections: Vec<_> = (0..=MAX_SECTIONS)
            .map(|n| json!({"name": n.to_string()}))
            .collect();
        let many =
            json!({"schema": SCHEMA, "version": 2, "id": "a", "name": "A", "sections": sections});
        assert_eq!(
            load(&many),
            Err(LoadError::TooMany {
                what: "sections",
                most: MAX_SECTIONS
            })
        );
    }

    #[test]
    fn errors_name_the_invalid_field() {
        let wrong = json!({"schema": SCHEMA, "version": 2, "id": "a", "name": "A",
            "sections": [{"name": "rules", "ordr": 10}]});
        let Err(LoadError::Field {
            path,
            section,
            message,
        }) = load(&wrong)
        else {
            panic!("accepted")
        };
        assert_eq!(section.as_deref(), Some("rules"));
        assert!(
            path.contains("sections[0]") && message.contains("ordr"),
            "{path}: {message}"
        );
        assert_eq!(
            load(&json!({"schema": SCHEMA, "version": 3})),
            Err(LoadError::Newer { found: 3 })
        );
        assert_eq!(
            load(&json!({"schema": "else"})),
            Err(LoadError::NotATemplate)
        );
        assert_eq!(load(&json!([1, 2])), Err(LoadError::NotATemplate));
        assert_eq!(
            from_json(&" ".repeat(MAX_BYTES + 1)),
            Err(LoadError::TooLarge)
        );
        assert!(matches!(
            from_json(&"[".repeat(100_000)),
            Err(LoadError::NotJson { .. })
        ));
    }
}
