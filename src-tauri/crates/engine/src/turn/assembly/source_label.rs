//! The source of a block as a code with values, which the window translates.

use std::collections::BTreeMap;

use context::frame::Source;

use crate::api::{ReasonValue, SourceLabel};

/// Codes of the two halves of a tool round. The other codes are the serialized names of [`Source`].
const TOOL_ROUND_CODES: [&str; 2] = ["toolCalls", "toolResults"];

/// The values are those that a text about the source can name.
pub(crate) fn label(source: &Source) -> Option<SourceLabel> {
    let text = |text: &str| ReasonValue::Text(text.to_owned());
    let values: Vec<(&str, ReasonValue)> = match source {
        Source::Template { template, section } => {
            vec![("template", text(template)), ("section", text(section))]
        }
        Source::CardField { card, .. } => vec![("card", text(card))],
        Source::Persona { name } | Source::Mode { name } | Source::Document { name, .. } => {
            vec![("name", text(name))]
        }
        Source::Lore { book, entry, title } => {
            vec![
                ("book", text(book)),
                ("title", text(if title.is_empty() { entry } else { title })),
            ]
        }
        Source::Message { speaker, .. } => vec![("speaker", text(speaker))],
        Source::Older { count, .. } | Source::Others { count } => {
            vec![("count", ReasonValue::Number(*count as f64))]
        }
        Source::Setting { key } => vec![("key", text(key))],
        Source::ToolRound { names, .. } => vec![("names", text(names))],
        Source::BuiltIn
        | Source::ChatText { .. }
        | Source::Memory { .. }
        | Source::Keyframe { .. }
        | Source::Clock
        | Source::Reminder
        | Source::Note
        | Source::Hint
        | Source::Client => Vec::new(),
    };
    let values: BTreeMap<String, ReasonValue> = values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let code = match source {
        Source::ToolRound { results, .. } => TOOL_ROUND_CODES[usize::from(*results)].to_owned(),
        source => serde_json::to_value(source)
            .ok()?
            .get("type")?
            .as_str()?
            .to_owned(),
    };
    Some(SourceLabel { code, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_rounds_have_codes_of_their_own() {
        let round = |results| Source::ToolRound {
            message: None,
            round: 0,
            names: "roll, look".into(),
            results,
        };
        let codes = [false, true].map(|results| label(&round(results)).unwrap());
        assert_eq!(
            codes.each_ref().map(|label| label.code.as_str()),
            ["toolCalls", "toolResults"]
        );
        assert_eq!(
            codes[0].values["names"],
            ReasonValue::Text("roll, look".into())
        );
        let lore = Source::Lore {
            book: "Sea".into(),
            entry: "7".into(),
            title: String::new(),
        };
        let lore = label(&lore).unwrap();
        assert_eq!(
            (lore.code.as_str(), &lore.values["title"]),
            ("lore", &ReasonValue::Text("7".into()))
        );
    }
}
