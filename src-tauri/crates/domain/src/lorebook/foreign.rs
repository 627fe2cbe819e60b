//! Converts lorebooks of Agnai, NovelAI and RisuAI to SillyTavern's format. Each entry keeps its source in
//! `extensions`, under the program's name.

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

fn converted(root: &Map<String, Value>, list: &str, program: &str, convert: Convert) -> Option<Value> {
    let mut entries = Map::new();
    for (uid, source) in root.get(list)?.as_array()?.iter().enumerate() {
        // Keeps an entry that is not an object; reading the book reports it.
        let entry =
            source.as_object().map_or_else(|| source.clone(), |entry| whole(uid, program, entry, convert(entry)));
        entries.insert(uid.to_string(), entry);
    }
    let rest: Map<String, Value> =
        root.iter().filter(|(name, _)| *name != list).map(|(name, value)| (name.clone(), value.clone())).collect();
    let name = rest.get("name").cloned().unwrap_or_else(|| "".into());
    Some(json!({ "name": name, "entries": entries, "extensions": { program: rest } }))
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
