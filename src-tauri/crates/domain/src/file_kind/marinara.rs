//! Exports of Marinara Engine: an envelope with a type, a version and the data.

use serde_json::{Map, Value, json};

use super::{Translated, UnsupportedFile};
use crate::lorebook::native_entries;

/// Begins the type of every export.
pub(super) const PREFIX: &str = "marinara_";

/// Texts of a persona besides its description, with the words that introduce them.
const OF_PERSONA: [(&str, &str); 6] = [
    ("personality", "Personality"),
    ("appearance", "Appearance"),
    ("backstory", "Backstory"),
    ("scenario", "Scenario"),
    ("comment", "Comment"),
    ("altDescription", "More"),
];

/// Names an export that has no counterpart here.
pub(super) fn unsupported(kind: &str) -> UnsupportedFile {
    let what = match kind.strip_prefix(PREFIX) {
        Some("preset") => "a prompt preset of Marinara Engine",
        Some("chat_preset" | "chat_settings_profile") => "chat settings of Marinara Engine",
        Some("memory_recall") => "memories of Marinara Engine",
        Some("profile") => "a whole profile of Marinara Engine",
        Some("chat" | "chats") => "a chat of Marinara Engine",
        _ => "an export of Marinara Engine",
    };
    UnsupportedFile {
        what,
        instead: "Characters, personas and lorebooks of Marinara Engine can be imported",
    }
}

/// Converts a character, a persona or a lorebook. `stem` names what has no name.
pub(super) fn translated(root: &Map<String, Value>, stem: &str) -> Option<Translated> {
    let data = root.get("data")?.as_object()?;
    match root.get("type")?.as_str()?.strip_prefix(PREFIX)? {
        "character" => Some(character(data)),
        "persona" => Some(persona(data, stem)),
        "lorebook" => lorebook(data, stem),
        _ => None,
    }
}

/// The card may be a row of the app's table, which has the card as text in `data`.
fn character(data: &Map<String, Value>) -> Translated {
    let packed = data
        .get("data")
        .and_then(Value::as_str)
        .and_then(|text| serde_json::from_str::<Value>(text).ok());
    let card = packed.unwrap_or_else(|| Value::Object(data.clone()));
    let is_whole = card.get("spec").is_some() || card.get("data").is_some();
    let value = if is_whole {
        card
    } else {
        json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": card })
    };
    let left = ["sprites", "gallery"]
        .into_iter()
        .filter(|part| has_items(data, part));
    Translated {
        value,
        notes: left.map(|part| format!("{part}: not kept")).collect(),
    }
}

fn persona(data: &Map<String, Value>, stem: &str) -> Translated {
    let text = |field: &str| {
        data.get(field)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let more = OF_PERSONA
        .iter()
        .filter_map(|(field, word)| Some(format!("{word}: {}", text(field)?)));
    let description: Vec<String> = text("description")
        .map(str::to_owned)
        .into_iter()
        .chain(more)
        .collect();
    let value = json!({
        "personas": { "marinara": text("name").unwrap_or(stem) },
        "persona_descriptions": { "marinara": { "description": description.join("\n\n"), "position": 0 } },
    });
    let picture = ["avatar", "avatarPath"]
        .iter()
        .any(|field| text(field).is_some());
    let mut notes = Vec::new();
    if picture {
        notes.push("the picture is not kept; choose one under Personas".to_owned());
    }
    if has_items(data, "sprites") {
        notes.push("sprites: not kept".to_owned());
    }
    Translated { value, notes }
}

fn has_items(data: &Map<String, Value>, field: &str) -> bool {
    data.get(field)
        .and_then(Value::as_array)
        .is_some_and(|all| !all.is_empty())
}

/// The book is in `lorebook` beside its entries, or has them itself.
fn lorebook(data: &Map<String, Value>, stem: &str) -> Option<Translated> {
    let book = data
        .get("lorebook")
        .and_then(Value::as_object)
        .unwrap_or(data);
    let entries = data
        .get("entries")
        .or_else(|| book.get("entries"))?
        .as_array()?;
    let name = book
        .get("name")
        .and_then(Value::as_str)
        .filter(|name| !name.trim().is_empty())
        .unwrap_or(stem);
    let mut value = json!({ "name": name, "entries": native_entries(entries, "marinara", entry) });
    for (ours, theirs) in [
        ("description", "description"),
        ("scanDepth", "scanDepth"),
        ("tokenBudget", "tokenBudget"),
        ("recursiveScanning", "recursiveScanning"),
    ] {
        if let Some(stated) = book.get(theirs).filter(|stated| !stated.is_null()) {
            value[ours] = stated.clone();
        }
    }
    Some(Translated {
        value,
        notes: Vec::new(),
    })
}

/// Keys are plain texts; with `useRegex` each is the source of a pattern.
fn entry(entry: &Map<String, Value>) -> Value {
    let pattern = entry.get("useRegex").and_then(Value::as_bool) == Some(true);
    let keys = |field: &str| keys(entry.get(field)?, pattern);
    let of = |field: &str| entry.get(field).cloned();
    json!({
        "key": keys("keys"), "keysecondary": keys("secondaryKeys"), "content": of("content"), "comment": of("name"),
        "constant": of("constant"), "selective": of("selective"), "order": of("order"), "position": position(entry),
        "depth": of("depth"), "role": of("role"), "probability": of("probability"), "scanDepth": of("scanDepth"),
        "caseSensitive": of("caseSensitive"), "matchWholeWords": of("matchWholeWords"), "sticky": of("sticky"),
        "cooldown": of("cooldown"), "delay": of("delay"), "group": of("group"), "groupWeight": of("groupWeight"),
        "excludeRecursion": of("excludeRecursion"), "preventRecursion": of("preventRecursion"),
        "disable": entry.get("enabled").and_then(Value::as_bool).map(|enabled| !enabled),
    })
}

fn keys(listed: &Value, pattern: bool) -> Option<Vec<Value>> {
    let keys = listed.as_array()?.iter().filter_map(Value::as_str);
    let written = keys.map(|key| {
        if pattern {
            Value::from(format!("/{}/", key.replace('/', "\\/")))
        } else {
            Value::from(key)
        }
    });
    Some(written.collect())
}

/// 0 and 1 stand before and after the character; 2 stands at a depth.
fn position(entry: &Map<String, Value>) -> Option<u64> {
    match entry.get("position")?.as_u64()? {
        2 => Some(4),
        other => Some(other),
    }
}
