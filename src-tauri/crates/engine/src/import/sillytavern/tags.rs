//! Tags that a SillyTavern user has given to characters, in addition to those of the cards.

use std::collections::HashMap;

use serde_json::Value;

use crate::import::sillytavern::folder::composed;

/// Maximum number of tags per character.
const MOST: usize = 100;
/// Maximum length of a tag, in characters.
const LONGEST: usize = 100;

/// Names of tags by their ids, in which the filters of lorebooks are written.
pub(crate) type TagNames = HashMap<String, String>;

/// Reads the names of the tags.
pub(crate) fn tag_names(settings: &Value) -> TagNames {
    let mut names = TagNames::new();
    for tag in settings
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let text = |key: &str| tag.get(key).and_then(Value::as_str).map(str::trim);
        let name = text("name").filter(|name| !name.is_empty() && name.chars().count() <= LONGEST);
        if let (Some(id), Some(name)) = (text("id"), name) {
            names.insert(id.to_owned(), name.to_owned());
        }
    }
    names
}

/// Names of tags by character file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tags(HashMap<String, Vec<String>>);

impl Tags {
    /// Reads the tags (`tags`) and the characters they belong to (`tag_map`).
    pub(crate) fn of(settings: &Value) -> Self {
        let names = tag_names(settings);
        let given = settings
            .get("tag_map")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let given = given.map(|(file, ids)| {
            let ids = ids
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let tags = ids.filter_map(|id| names.get(id)).take(MOST).cloned();
            (composed(file), tags.collect())
        });
        Self(given.collect())
    }

    pub(crate) fn given_to(&self, file: &str) -> &[String] {
        self.0
            .get(&composed(file))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_are_found_by_their_ids() {
        let tags = Tags::of(&json!({
            "tags": [{ "id": "1", "name": " sea " }, { "id": "2", "name": "" }, { "name": "nobody's" }, 7],
            "tag_map": { "Ada.png": ["1", "2", "3", 4], "Bo.png": "1", "170": [] },
        }));
        assert_eq!(tags.given_to("Ada.png"), ["sea"]);
        for nobody in ["Bo.png", "170", "Zed.png"] {
            assert!(tags.given_to(nobody).is_empty(), "{nobody}");
        }
        assert!(
            Tags::of(&json!({ "tags": "x", "tag_map": [] }))
                .given_to("Ada.png")
                .is_empty()
        );
    }
}
