//! How the replies of a chat completion preset begin, continue and end.

use serde_json::{Map, Value};

use crate::convert::note::ConversionNote;
use crate::convert::sections::text;
use crate::prompt_template::{Defaults, Postfix, escape};

/// The fields that this module reads.
pub(super) const FIELDS: [&str; 7] = [
    START,
    "claude_assistant_prefill",
    POSTFIX,
    "custom_stopping_strings",
    "stop",
    "stopping_strings",
    "stop_sequence",
];

/// The fields with texts that end a reply, as different apps name them.
const STOPS: [&str; 4] = [
    "custom_stopping_strings",
    "stop",
    "stopping_strings",
    "stop_sequence",
];
const START: &str = "assistant_prefill";
const POSTFIX: &str = "continue_postfix";

/// Maximum number of stop texts, and the maximum length of each in bytes.
const MOST: (usize, usize) = (100, 1_000);

pub(super) fn of(preset: &Map<String, Value>, report: &mut Vec<ConversionNote>) -> Defaults {
    let stop = stops(preset, report);
    let start = [START, "claude_assistant_prefill"]
        .into_iter()
        .find(|field| !text(preset, field).trim().is_empty());
    if let Some(field) = start {
        let what = "replies begin with this text; change it in the template, or with the setting \"Start of replies\"";
        report.push(ConversionNote::new(field, what));
    }
    let continue_postfix = postfix(preset, report);
    Defaults {
        reply_tokens: None,
        stop: Some(stop),
        reply_start: start.map(|field| text(preset, field).to_owned()),
        continue_postfix,
    }
}

fn postfix(preset: &Map<String, Value>, report: &mut Vec<ConversionNote>) -> Option<Postfix> {
    let written = preset.get(POSTFIX)?.as_str()?;
    let taken = match written {
        "" => Postfix::None,
        " " => Postfix::Space,
        "\n" => Postfix::Line,
        "\n\n" => Postfix::Paragraph,
        _ => {
            report.push(ConversionNote::new(
                POSTFIX,
                "not kept: only a blank, a line break or an empty line can stand there",
            ));
            return None;
        }
    };
    let what = "kept: it stands between a reply and its continuation, unless a blank or line break is already there";
    report.push(ConversionNote::new(POSTFIX, what));
    Some(taken)
}

/// The texts that end a reply. Without any, the template has none, as in presets of this kind.
fn stops(preset: &Map<String, Value>, report: &mut Vec<ConversionNote>) -> Vec<String> {
    let mut stops: Vec<String> = Vec::new();
    for field in STOPS {
        let Some(value) = preset.get(field).filter(|value| !value.is_null()) else {
            continue;
        };
        let Some(texts) = listed(value) else {
            report.push(ConversionNote::new(
                field,
                "not kept: it is not a list of texts",
            ));
            continue;
        };
        let (usable, unusable): (Vec<String>, Vec<String>) = texts
            .into_iter()
            .filter(|text| !text.is_empty())
            .partition(|text| text.len() <= MOST.1);
        if !unusable.is_empty() {
            let what = format!(
                "{} texts are longer than {} bytes and are left out",
                unusable.len(),
                MOST.1
            );
            report.push(ConversionNote::new(field, what));
        }
        let new: Vec<String> = usable
            .into_iter()
            .map(|text| escape(&text))
            .filter(|text| !stops.contains(text))
            .collect();
        if !new.is_empty() {
            report.push(ConversionNote::new(
                field,
                format!("{} texts end a reply; they are in the template", new.len()),
            ));
        }
        stops.extend(new);
    }
    if stops.len() > MOST.0 {
        let what = format!(
            "{} texts are left out; a template holds {}",
            stops.len() - MOST.0,
            MOST.0
        );
        report.push(ConversionNote::new("stop", what));
        stops.truncate(MOST.0);
    }
    stops
}

/// The texts of a list, of a list in a text, or of a plain text. `None` for anything else.
fn listed(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) if text.trim_start().starts_with('[') => {
            serde_json::from_str::<Value>(text)
                .map_or_else(|_| Some(vec![text.clone()]), |list| listed(&list))
        }
        Value::String(text) if text.trim().is_empty() => Some(Vec::new()),
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(preset: Value) -> (Defaults, Vec<String>) {
        let mut report = Vec::new();
        let read = of(preset.as_object().unwrap(), &mut report);
        (
            read,
            report
                .into_iter()
                .map(|note| format!("{}: {}", note.field, note.what))
                .collect(),
        )
    }

    #[test]
    fn every_form_of_stop_texts_is_read_or_named() {
        let stops = |preset: Value| read(preset).0.stop.unwrap();
        assert_eq!(
            stops(
                json!({"custom_stopping_strings": "[\"###\", \"\\n{{user}}:\"]", "stop": ["###", "<END>"]})
            ),
            ["###", "\n{{user}}:", "<END>"]
        );
        assert_eq!(stops(json!({"stop": "STOP ${x}"})), ["STOP $${x}"]);
        assert_eq!(
            stops(json!({"stop": "", "custom_stopping_strings": "[]"})),
            Vec::<String>::new()
        );
        let (_, notes) = read(json!({"stop": {"a": 1}, "stopping_strings": ["x".repeat(2_000)]}));
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes[0].contains("not kept") && notes[1].contains("left out"),
            "{notes:?}"
        );
    }

    #[test]
    fn start_and_postfix_of_replies_are_kept() {
        let (defaults, notes) =
            read(json!({"assistant_prefill": "*{{char}} nods.*", "continue_postfix": "\n\n"}));
        assert_eq!(defaults.reply_start.as_deref(), Some("*{{char}} nods.*"));
        assert_eq!(defaults.continue_postfix, Some(Postfix::Paragraph));
        assert_eq!(notes.len(), 2);
        let (defaults, notes) = read(json!({"continue_postfix": "---", "assistant_prefill": " "}));
        assert_eq!(
            (defaults.reply_start, defaults.continue_postfix),
            (None, None)
        );
        assert!(notes[0].contains("not kept"), "{notes:?}");
    }
}
