//! Parses a card from JSON: checks limits, detects the format version, and collects warnings about
//! odd fields.

use serde_json::{Map, Value};

use super::fields::{self, FieldType};
use super::{CardError, Warning, flat, foreign};
use crate::backyard;
use crate::card::data::{Card, CardVersion, MAX_JSON, MAX_NAME};
use crate::lenient_json::{self, Repair};

/// Card fields that other file types rarely have. A nameless card needs at least one of them.
const DISTINCTIVE: [&str; 9] = [
    "description",
    "personality",
    "scenario",
    "first_mes",
    "mes_example",
    "system_prompt",
    "post_history_instructions",
    "alternate_greetings",
    "character_book",
];

pub(crate) fn card(bytes: &[u8], file: Option<&str>) -> Result<(Card, Vec<Warning>), CardError> {
    let (object, repairs) = object(bytes)?;
    let (card, warnings) = match backyard::legacy(&object) {
        Some(read) => read?,
        None => root(object, file)?,
    };
    Ok((
        card,
        repairs
            .into_iter()
            .map(Warning::Repaired)
            .chain(warnings)
            .collect(),
    ))
}

/// Reads a card from a parsed object. `file` provides the name of a nameless card.
pub(super) fn root(
    object: Map<String, Value>,
    file: Option<&str>,
) -> Result<(Card, Vec<Warning>), CardError> {
    let mut warnings = Vec::new();
    let mut root = unwrapped(foreign::to_card(object, &mut warnings), &mut warnings);
    flat::with_our_names(&mut root);
    let version = version(&root, &mut warnings)?;
    let mut card = Card::from_root(version, root);
    name(&mut card, file, &mut warnings)?;
    check_fields(&card, &mut warnings);
    Ok((card, warnings))
}

/// Names a nameless card after a name next to its data, or else after its file.
fn name(card: &mut Card, file: Option<&str>, warnings: &mut Vec<Warning>) -> Result<(), CardError> {
    let missing = match check_name(card.fields.get("name"), card.name_path()) {
        Err(error @ CardError::NoName { .. }) => error,
        checked => return checked,
    };
    let beside = card
        .outer
        .get("name")
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let (name, warning) = if let Some(name) = beside {
        (
            name.to_owned(),
            Warning::NameFromRoot {
                name: shortened(name),
            },
        )
    } else {
        let tells = DISTINCTIVE
            .iter()
            .any(|field| card.fields.contains_key(*field));
        let Some(name) = file.map(str::trim).filter(|name| tells && !name.is_empty()) else {
            return Err(missing);
        };
        let name: String = name.chars().take(MAX_NAME).collect();
        (name.clone(), Warning::NameFromFile { name })
    };
    card.set_name(&name)?;
    warnings.push(warning);
    Ok(())
}

/// Checks that the name is a non-blank string of limited length.
pub(super) fn check_name(name: Option<&Value>, path: &'static str) -> Result<(), CardError> {
    match name.and_then(Value::as_str).map(str::trim) {
        None | Some("") => Err(CardError::NoName { path }),
        Some(name) if name.chars().count() > MAX_NAME => Err(CardError::NameTooLong {
            path,
            limit: MAX_NAME,
        }),
        Some(_) => Ok(()),
    }
}

pub(crate) fn object(bytes: &[u8]) -> Result<(Map<String, Value>, Vec<Repair>), CardError> {
    match lenient_json::read(bytes)? {
        (Value::Object(root), repairs) => Ok((root, repairs)),
        (other, _) => Err(CardError::NotAnObject {
            path: "(file)",
            found: fields::found(&other),
        }),
    }
}

/// Checks the size and complexity of untrusted JSON, whatever it contains.
///
/// # Errors
/// [`CardError::TooLarge`] or [`CardError::TooComplex`] if it would need too much memory.
pub fn check_json(bytes: &[u8]) -> Result<(), CardError> {
    if bytes.len() > MAX_JSON {
        return Err(CardError::TooLarge {
            what: "the JSON",
            bytes: bytes.len(),
            limit: MAX_JSON,
        });
    }
    check_complexity(bytes)
}

/// Checks the number of values and the nesting before allocation.
pub(crate) fn check_complexity(json: &[u8]) -> Result<(), CardError> {
    Ok(lenient_json::check_complexity(json)?)
}

/// Removes an outer card that some exporters wrap around a card, if it has no fields of its own.
fn unwrapped(mut root: Map<String, Value>, warnings: &mut Vec<Warning>) -> Map<String, Value> {
    while is_wrapper_only(&root) {
        let Some(Value::Object(inner)) = root.remove("data") else {
            break;
        };
        root = inner;
        warnings.push(Warning::NestedTwice);
    }
    root
}

