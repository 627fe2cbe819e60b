//! Converts lorebooks of Agnai, NovelAI and RisuAI to SillyTavern's format. Each entry keeps its
//! source in `extensions`, under the program's name.

use serde_json::{Map, Value, json};

use super::value::Field;

/// Converts a foreign lorebook; `None` for any other JSON.
pub(super) fn to_native(root: &Map<String, Value>) -> Option<Value> {
    if root.get("kind").and_then(Value::as_str) == Some("memory") {
        converted(root, "entries", "agnai", agnai)
    } else if root.contains_key("lorebookVersion") {
        converted(root, "entries", "novelai", novelai)
    } else if root.get("type").and_then(Value::as_str) == Some("risu") {
        converted(root, "data", "risuai", risuai)
    } else {
        None
    }
}

type Convert = fn(&Map<String, Value>) -> Value;

fn converted(
    root: &Map<String, Value>,
    list: &str,
    program: &str,
    convert: Convert,
) -> Option<Value> {
    let entries = native_entries(root.get(list)?.as_array()?, program, convert);
    let rest: Map<String, Value> = root
        .iter()
        .filter(|(name, _)| *name != list)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let name = rest.get("name").cloned().unwrap_or_else(|| "".into());
    Some(json!({ "name": name, "entries": entries, "extensions": { program: rest } }))
}

/// Converts the entries of a foreign book.
pub(crate) fn native_entries(
    list: &[Value],
    program: &str,
    convert: impl Fn(&Map<String, Value>) -> Value,
) -> Map<String, Value> {
    let mut entries = Map::new();
    for (uid, source) in list.iter().enumerate() {
        // Keeps an entry that is not an object; reading the book reports it.
        let entry = source.as_object().map_or_else(
            || source.clone(),
            |entry| whole(uid, program, entry, convert(entry)),
        );
        entries.insert(uid.to_string(), entry);
    }
    entries
}

/// Names that other programs use for the fields of an entry: the names in SillyTavern's files, in
/// cards, and elsewhere.
const KEYS: [&str; 8] = [
    "keywords",
    "keyword",
    "primary_keys",
    "primaryKeys",
    "trigger_words",
    "triggerWords",
    "trigger",
    "activation_keys",
];
const SECONDARY: [&str; 4] = [
    "secondary_keywords",
    "secondaryKeywords",
    "secondaryKeys",
    "secondary",
];
const CONTENT: [&str; 3] = ["entry", "text", "value"];
const TITLE: [&str; 3] = ["name", "title", "displayName"];
const RANK: [&str; 3] = ["priority", "weight", "insertorder"];

/// Adds the fields of our names to an entry that has them under other names. The original fields
/// stay.
pub(super) fn add_our_names(entry: &mut Map<String, Value>, is_card: bool) {
    let of_form = |native: &'static str, card: &'static str| if is_card { card } else { native };
    let has_keys = ["key", "keys"].iter().any(|name| entry.contains_key(*name));
    let is_other = !has_keys && KEYS.iter().any(|name| entry.contains_key(*name));
    if is_other {
        copy(entry, of_form("key", "keys"), &KEYS, |value| {
            value.is_array() || value.is_string()
        });
        copy(
            entry,
            of_form("keysecondary", "secondary_keys"),
            &SECONDARY,
            |value| value.is_array() || value.is_string(),
        );
        copy(
            entry,
            of_form("order", "insertion_order"),
            &RANK,
            Value::is_number,
        );
    }
    let without_text = !entry.contains_key("content");
    copy(entry, "content", &CONTENT, Value::is_string);
    if !has_keys || (without_text && entry.contains_key("content")) {
        copy(entry, "comment", &TITLE, Value::is_string);
    }
}

/// Copies the first usable field of `theirs` to `ours`, which the entry lacks.
fn copy(
    entry: &mut Map<String, Value>,
    ours: &str,
    theirs: &[&str],
    usable: impl Fn(&Value) -> bool,
) {
    if entry.contains_key(ours) {
        return;
    }
    if let Some(value) = theirs
        .iter()
        .find_map(|name| entry.get(*name).filter(|value| usable(value)))
        .cloned()
    {
        entry.insert(ours.to_owned(), value);
    }
}

/// Combines the values of a new entry with the converted ones.
fn whole(uid: usize, program: &str, source: &Map<String, Value>, stated: Value) -> Value {
    let mut entry = json!({
        "uid": uid, "key": [], "keysecondary": [], "comment": "", "content": "", "selective": true, "order": 100,
        "position": 0, "probability": 100, "useProbability": true, "extensions": { program: source },
    });
    if let (Value::Object(entry), Value::Object(stated)) = (&mut entry, stated) {
        entry.extend(stated.into_iter().filter(|(_, value)| !value.is_null()));
    }
    entry
}

fn agnai(entry: &Map<String, Value>) -> Value {
    json!({
        "key": entry.get("keywords"), "content": entry.get("entry"), "comment": entry.get("name"),
        "order": entry.get("weight"), "disable": off(entry, "enabled"),
    })
}

fn novelai(entry: &Map<String, Value>) -> Value {
    json!({
        "key": entry.get("keys"), "content": entry.get("text"), "comment": entry.get("displayName"),
        "order": entry.get("contextConfig").and_then(|config| config.get("budgetPriority")),
        "constant": entry.get("forceActivation"), "disable": off(entry, "enabled"),
    })
}

/// RisuAI stores keys as comma-separated text. With `useRegex` the whole text is one pattern.
fn risuai(entry: &Map<String, Value>) -> Value {
    let pattern = entry.get("useRegex").and_then(bool::read) == Some(true);
    let keys = |name: &str| match entry.get(name)? {
        Value::String(key) if pattern && !key.trim().is_empty() => Some(vec![key.clone()]),
        keys => Vec::<String>::read(keys),
    };
    let folder = entry.get("mode").and_then(Value::as_str) == Some("folder");
    json!({
        "key": keys("key"), "keysecondary": keys("secondkey"), "content": entry.get("content"),
        "comment": entry.get("comment"), "order": entry.get("insertorder"), "constant": entry.get("alwaysActive"),
        "selective": entry.get("selective"), "probability": entry.get("activationPercent"), "disable": folder,
    })
}

/// Whether the field is present and false.
fn off(entry: &Map<String, Value>, name: &str) -> bool {
    entry.get(name).and_then(bool::read) == Some(false)
}
