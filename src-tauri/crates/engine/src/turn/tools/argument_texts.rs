//! The descriptions in the schema of a tool's arguments, for the question to the user.

use domain::shown_text::{visible, visible_line};
use serde_json::Value;

use crate::api::ToolArgumentText;

/// Deepest level of a schema that is shown.
const MAX_DEPTH: usize = 8;
/// Descriptions that are shown. A schema has at most 16 KiB.
const MAX_TEXTS: usize = 200;

/// Lists the descriptions of all arguments and their parts.
pub(super) fn argument_texts(schema: &Value) -> Vec<ToolArgumentText> {
    let mut texts = Vec::new();
    collect(schema, "", MAX_DEPTH, &mut texts);
    texts
}

fn collect(schema: &Value, path: &str, depth: usize, texts: &mut Vec<ToolArgumentText>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties {
        let name = visible_line(name);
        let path = if path.is_empty() {
            name
        } else {
            format!("{path}.{name}")
        };
        let texts_of = ["title", "description"]
            .into_iter()
            .filter_map(|key| property[key].as_str());
        let about = visible(texts_of.collect::<Vec<_>>().join(": ").trim());
        if texts.len() == MAX_TEXTS {
            return;
        }
        if !about.is_empty() {
            texts.push(ToolArgumentText {
                name: path.clone(),
                about,
            });
        }
        collect(property, &path, depth, texts);
        collect(&property["items"], &path, depth, texts);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_descriptions_of_all_levels() {
        let schema = json!({ "type": "object", "properties": {
            "path": { "type": "string", "description": "Where\u{202e} to write." },
            "plain": { "type": "string" },
            "files": { "type": "array", "items": { "properties": { "name": { "title": "Name", "description": "Short." } } } },
        } });
        let texts: Vec<_> = argument_texts(&schema)
            .into_iter()
            .map(|text| (text.name, text.about))
            .collect();
        let expected = [("files.name", "Name: Short."), ("path", "Where to write.")];
        let mut texts: Vec<_> = texts
            .iter()
            .map(|(name, about)| (name.as_str(), about.as_str()))
            .collect();
        texts.sort_unstable();
        assert_eq!(texts, expected);
    }
}
