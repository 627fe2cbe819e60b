//! Recorded cases: the behaviour of SillyTavern for given books and chats, as JSON lines, and our
//! result for them.
//!
//! `VECTORS.md` describes the format: a header with defaults, then one case per line.

mod schema;
mod show;

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::lorebook::Book;
use serde_json::{Map, Value, json};

pub use self::schema::{Case, Header};
use self::schema::{Edit, Point};
use self::show::shown;
use super::{
    CardTexts, Chance, LoreCharacter, LoreInput, LoreMessage, LoreOutcome, LoreSettings, NamedBook,
    PreparedBooks, Profile, TimedState, activate,
};

/// The reason why a file of cases cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    #[error("line {line} is not a valid {what}: {source}")]
    Json {
        line: usize,
        what: &'static str,
        source: serde_json::Error,
    },
    #[error("the first line must be the header with the defaults")]
    NoHeader,
}

/// Our result for a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRun {
    pub id: String,
    pub budget_tokens: Option<u32>,
    /// One object per point, in the format of the recording.
    pub expect: Vec<Value>,
    /// True if it equals the recording, ignoring `passes`.
    pub agrees: bool,
}

impl CaseRun {
    /// The line to write.
    pub fn to_value(&self) -> Value {
        json!({ "id": self.id, "budget_tokens": self.budget_tokens, "expect": self.expect })
    }
}

/// Parses a file of cases.
///
/// Errors
/// [`CaseError`] names the invalid line.
pub fn read(text: &str) -> Result<(Header, Vec<Case>), CaseError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let (_, first) = lines.next().ok_or(CaseError::NoHeader)?;
    let header: Header = serde_json::from_str(first).map_err(|_| CaseError::NoHeader)?;
    let case = |(line, text): (usize, &str)| {
        let error = |source| CaseError::Json {
            line: line + 1,
            what: "case",
            source,
        };
        let stated: Map<String, Value> = serde_json::from_str(text).map_err(error)?;
        let mut whole = header.case_defaults.clone();
        for (name, value) in stated {
            match (whole.get_mut(&name), value) {
                (Some(Value::Object(default)), Value::Object(stated)) => default.extend(stated),
                (_, value) => _ = whole.insert(name, value),
            }
        }
        serde_json::from_value(Value::Object(whole)).map_err(error)
    };
    let cases = lines.map(case).collect::<Result<_, _>>()?;
    Ok((header, cases))
}

/// Runs a case point by point and carries timed effects over.
pub fn run(header: &Header, case: &Case, profile: Profile) -> CaseRun {
    let settings = settings(header, case, profile);
    let mut books = case.books.clone();
    books
        .values_mut()
        .for_each(|book| fill(book, &header.entry_defaults));
    let mut timed = TimedState::default();
    let mut expect = Vec::new();
    let mut budget_tokens = None;
    for point in &case.at {
        point.edits.iter().for_each(|edit| apply(edit, &mut books));
        let prepared = PreparedBooks::new(&parsed(&books), &case.active.bindings(), &settings);
        let (outcome, note_inserted) = scan(case, point, &prepared, &timed);
        budget_tokens = budget_tokens.or((!outcome.no_entries).then_some(outcome.budget));
        expect.push(shown(&outcome, profile, note_inserted));
        timed = outcome.timed;
    }
    let without_passes = |point: &Value| {
        let mut point = point.clone();
        if let Some(point) = point.as_object_mut() {
            point.shift_remove("passes");
        }
        point
    };
    let recorded: Vec<Value> = case
        .expect
        .iter()
        .map(|point| without_passes(&Value::Object(point.clone())))
        .collect();
    let found: Vec<Value> = expect.iter().map(without_passes).collect();
    let agrees = found == recorded && budget_tokens == case.budget_tokens;
    CaseRun {
        id: case.id.clone(),
        budget_tokens,
        expect,
        agrees,
    }
}

fn settings(header: &Header, case: &Case, profile: Profile) -> LoreSettings {
    let defaults = LoreSettings {
        profile,
        ..LoreSettings::default()
    };
    defaults
        .with_values(&header.settings_defaults)
        .with_values(&case.settings)
}

