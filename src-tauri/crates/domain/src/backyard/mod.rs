//! Imports characters from Backyard (once called Faraday): BYAF archives, and the JSON that old
//! versions embed in a picture. A character becomes a V3 card, and each scenario with messages
//! becomes a chat.
//!
//! The card keeps the source documents in `extensions`, under `backyard`. Messages are excluded
//! because they become chats.

mod archive;
mod card;
mod scenario;

use serde_json::{Map, Value};

pub use archive::scenarios;
pub(crate) use archive::{MANIFEST, card};
pub(crate) use card::legacy;
pub use card::sampling;
pub use scenario::{BackyardSampling, Scenario};

/// Replaces Backyard's `{character}` and `{user}` with `{{char}}` and `{{user}}`. Removes the `#`
/// that Backyard puts before a speaker's name.
fn macros(text: &str) -> String {
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
fn placeholder(text: &str) -> Option<(usize, &'static str)> {
    let names = [("{character}", "{{char}}"), ("{user}", "{{user}}")];
    let (theirs, ours) = names.into_iter().find(|(theirs, _)| {
        text.get(..theirs.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(theirs))
    })?;
    Some((theirs.len(), ours))
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn objects<'a>(
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

#[cfg(test)]
mod tests {
    use super::macros;

    #[test]
    fn names_become_macros_and_macros_stay() {
        assert_eq!(
            macros("#{user}: Hey {Character}.\n#{character}: I am {character}, {user}'s friend."),
            "{{user}}: Hey {{char}}.\n{{char}}: I am {{char}}, {{user}}'s friend."
        );
        assert_eq!(
            macros("{{user}} {{char}} #{x} {{character}} { {"),
            "{{user}} {{char}} #{x} {{character}} { {"
        );
        assert_eq!(
            macros("a # {user}: #{user} {灯}"),
            "a # {{user}}: #{{user}} {灯}"
        );
        assert_eq!(macros(""), "");
    }
}
