//! Recognises JSON files by their fields.

use serde_json::{Map, Value};

/// Tavern-Helper scripts state their type. Older ones are recognised by the buttons beside the
/// program, or by a program that imports another one.
pub(super) fn is_helper_script(root: &Map<String, Value>) -> bool {
    let has = |name: &str| root.contains_key(name);
    match root.get("type").and_then(Value::as_str) {
        Some("script") => has("content") || has("value"),
        Some("folder") => has("scripts") || has("value"),
        _ => {
            let program = root.get("content").and_then(Value::as_str);
            let own = ["info", "buttons", "button", "data"]
                .iter()
                .filter(|name| has(name))
                .count();
            program.is_some_and(|program| {
                has("id") && (own >= 2 || has("buttons") || is_program(program))
            })
        }
    }
}

/// Whether the text begins like a program in JavaScript.
pub(super) fn is_program(text: &str) -> bool {
    let text = text.trim_start();
    [
        "import ",
        "import'",
        "import(",
        "const ",
        "let ",
        "var ",
        "function ",
        "(function",
        "(()",
        "(async",
        "async ",
        "$(",
        "//",
        "/*",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

pub(super) fn is_agnai_chat(root: &Map<String, Value>) -> bool {
    let said = |message: &Value| {
        message.get("msg").is_some_and(Value::is_string)
            && ["characterId", "userId", "handle"]
                .iter()
                .any(|field| message.get(*field).is_some())
    };
    root.get("messages")
        .and_then(Value::as_array)
        .is_some_and(|all| all.first().is_some_and(said))
}

/// Returns lorebook entries that are stored without a lorebook, as one object or as a list.
pub fn entries_without_book(file: &Value) -> Option<Vec<&Value>> {
    let is_entry = |value: &Value| {
        let Value::Object(entry) = value else {
            return false;
        };
        let has = |name: &str| entry.contains_key(name);
        let keys = ["key", "keys"].iter().any(|name| {
            entry
                .get(*name)
                .is_some_and(|keys| keys.is_array() || keys.is_string())
        });
        let rank = [
            "uid",
            "order",
            "insertion_order",
            "keysecondary",
            "secondary_keys",
        ]
        .iter()
        .any(|name| has(name));
        keys && rank && has("content") && !has("entries") && !has("spec")
    };
    match file {
        Value::Array(items) => {
            (!items.is_empty() && items.iter().all(is_entry)).then(|| items.iter().collect())
        }
        one => is_entry(one).then(|| vec![one]),
    }
}