/// Adds the default fields to entries, except those that the original file really lacks.
fn fill(book: &mut Value, defaults: &Map<String, Value>) {
    let Some(entries) = book.get_mut("entries").and_then(Value::as_object_mut) else {
        return;
    };
    for entry in entries.values_mut().filter_map(Value::as_object_mut) {
        for (name, value) in defaults {
            entry.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if let Some(Value::Array(absent)) = entry.shift_remove("absent") {
            absent
                .iter()
                .filter_map(Value::as_str)
                .for_each(|name| _ = entry.shift_remove(name));
        }
    }
}

fn apply(edit: &Edit, books: &mut BTreeMap<String, Value>) {
    let entries = books
        .get_mut(&edit.book)
        .and_then(|book| book.get_mut("entries"))
        .and_then(Value::as_object_mut);
    let Some(entries) = entries else { return };
    let Some(name) = entries
        .iter()
        .find(|(_, entry)| entry["uid"] == edit.uid)
        .map(|(name, _)| name.clone())
    else {
        return;
    };
    if edit.remove {
        entries.shift_remove(&name);
    } else if let (Some(set), Some(Value::Object(entry))) = (&edit.set, entries.get_mut(&name)) {
        entry.extend(set.clone());
    }
}

fn parsed(books: &BTreeMap<String, Value>) -> Vec<NamedBook> {
    let parse = |(name, value): (&String, &Value)| {
        let (book, _) = Book::from_value(value.clone()).ok()?;
        Some(NamedBook {
            name: name.as_str().into(),
            book: Arc::new(book),
        })
    };
    books.iter().filter_map(parse).collect()
}

/// The outcome at one point, and whether the author's note is inserted there.
fn scan(
    case: &Case,
    point: &Point,
    books: &PreparedBooks,
    timed: &TimedState,
) -> (LoreOutcome, bool) {
    let chat = &case.chat[..point.n.min(case.chat.len())];
    let messages: Vec<LoreMessage> = chat.iter().map(lore_message).collect();
    let from_user = chat.iter().filter(|message| message.is_user).count();
    let interval = case.note.interval;
    let inserted = interval == 1 || (from_user > 0 && from_user.is_multiple_of(interval));
    let note = (inserted && case.note.scan).then_some(case.note.text.as_str());
    let injections: Vec<&str> = note
        .into_iter()
        .chain(case.injections.iter().map(String::as_str))
        .collect();
    let tags: Vec<&str> = case.character.tags.iter().map(String::as_str).collect();
    let external: Vec<(&str, &str)> = point
        .external
        .iter()
        .filter_map(|name| name.rsplit_once('.'))
        .collect();
    let count = counter(&case.tokens);
    let outcome = activate(
        books,
        &LoreInput {
            messages: &messages,
            earlier: Default::default(),
            texts: card_texts(case),
            injections: &injections,
            character: LoreCharacter {
                file: &case.character.file,
                tags: &tags,
            },
            kind: point
                .trigger
                .as_deref()
                .and_then(|kind| kind.parse().ok())
                .unwrap_or_default(),
            dry_run: point.dry,
            external: &external,
            context_tokens: case.context,
            chance: Chance::Fixed(point.random.unwrap_or(case.random)),
            timed,
            greeting: None,
            user_icon: None,
            expand: &|written| written.text().to_owned().into(),
            count,
        },
    );
    (outcome, inserted)
}

fn lore_message(message: &schema::Message) -> LoreMessage<'_> {
    LoreMessage {
        name: &message.name,
        text: &message.mes,
        from_user: message.is_user,
        hidden: message.is_system,
    }
}

fn card_texts(case: &Case) -> CardTexts<'_> {
    let text = |name: &str| case.texts.get(name).map_or("", String::as_str);
    CardTexts {
        persona: text("persona"),
        description: text("description"),
        personality: text("personality"),
        depth_prompt: text("depth_prompt"),
        scenario: text("scenario"),
        creator_notes: text("creator_notes"),
    }
}

fn counter(rule: &str) -> &'static dyn Fn(&str) -> u32 {
    match rule {
        "chars4" => &|text| text.chars().count().div_ceil(4) as u32,
        _ => &|text| text.split_whitespace().count() as u32,
    }
}
