//! Writes cards as V2 and V3 JSON, and as PNG pictures that contain both.
//!
//! Writing adds the fields that the target version requires and sets `spec` and `spec_version`. All
//! other values stay.

use serde_json::{Map, Value};

use super::{CardError, fields, png};
use crate::card::data::{Card, CardVersion};

/// Prepended to the creator's notes in the V2 copy of a V3 card.
const COPY_NOTICE: &str = "This is a Character Card V3, shown here in the older form V2; some of its features are missing.";

impl Card {
    /// Formats the card as indented V3 JSON. V1 and V2 cards are upgraded.
    pub fn to_json_v3(&self) -> String {
        pretty(self.upgraded_root(CardVersion::V3))
    }

    /// Formats the card as indented V2 JSON. V3 fields stay in `data`, where V2 readers ignore
    /// them.
    pub fn to_json_v2(&self) -> String {
        pretty(self.upgraded_root(CardVersion::V2))
    }

    /// Returns the picture with the card in it: V3 as `ccv3`, and a V2 copy as `chara` for older
    /// applications. Replaces existing card texts and preserves all other chunks, including pixels,
    /// byte for byte.
    ///
    /// # Errors
    /// [`CardError`] if `picture` is not an intact PNG, or the result exceeds the size limit for
    /// reading.
    pub fn to_png(&self, picture: &[u8]) -> Result<Vec<u8>, CardError> {
        let v3 = Value::Object(self.upgraded_root(CardVersion::V3)).to_string();
        let v2 = Value::Object(self.v2_copy()).to_string();
        png::with_card_texts(picture, &[("chara", &v2), ("ccv3", &v3)])
    }

    /// Returns the JSON root in the given version, with all fields that it requires.
    pub(super) fn upgraded_root(&self, version: CardVersion) -> Map<String, Value> {
        let mut fields = self.fields.clone();
        let mut root = self.outer.clone();
        if self.version == CardVersion::V1 {
            (fields, root) = split_v1(fields);
        }
        for (field, default) in required(version) {
            fields.entry(field).or_insert(default);
        }
        if root.get("spec").and_then(Value::as_str) != Some(version.spec()) {
            root.insert("spec".into(), version.spec().into());
            root.insert("spec_version".into(), version.number().into());
        }
        root.entry("spec_version")
            .or_insert_with(|| version.number().into());
        root.insert("data".into(), Value::Object(fields));
        root
    }

    /// Returns the copy for older applications. Only V3 cards need the notice and the removal of
    /// decorators.
    fn v2_copy(&self) -> Map<String, Value> {
        let mut root = self.upgraded_root(CardVersion::V2);
        if self.version == CardVersion::V3
            && let Some(Value::Object(data)) = root.get_mut("data")
        {
            let notes = [COPY_NOTICE, self.creator_notes()].join("\n\n");
            data.insert("creator_notes".into(), notes.trim_end().into());
            strip_decorators(data);
        }
        root
    }
}

fn pretty(root: Map<String, Value>) -> String {
    format!("{:#}", Value::Object(root))
}

/// Splits a V1 card into fields and outer object. Unknown keys go to the outer object, unless they
/// conflict with its own keys.
fn split_v1(flat: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let (fields, unknown): (Map<_, _>, Map<_, _>) = flat.into_iter().partition(|(key, _)| {
        matches!(key.as_str(), "name" | "spec" | "spec_version" | "data")
            || fields::KNOWN.iter().any(|(field, _)| field == key)
    });
    // These keys come first, so that a reader of the file sees the format at once.
    let mut root =
        Map::from_iter(["spec", "spec_version", "data"].map(|key| (key.to_owned(), Value::Null)));
    root.extend(unknown);
    (fields, root)
}

/// Fields that the specification requires in every card, with their defaults.
fn required(version: CardVersion) -> Vec<(&'static str, Value)> {
    let texts = [
        "description",
        "personality",
        "scenario",
        "first_mes",
        "mes_example",
        "creator_notes",
        "system_prompt",
        "post_history_instructions",
        "creator",
        "character_version",
    ];
    let lists: &[_] = match version {
        CardVersion::V3 => &["alternate_greetings", "tags", "group_only_greetings"],
        _ => &["alternate_greetings", "tags"],
    };
    let mut required: Vec<_> = texts.map(|field| (field, Value::from(""))).into();
    required.extend(lists.iter().map(|field| (*field, Value::Array(Vec::new()))));
    required.push(("extensions", Value::Object(Map::new())));
    required
}

/// Removes V3 decorators from lorebook entries, because V2 readers would show them as text. Some
/// exporters store the entries as an object with numeric keys instead of a list.
fn strip_decorators(data: &mut Map<String, Value>) {
    let contents: Vec<&mut Value> = match data
        .get_mut("character_book")
        .and_then(|book| book.get_mut("entries"))
    {
        Some(Value::Array(entries)) => entries
            .iter_mut()
            .filter_map(|entry| entry.get_mut("content"))
            .collect(),
        Some(Value::Object(entries)) => entries
            .values_mut()
            .filter_map(|entry| entry.get_mut("content"))
            .collect(),
        _ => return,
    };
    for content in contents {
        if let Value::String(text) = content
            && text.trim_start().starts_with("@@")
        {
            *text = without_decorators(text).to_owned();
        }
    }
}

/// Skips the leading `@@` lines and the blank lines around them.
fn without_decorators(mut text: &str) -> &str {
    loop {
        let line = text.lines().next().unwrap_or_default();
        if text.is_empty() || !(line.trim().is_empty() || line.starts_with("@@")) {
            return text;
        }
        text = text.split_once('\n').map_or("", |(_, below)| below);
    }
}

#[cfg(test)]
mod tests {
    use super::without_decorators;

    #[test]
    fn strips_decorators_and_blank_lines() {
        assert_eq!(
            without_decorators("@@depth 4\n@@@role user\n\nThe lamps burn oil.\n@@ stays"),
            "The lamps burn oil.\n@@ stays"
        );
        assert_eq!(without_decorators("\n@@activate\r\nText"), "Text");
        assert_eq!(without_decorators("@@activate"), "");
    }
}
