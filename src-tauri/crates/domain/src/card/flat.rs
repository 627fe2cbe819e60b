//! Reads flat cards that are not V1: JSON of Pygmalion, and YAML or JSON of text-generation-webui.
//! Adds the V1 fields and keeps the original ones.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use super::CardError;
use super::fields::{FieldType, KNOWN};
use crate::file_kind;

/// Maximum size of YAML, in bytes.
const MAX_YAML: usize = 1 << 20;
const MAX_DEPTH: usize = 32;
const MAX_VALUES: usize = 10_000;

/// V1 field names and the names that other apps use for them.
const NAMES: [(&str, &[&str]); 5] = [
    ("name", &["char_name"]),
    ("description", &["char_persona", "context"]),
    ("scenario", &["world_scenario"]),
    ("first_mes", &["char_greeting", "greeting", "first_message"]),
    ("mes_example", &["example_dialogue", "example_dialogs"]),
];

/// Adds each V1 field that is missing, if the card has its counterpart.
pub(super) fn with_our_names(root: &mut Map<String, Value>) {
    if root.contains_key("spec") || root.contains_key("data") {
        return;
    }
    for (ours, theirs) in NAMES {
        let said = |key: &&str| {
            root.get(*key)
                .and_then(Value::as_str)
                .filter(|text| !text.trim().is_empty())
        };
        // An existing empty field stays empty: the user may have emptied it.
        if !root.contains_key(ours)
            && let Some(text) = theirs.iter().find_map(said).map(str::to_owned)
        {
            root.insert(ours.to_owned(), text.into());
        }
    }
}

/// Reads the card in a YAML file. Returns `None` if the text is not YAML, is longer than
/// [`MAX_YAML`], or lacks a name or any other card field.
///
/// # Errors
/// [`CardError`] if the YAML is nested too deeply, has too many values, or uses aliases.
pub(super) fn from_yaml(text: &str) -> Result<Option<Map<String, Value>>, CardError> {
    // Almost any text is valid YAML, so require a line with a name before parsing.
    let names = |line: &str| {
        ["name:", "char_name:"]
            .iter()
            .any(|key| line.starts_with(key))
    };
    if text.len() > MAX_YAML || !text.lines().any(names) {
        return Ok(None);
    }
    let Some(Value::Object(root)) = FlatReader::of(text)? else {
        return Ok(None);
    };
    Ok(Some(root).filter(file_kind::may_be_card))
}

/// Names other YAML files, for the error message.
pub(super) fn other_yaml(bytes: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| text.len() <= MAX_YAML)?;
    let has = |key: &str| {
        text.lines().any(|line| {
            line.strip_prefix(key)
                .is_some_and(|rest| rest.starts_with(':'))
        })
    };
    if has("instruction_template") || has("turn_template") {
        return Some("a text-generation-webui instruction template");
    }
    if has("temperature") || has("top_p") {
        return Some("a text-generation-webui sampler preset");
    }
    let kinds = [
        (["description", "body"], "a form for reports of GitHub"),
        (["description", "runs"], "an action of GitHub"),
        (["on", "jobs"], "a workflow of GitHub"),
        (["name", "about"], "a form for reports of GitHub"),
        (["services", "services"], "a description of containers"),
    ];
    kinds
        .into_iter()
        .find(|(keys, _)| keys.iter().all(|key| has(key)))
        .map(|(_, what)| what)
}

/// YAML parser state: the open lists and maps, each map with the key that awaits its value.
struct FlatReader {
    open: Vec<(Value, Option<String>)>,
    values: usize,
    whole: Option<Value>,
}

impl FlatReader {
    /// Reads numbers, `true`, `false` and `null` as such, except in card fields that are texts.
    fn of(text: &str) -> Result<Option<Value>, CardError> {
        let mut reading = Self {
            open: Vec::new(),
            values: 0,
            whole: None,
        };
        for event in Parser::new_from_str(text) {
            let Ok((event, _)) = event else {
                return Ok(None);
            };
            match event {
                Event::Scalar(text, ScalarStyle::Plain, _, None) => {
                    let value = reading.plain(text.into_owned());
                    reading.put(value)?;
                }
                Event::Scalar(text, ..) => reading.put(Value::String(text.into_owned()))?,
                Event::SequenceStart(..) => reading.enter(Value::Array(Vec::new()))?,
                Event::MappingStart(..) => reading.enter(Value::Object(Map::new()))?,
                Event::SequenceEnd | Event::MappingEnd => reading.leave()?,
                // A few nested aliases can expand to billions of values.
                Event::Alias(_) => {
                    return Err(CardError::TooComplex {
                        what: "repeated parts (aliases)",
                        limit: 0,
                    });
                }
                Event::DocumentEnd => break,
                _ => {}
            }
        }
        Ok(reading.whole)
    }

    /// The value of a scalar without quotes, by YAML's core schema.
    fn plain(&self, text: String) -> Value {
        let is_key = matches!(self.open.last(), Some((Value::Object(_), None)));
        let of_text = self
            .open
            .first()
            .and_then(|(_, key)| key.as_deref())
            .is_some_and(is_text_field);
        match text.as_str() {
            _ if is_key => Value::String(text),
            "" if of_text => Value::String(text),
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            _ if of_text => Value::String(text),
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            _ => number(&text).unwrap_or(Value::String(text)),
        }
    }

    fn enter(&mut self, empty: Value) -> Result<(), CardError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(CardError::TooComplex {
                what: "too many levels",
                limit: MAX_DEPTH,
            });
        }
        self.open.push((empty, None));
        Ok(())
    }

    fn leave(&mut self) -> Result<(), CardError> {
        match self.open.pop() {
            Some((whole, _)) => self.put(whole),
            None => Ok(()),
        }
    }

    fn put(&mut self, value: Value) -> Result<(), CardError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(CardError::TooComplex {
                what: "too many values",
                limit: MAX_VALUES,
            });
        }
        match self.open.last_mut() {
            None => self.whole = Some(value),
            Some((Value::Object(map), key)) => match key.take() {
                Some(key) => _ = map.insert(key, value),
                None => {
                    *key = Some(
                        value
                            .as_str()
                            .map_or_else(|| value.to_string(), str::to_owned),
                    )
                }
            },
            Some((Value::Array(list), _)) => list.push(value),
            Some(_) => {}
        }
        Ok(())
    }
}

/// Whether the card field with this name is a text or a list of texts.
fn is_text_field(name: &str) -> bool {
    let known = KNOWN
        .iter()
        .any(|(field, kind)| *field == name && matches!(kind, FieldType::Text | FieldType::Texts));
    known
        || NAMES
            .iter()
            .any(|(ours, theirs)| *ours == name || theirs.contains(&name))
}

/// The number in a plain scalar. A number that JSON cannot hold stays text.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits
            .chars()
            .all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | 'e' | 'E' | '+' | '-'));
    if !is_number {
        return None;
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = unsigned.parse::<i64>() {
        return Some(whole.into());
    }
    unsigned
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .map(Value::from)
}
