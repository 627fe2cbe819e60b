//! Versions of a message (swipes in SillyTavern), and the choice of the shown version.

use serde_json::{Map, Value};

use crate::chat_file::model::MessageVersion;

/// Maximum number of versions per message.
pub(super) const MAX_VERSIONS: usize = 500;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// Maximum length of a date, in characters. Each version of a message may repeat it.
const MAX_DATE: usize = 64;
/// Keys that SillyTavern stores with each version, and with the message for the shown version.
pub(super) const OF_VERSION: [&str; 3] = ["gen_started", "gen_finished", DATE];
/// Key of the date. A date that is not a string stays in the unused fields, unchanged.
const DATE: &str = "send_date";

pub(super) struct Versions {
    /// Never empty.
    pub(super) all: Vec<MessageVersion>,
    pub(super) selected: usize,
    /// Number of versions above the limit.
    pub(super) cut: usize,
}

/// Reads all versions up to the limit. The message's own text decides which one is shown.
/// `swipe_id` is often missing or stale, so it only chooses between equal texts. A text that
/// matches no version becomes a new one.
pub(super) fn versions(line: &Map<String, Value>, mut shown: MessageVersion) -> Versions {
    let texts: Vec<String> = line
        .get("swipes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(text_of_version)
        .collect();
    let about = |index: usize| {
        line.get("swipe_info")
            .and_then(|all| all.get(index))
            .and_then(Value::as_object)
    };
    let place = chosen(line, &texts, &shown.text);
    if let Some(about) = place.and_then(about) {
        complete(&mut shown, about);
    }
    let total = texts.len() + usize::from(place.is_none());
    let place = place.unwrap_or(texts.len());
    let keep = |index: usize| index < MAX_VERSIONS - usize::from(place >= MAX_VERSIONS);
    let mut all: Vec<MessageVersion> = texts
        .into_iter()
        .enumerate()
        .filter(|(index, _)| keep(*index) && *index != place)
        .map(|(index, text)| other(text, line.get("send_date"), about(index)))
        .collect();
    let selected = place.min(all.len());
    all.insert(selected, shown);
    Versions {
        cut: total - all.len(),
        all,
        selected,
    }
}

fn text_of_version(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // The user cancelled the generation before its first word.
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Returns the index of the version with the message's text. Prefers `swipe_id` among equal texts,
/// or else the last one.
fn chosen(line: &Map<String, Value>, texts: &[String], shown: &str) -> Option<usize> {
    let named = match line.get("swipe_id") {
        Some(Value::Number(id)) => id.as_u64().and_then(|id| usize::try_from(id).ok()),
        Some(Value::String(id)) => id.trim().parse().ok(),
        _ => None,
    };
    let is_shown = |index: &usize| texts.get(*index).is_some_and(|text| text == shown);
    named
        .filter(is_shown)
        .or_else(|| texts.iter().rposition(|text| text == shown))
}

/// Builds a version that is not shown. It takes the message's date if it has none of its own.
fn other(text: String, sent: Option<&Value>, about: Option<&Map<String, Value>>) -> MessageVersion {
    let mut version = MessageVersion {
        text,
        ..MessageVersion::default()
    };
    if let Some(about) = about {
        complete(&mut version, about);
    }
    if about.is_none_or(|about| !about.contains_key(DATE)) {
        version.date = date(sent);
    }
    version
}

/// Builds the shown version from the fields of the line itself.
pub(super) fn shown(text: &str, line: &Map<String, Value>) -> MessageVersion {
    let mut about = Map::new();
    for key in OF_VERSION.iter().chain(&["extra"]) {
        if let Some(value) = line.get(*key) {
            about.insert((*key).to_owned(), value.clone());
        }
    }
    let mut version = MessageVersion {
        text: text.to_owned(),
        ..MessageVersion::default()
    };
    complete(&mut version, &about);
    version
}

/// Fills missing fields of `version` from `about`.
fn complete(version: &mut MessageVersion, about: &Map<String, Value>) {
    let extra = about.get("extra").and_then(Value::as_object);
    let text = |key: &str| {
        extra
            .and_then(|extra| extra.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let dated = !version.date.is_empty() || version.unused_fields.contains_key(DATE);
    if let Some(found) = about.get(DATE).filter(|found| !dated && !found.is_null()) {
        version.date = date(Some(found));
        if !found.is_string() {
            version.unused_fields.insert(DATE.to_owned(), found.clone());
        }
    }
    fill(&mut version.thoughts, || text("reasoning").to_owned());
    fill(&mut version.model, || {
        text("model").chars().take(MAX_NAME).collect()
    });
    for (key, value) in about
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), DATE | "extra"))
    {
        version
            .unused_fields
            .entry(key.clone())
            .or_insert_with(|| value.clone());
    }
    keep_unused(version, extra);
}

/// Keeps what the fields of the version do not hold.
fn keep_unused(version: &mut MessageVersion, extra: Option<&Map<String, Value>>) {
    let used = |key: &str, value: &Value| matches!(key, "reasoning" | "model") && value.is_string();
    let unused: Vec<_> = extra
        .into_iter()
        .flatten()
        .filter(|(key, value)| !used(key, value))
        .collect();
    if unused.is_empty() {
        return;
    }
    if let Value::Object(kept) = version
        .unused_fields
        .entry("extra")
        .or_insert_with(|| Map::new().into())
    {
        for (key, value) in unused {
            kept.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

fn fill(text: &mut String, other: impl FnOnce() -> String) {
    if text.is_empty() {
        *text = other();
    }
}

/// Returns the date as written in the file. Old files use seconds or milliseconds.
fn date(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(date)) => date.chars().take(MAX_DATE).collect(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}
