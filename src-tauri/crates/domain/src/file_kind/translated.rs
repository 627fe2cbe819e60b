//! Converts JSON files of other apps to a format that this app reads.

use serde_json::{Map, Value, json};

use super::marinara;

/// A file in a format that this app reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Translated {
    pub value: Value,
    /// The parts that were not kept, for the report.
    pub notes: Vec<String>,
}

impl Translated {
    fn whole(value: Value) -> Self {
        Self {
            value,
            notes: Vec::new(),
        }
    }
}

/// Converts a file of another app that has a counterpart here; `None` for any other file. `stem` is
/// the file's name without its ending, for files that contain no name.
pub fn translated(file: &Value, stem: &str) -> Option<Translated> {
    match file {
        Value::Object(root) => marinara::translated(root, stem)
            .or_else(|| risu_scripts(root.get("data").filter(|_| says(root, "type", "regex"))?))
            .or_else(|| kobold_adapter(root, stem))
            .or_else(|| risu_module(root)),
        list => logit_bias(list, stem)
            .or_else(|| dungeon(list, stem))
            .or_else(|| risu_lore(list))
            .or_else(|| risu_scripts(list)),
    }
}

fn says(root: &Map<String, Value>, field: &str, word: &str) -> bool {
    root.get(field).and_then(Value::as_str) == Some(word)
}

/// Whether the value is a list of objects that all satisfy `is`.
fn all(list: &Value, is: impl Fn(&Map<String, Value>) -> bool) -> bool {
    let items = list.as_array().filter(|items| !items.is_empty());
    items.is_some_and(|items| items.iter().all(|item| item.as_object().is_some_and(&is)))
}

/// SillyTavern's list of token biases becomes a sampler preset with nothing else.
fn logit_bias(list: &Value, stem: &str) -> Option<Translated> {
    let is_bias = |item: &Map<String, Value>| {
        item.get("text").is_some_and(Value::is_string)
            && item.get("value").is_some_and(Value::is_number)
    };
    all(list, is_bias).then(|| Translated::whole(json!({ "name": stem, "logit_bias": list })))
}

/// World info and story cards of AI Dungeon.
fn dungeon(list: &Value, stem: &str) -> Option<Translated> {
    let is_entry = |item: &Map<String, Value>| {
        let keys = item
            .get("keys")
            .is_some_and(|keys| keys.is_string() || keys.is_array());
        let text = ["entry", "value"]
            .iter()
            .any(|field| item.get(*field).is_some_and(Value::is_string));
        keys && text && !item.contains_key("content")
    };
    all(list, is_entry).then(|| Translated::whole(json!({ "name": stem, "entries": list })))
}

/// RisuAI's lore entries without the object around them.
fn risu_lore(list: &Value) -> Option<Translated> {
    let is_entry = |item: &Map<String, Value>| {
        let own = ["insertorder", "alwaysActive", "secondkey", "mode"]
            .iter()
            .filter(|field| item.contains_key(**field));
        item.contains_key("key") && item.contains_key("content") && own.count() >= 2
    };
    all(list, is_entry)
        .then(|| Translated::whole(json!({ "type": "risu", "ver": 1, "data": list })))
}

/// The lorebook of a RisuAI module; its other parts are named.
fn risu_module(root: &Map<String, Value>) -> Option<Translated> {
    let Translated { mut value, .. } = risu_lore(root.get("lorebook")?)?;
    value["name"] = root.get("name").cloned().unwrap_or_else(|| "".into());
    let count = |part: &str| root.get(part).and_then(Value::as_array).map_or(0, Vec::len);
    let left = [
        ("regex", "regex scripts"),
        ("trigger", "triggers"),
        ("assets", "files"),
    ];
    let mut notes = vec!["this is a RisuAI module; its lorebook is imported".to_owned()];
    notes.extend(
        left.iter()
            .filter(|(part, _)| count(part) > 0)
            .map(|(part, what)| format!("{} {what}: not kept", count(part))),
    );
    Some(Translated { value, notes })
}

/// Converts RisuAI's regex scripts to SillyTavern's.
fn risu_scripts(list: &Value) -> Option<Translated> {
    let is_script = |item: &Map<String, Value>| {
        let texts = ["in", "out", "type"]
            .iter()
            .all(|field| item.get(*field).is_some_and(Value::is_string));
        texts && item.contains_key("comment")
    };
    if !all(list, is_script) {
        return None;
    }
    let items = list.as_array()?.iter().filter_map(Value::as_object);
    let (known, unknown): (Vec<_>, Vec<_>) = items.map(risu_script).partition(Option::is_some);
    let known: Vec<Value> = known.into_iter().flatten().collect();
    let mut notes = vec!["RisuAI's own macros in the scripts are not replaced".to_owned()];
    if !unknown.is_empty() {
        notes.push(format!(
            "{} scripts act at moments that this app does not know and are left out",
            unknown.len()
        ));
    }
    (!known.is_empty()).then(|| Translated {
        value: Value::Array(known),
        notes,
    })
}

fn risu_script(script: &Map<String, Value>) -> Option<Value> {
    let text = |field: &str| {
        script
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (placement, shown, sent) = match text("type") {
        "editinput" => (vec![1], false, false),
        "editoutput" => (vec![2], false, false),
        "editdisplay" => (vec![1, 2], true, false),
        "editprocess" => (vec![1, 2], false, true),
        _ => return None,
    };
    let flags = script
        .get("flag")
        .and_then(Value::as_str)
        .filter(|flags| !flags.trim().is_empty());
    let flags: String = flags
        .unwrap_or("g")
        .chars()
        .filter(|flag| "gimsuy".contains(*flag))
        .collect();
    Some(json!({
        "scriptName": text("comment"), "findRegex": format!("/{}/{flags}", text("in").replace('/', "\\/")),
        "replaceString": text("out").replace("$&", "$0"), "trimStrings": [], "placement": placement,
        "disabled": false, "markdownOnly": shown, "promptOnly": sent, "runOnEdit": true, "substituteRegex": 0,
        "minDepth": null, "maxDepth": null,
    }))
}

/// A chat adapter of KoboldCpp becomes an instruct template.
fn kobold_adapter(root: &Map<String, Value>, stem: &str) -> Option<Translated> {
    let text = |field: &str| root.get(field).and_then(Value::as_str);
    let user = text("user_start")?;
    let reply = text("assistant_start")?;
    let name = text("name")
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .unwrap_or(stem);
    let value = json!({
        "name": name, "input_sequence": user, "input_suffix": text("user_end").unwrap_or_default(),
        "output_sequence": reply, "output_suffix": text("assistant_end").unwrap_or_default(),
        "system_sequence": text("system_start").unwrap_or_default(),
        "system_suffix": text("system_end").unwrap_or_default(), "stop_sequence": "", "wrap": false, "macro": false,
    });
    let marks = [
        "name",
        "user_start",
        "user_end",
        "assistant_start",
        "assistant_end",
        "system_start",
        "system_end",
    ];
    let rest: Vec<&str> = root
        .keys()
        .map(String::as_str)
        .filter(|field| !marks.contains(field))
        .collect();
    let notes = if rest.is_empty() {
        Vec::new()
    } else {
        vec![format!("not kept: {}", rest.join(", "))]
    };
    Some(Translated { value, notes })
}
