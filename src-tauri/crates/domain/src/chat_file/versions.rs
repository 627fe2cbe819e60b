//! The versions of a message (SillyTavern calls them swipes), and which of them is shown.

use serde_json::{Map, Value};

use super::Version;

/// Versions of a message.
pub(super) const MAX_VERSIONS: usize = 500;
/// Characters of a name.
const MAX_NAME: usize = 200;
/// Characters of a date, which every version of a message may repeat.
const MAX_DATE: usize = 64;
/// What SillyTavern keeps with each version, and with the message for the version that is shown.
pub(super) const OF_VERSION: [&str; 3] = ["gen_started", "gen_finished", DATE];
/// A date that is no text stays as it is beside its text.
const DATE: &str = "send_date";

/// The versions of a message.
pub(super) struct Versions {
    /// Never empty.
    pub(super) all: Vec<Version>,
    pub(super) selected: usize,
    /// Versions beyond the limit.
    pub(super) cut: usize,
}

/// All versions up to the limit. The message's own text decides which one is shown: `swipe_id` is often missing or stale, so it
/// only chooses among equal texts. A text that is no version becomes one more.
pub(super) fn versions(line: &Map<String, Value>, mut shown: Version) -> Versions {
    let texts: Vec<String> =
        line.get("swipes").and_then(Value::as_array).into_iter().flatten().map(text_of_version).collect();
    let about = |index: usize| line.get("swipe_info").and_then(|all| all.get(index)).and_then(Value::as_object);
    let place = chosen(line, &texts, &shown.text);
    if let Some(about) = place.and_then(about) {
        complete(&mut shown, about);
    }
    let total = texts.len() + usize::from(place.is_none());
    let place = place.unwrap_or(texts.len());
    let keep = |index: usize| index < MAX_VERSIONS - usize::from(place >= MAX_VERSIONS);
    let mut all: Vec<Version> = texts
        .into_iter()
        .enumerate()
        .filter(|(index, _)| keep(*index) && *index != place)
        .map(|(index, text)| other(text, line.get("send_date"), about(index)))
        .collect();
    let selected = place.min(all.len());
    all.insert(selected, shown);
    Versions { cut: total - all.len(), all, selected }
}

fn text_of_version(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // A generation that was cancelled before its first word.
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Index of the version with the message's text; of several the one that `swipe_id` names, else the last.
fn chosen(line: &Map<String, Value>, texts: &[String], shown: &str) -> Option<usize> {
    let named = match line.get("swipe_id") {
        Some(Value::Number(id)) => id.as_u64().and_then(|id| usize::try_from(id).ok()),
        Some(Value::String(id)) => id.trim().parse().ok(),
        _ => None,
    };
    let is_shown = |index: &usize| texts.get(*index).is_some_and(|text| text == shown);
    named.filter(is_shown).or_else(|| texts.iter().rposition(|text| text == shown))
}

/// A version that is not shown. Where nothing tells its date it has the message's.
fn other(text: String, sent: Option<&Value>, about: Option<&Map<String, Value>>) -> Version {
    let mut version = Version { text, ..Version::default() };
    if let Some(about) = about {
        complete(&mut version, about);
    }
    if about.is_none_or(|about| !about.contains_key(DATE)) {
        version.sent = date(sent);
    }
    version
}

/// What the line itself says of the version that is shown.
pub(super) fn shown(text: &str, line: &Map<String, Value>) -> Version {
    let mut about = Map::new();
    for key in OF_VERSION.iter().chain(&["extra"]) {
        if let Some(value) = line.get(*key) {
            about.insert((*key).to_owned(), value.clone());
        }
    }
    let mut version = Version { text: text.to_owned(), ..Version::default() };
    complete(&mut version, &about);
    version
}

/// Adds what `about` says where `version` does not say it yet.
fn complete(version: &mut Version, about: &Map<String, Value>) {
    let extra = about.get("extra").and_then(Value::as_object);
    let text = |key: &str| extra.and_then(|extra| extra.get(key)).and_then(Value::as_str).unwrap_or_default();
    let dated = !version.sent.is_empty() || version.rest.contains_key(DATE);
    if let Some(found) = about.get(DATE).filter(|found| !dated && !found.is_null()) {
        version.sent = date(Some(found));
        if !found.is_string() {
            version.rest.insert(DATE.to_owned(), found.clone());
        }
    }
    fill(&mut version.thoughts, || text("reasoning").to_owned());
    fill(&mut version.model, || text("model").chars().take(MAX_NAME).collect());
    for (key, value) in about.iter().filter(|(key, _)| !matches!(key.as_str(), DATE | "extra")) {
        version.rest.entry(key.clone()).or_insert_with(|| value.clone());
    }
    let used = |key: &str, value: &Value| matches!(key, "reasoning" | "model") && value.is_string();
    let unused: Vec<_> = extra.into_iter().flatten().filter(|(key, value)| !used(key, value)).collect();
    if unused.is_empty() {
        return;
    }
    if let Value::Object(kept) = version.rest.entry("extra").or_insert_with(|| Map::new().into()) {
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

/// A date as the file writes it; seconds or milliseconds in old files.
fn date(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(date)) => date.chars().take(MAX_DATE).collect(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}
