//! Reads the JSON of Backyard and its macros.

use serde_json::{Map, Value};

/// Replaces Backyard's `{character}` and `{user}` with `{{char}}` and `{{user}}`. Removes the `#`
/// that Backyard puts before a speaker's name.
pub(super) fn macros(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        let doubled = before.ends_with('{') || (before.is_empty() && written.ends_with('{'));
        let Some((length, name)) = placeholder(from).filter(|_| !doubled) else {
            written.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        let turn = from[length..].starts_with(':') && before.ends_with('#');
        written.push_str(if turn {
            &before[..before.len() - 1]
        } else {
            before
        });
        written.push_str(name);
        rest = &from[length..];
    }
    written.push_str(rest);
    written
}

/// Returns the length of the placeholder at the start of `text` and the matching macro.
pub(super) fn placeholder(text: &str) -> Option<(usize, &'static str)> {
    let names = [("{character}", "{{char}}"), ("{user}", "{{user}}")];
    let (theirs, ours) = names.into_iter().find(|(theirs, _)| {
        text.get(..theirs.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(theirs))
    })?;
    Some((theirs.len(), ours))
}

pub(super) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn objects<'a>(
    object: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Map<String, Value>> {
    object
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}