fn is_wrapper_only(root: &Map<String, Value>) -> bool {
    let nothing_else = root
        .keys()
        .all(|key| matches!(key.as_str(), "spec" | "spec_version" | "data"));
    let inner = root.get("data").and_then(Value::as_object);
    nothing_else
        && inner.is_some_and(|inner| {
            !inner.contains_key("name") && inner.get("data").is_some_and(Value::is_object)
        })
}

/// Detects the format version. An unknown `spec` or version is a warning, not an error.
fn version(
    root: &Map<String, Value>,
    warnings: &mut Vec<Warning>,
) -> Result<CardVersion, CardError> {
    let spec = root.get("spec").and_then(Value::as_str);
    let known = match spec {
        Some("chara_card_v2") => Some(CardVersion::V2),
        Some("chara_card_v3") => Some(CardVersion::V3),
        _ => None,
    };
    if !has_data(root, known) {
        if let (Some(spec), Some(_)) = (spec, known) {
            check_flat(root)?;
            warnings.push(Warning::MissingData {
                spec: spec.to_owned(),
            });
        }
        return Ok(CardVersion::V1);
    }
    let Some(version) = known else {
        warnings.push(match spec {
            Some(spec) => Warning::UnknownSpec {
                spec: shortened(spec),
            },
            None => Warning::MissingSpec,
        });
        return Ok(CardVersion::V2);
    };
    check_version_number(root.get("spec_version"), version, warnings);
    Ok(version)
}

/// A card that declares V2 or V3 without `data` is readable only if its fields are at the root.
fn check_flat(root: &Map<String, Value>) -> Result<(), CardError> {
    match (root.get("name"), root.get("data")) {
        (Some(_), _) => Ok(()),
        (None, Some(data)) => Err(CardError::NotAnObject {
            path: "data",
            found: fields::found(data),
        }),
        (None, None) => Err(CardError::NoName { path: "data.name" }),
    }
}

/// Whether the fields are in `data`. A V1 card may have an unrelated field of that name.
fn has_data(root: &Map<String, Value>, known: Option<CardVersion>) -> bool {
    let data = root.get("data").and_then(Value::as_object);
    data.is_some_and(|data| {
        known.is_some() || data.contains_key("name") || !root.contains_key("name")
    })
}

/// Warns about newer versions. An older version needs no warning, because every field is optional
/// anyway.
fn check_version_number(found: Option<&Value>, version: CardVersion, warnings: &mut Vec<Warning>) {
    let number = match found {
        None => return,
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(other) => other.as_f64(),
    };
    let newest = if version == CardVersion::V3 { 3.0 } else { 2.0 };
    if number.is_none_or(|number: f64| number.is_nan() || number > newest) {
        let found = found.map(|found| {
            found
                .as_str()
                .map_or_else(|| found.to_string(), str::to_owned)
        });
        let found = shortened(&found.unwrap_or_default());
        warnings.push(Warning::UnknownVersion {
            found,
            read_as: version.number(),
        });
    }
}

/// Shortens untrusted text for a message.
fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

fn check_fields(card: &Card, warnings: &mut Vec<Warning>) {
    for (field, kind) in fields::KNOWN {
        let Some(value) = card.fields.get(*field) else {
            continue;
        };
        let path = card.path(field);
        match (kind, value) {
            (FieldType::Texts, Value::String(_)) => warnings.push(Warning::TextForList { path }),
            (FieldType::Texts, Value::Array(items)) => {
                let odd = items
                    .iter()
                    .enumerate()
                    .filter(|(_, item)| !item.is_string());
                warnings.extend(
                    odd.map(|(i, item)| wrong_type(format!("{path}[{i}]"), FieldType::Text, item)),
                );
            }
            (FieldType::List, Value::Array(items)) => {
                let odd = items
                    .iter()
                    .enumerate()
                    .filter(|(_, item)| !item.is_object());
                warnings.extend(
                    odd.map(|(i, item)| {
                        wrong_type(format!("{path}[{i}]"), FieldType::Object, item)
                    }),
                );
            }
            (kind, value) if !kind.fits(value) => warnings.push(wrong_type(path, *kind, value)),
            _ => {}
        }
    }
}

fn wrong_type(path: String, expected: FieldType, found: &Value) -> Warning {
    Warning::WrongType {
        path,
        expected: expected.name(),
        found: fields::found(found),
    }
}
