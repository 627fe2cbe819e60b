//! Tells characters from other files with a name and a description.

use serde_json::{Map, Value};

/// Fields that only characters have. A file with one of them is never treated as another type.
const CERTAIN: [&str; 7] = [
    "first_mes",
    "mes_example",
    "char_name",
    "char_persona",
    "char_greeting",
    "example_dialogue",
    "sampleChat",
];

/// Fields that make a character of an object with a name.
const WITH_NAME: [&str; 10] = [
    "personality",
    "greeting",
    "world_scenario",
    "first_message",
    "first_messages",
    "example_dialogs",
    "post_history_instructions",
    "alternate_greetings",
    "creator_notes",
    "character_book",
];

/// Texts that files of every kind have. They make a character only in pairs, or without any field
/// of another kind.
const TEXTS: [&str; 4] = ["description", "scenario", "persona", "context"];

/// Fields of cards that say nothing about the kind of a file.
const BESIDE: [&str; 16] = [
    "name",
    "nickname",
    "avatar",
    "image",
    "tags",
    "creator",
    "creatorcomment",
    "character_version",
    "system_prompt",
    "spec_version",
    "extensions",
    "talkativeness",
    "fav",
    "create_date",
    "your_name",
    "turn_template",
];

/// Whether the object states a card format or has a field that only characters have.
pub fn is_certain_card(root: &Map<String, Value>) -> bool {
    let spec = root
        .get("spec")
        .and_then(Value::as_str)
        .is_some_and(|spec| spec.starts_with("chara_card"));
    let kind = root.get("kind").and_then(Value::as_str) == Some("character");
    spec || kind
        || has_any(root, &CERTAIN)
        || (is_named(root) && root.get("personality").is_some_and(is_text))
}

/// Whether an object is a character: it states a card format, or has enough fields of one. A
/// description alone is not enough, because files of every kind have one.
pub fn may_be_card(root: &Map<String, Value>) -> bool {
    if is_certain_card(root) {
        return true;
    }
    if let Some(Value::Object(data)) = root.get("data") {
        let stated = root.contains_key("spec") || root.contains_key("spec_version");
        return stated || may_be_card(data);
    }
    let greeting = |place: &str| {
        root.get(place)
            .is_some_and(|inner| inner.get("greeting").is_some())
    };
    if greeting("character") || greeting("char") {
        return true;
    }
    let described = TEXTS
        .iter()
        .any(|field| root.get(*field).is_some_and(is_text));
    if !is_named(root) {
        return described && root.get("personality").is_some_and(is_text);
    }
    has_any(root, &WITH_NAME) || is_pair(root) || (described && has_nothing_else(root))
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::String(_))
}

fn has_any(root: &Map<String, Value>, fields: &[&str]) -> bool {
    fields
        .iter()
        .any(|field| root.get(*field).is_some_and(|value| !value.is_null()))
}

fn is_named(root: &Map<String, Value>) -> bool {
    let name = |field: &str| {
        root.get(field)
            .and_then(Value::as_str)
            .is_some_and(|name| !name.trim().is_empty())
    };
    name("name") || name("participant__name") || name("chat_name")
}

/// A scenario or persona beside another text.
fn is_pair(root: &Map<String, Value>) -> bool {
    let has = |field: &str| root.get(field).is_some_and(is_text);
    let count = TEXTS.iter().filter(|field| has(field)).count();
    count >= 2 && (has("scenario") || has("persona"))
}

/// Whether all fields are those of cards. The oldest cards have a number besides a name and a text.
fn has_nothing_else(root: &Map<String, Value>) -> bool {
    let numbered = root.contains_key("context");
    root.keys().all(|field| {
        let field = field.as_str();
        TEXTS.contains(&field) || BESIDE.contains(&field) || (numbered && field == "id")
    })
}
