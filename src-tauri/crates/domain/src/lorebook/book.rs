//! A lorebook: its own fields, its entries, and the format it was read from.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::entry::{Entry, Uid};
use super::value::{Field, array_index};
use super::{BookError, Skipped, foreign};
use crate::card::novelai_lorebook;
use crate::lenient_json::{self, Limits, Repair};

/// Maximum size of a file, in bytes.
pub const MAX_FILE: usize = 128 << 20;

/// Maximum number of entries. An entry can be tiny, so the file size alone does not limit memory
/// use.
const MAX_ENTRIES: usize = 100_000;

/// The format a book was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookFormat {
    /// SillyTavern's own: `{"entries": {"0": {...}}}`.
    Native,
    /// The `character_book` of a card.
    Card,
    /// `{"spec": "lorebook_v3", "data": {...}}`.
    Standalone,
}

/// A lorebook. Entries are in SillyTavern's reading order.
#[derive(Debug, Clone, PartialEq)]
pub struct Book {
    pub entries: Vec<Entry>,
    form: BookFormat,
    /// The book without its entries.
    pub(super) raw: Map<String, Value>,
    /// The fields around `data` in a stand-alone file.
    outer: Map<String, Value>,
    /// The map key of each entry in the file. New entries have none.
    names: Vec<(Uid, String)>,
    /// Whether the file stored the entries as a list.
    listed: bool,
    /// Unreadable entries and their keys, kept for export.
    pub(super) kept: Vec<(String, Value)>,
}

/// A lorebook read from a file, and the problems found in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadBook {
    pub book: Book,
    pub skipped: Vec<Skipped>,
    pub repairs: Vec<Repair>,
}

impl Book {
    /// Creates an empty book in SillyTavern's format.
    pub fn new(name: &str) -> Self {
        let raw = Map::from_iter([("name".to_owned(), Value::from(name))]);
        Self::empty(BookFormat::Native, raw, Map::new(), false)
    }

    /// Reads a lorebook file in any format: JSON, or a PNG in which NovelAI stored a book.
    ///
    /// # Errors
    /// [`BookError`] if the file is not valid JSON, not a lorebook, or above the limits. A bad
    /// entry is a [`Skipped`], not an error.
    pub fn read(bytes: &[u8]) -> Result<(Self, Vec<Skipped>), BookError> {
        let ReadBook { book, skipped, .. } = Self::read_with_repairs(bytes)?;
        Ok((book, skipped))
    }

    /// Reads a lorebook like [`Book::read`], and also returns the repairs of the file's text.
    ///
    /// # Errors
    /// The errors of [`Book::read`].
    pub fn read_with_repairs(bytes: &[u8]) -> Result<ReadBook, BookError> {
        if bytes.len() > MAX_FILE {
            return Err(BookError::TooLarge {
                bytes: bytes.len(),
                limit: MAX_FILE,
            });
        }
        let inside = novelai_lorebook(bytes);
        let bytes = inside.as_deref().unwrap_or(bytes);
        let (value, repairs) = lenient_json::read_within(bytes, Limits::LARGE)?;
        let (book, skipped) = Self::from_value(value)?;
        Ok(ReadBook {
            book,
            skipped,
            repairs,
        })
    }

    /// # Errors
    /// [`BookError::NoEntries`] if the JSON is not a lorebook.
    pub fn from_value(value: Value) -> Result<(Self, Vec<Skipped>), BookError> {
        let Value::Object(mut root) = value else {
            return Err(BookError::NoEntries);
        };
        if let Some(Value::Object(native)) = foreign::to_native(&root) {
            return Self::from_object(native, None);
        }
        if root.get("spec").and_then(Value::as_str) == Some("lorebook_v3") || is_wrapper(&root) {
            let Some(Value::Object(data)) = root.insert("data".into(), Value::Null) else {
                return Err(BookError::NoEntries);
            };
            return Self::from_object(data, Some(root));
        }
        Self::from_object(root, None)
    }

    /// Ids of the entries, in their order. An entry whose uid occurred before gets a number.
    pub fn entry_ids(&self) -> Vec<String> {
        let mut seen = HashMap::<&str, u32>::new();
        let id = |entry: &'_ Entry, count: u32| match count {
            1 => entry.uid.to_string(),
            count => format!("{}#{count}", entry.uid),
        };
        self.entries
            .iter()
            .map(|entry| {
                let count = seen.entry(entry.uid.as_str()).or_default();
                *count += 1;
                id(entry, *count)
            })
            .collect()
    }

    /// Reads a card's own book. A card without entries has an empty book.
    pub fn from_character_book(book: &Map<String, Value>) -> (Self, Vec<Skipped>) {
        let mut raw = book.clone();
        let entries = raw.get_mut("entries").map(Value::take).unwrap_or_default();
        Self::empty(BookFormat::Card, raw, Map::new(), !entries.is_object()).filled(entries)
    }

    pub fn form(&self) -> BookFormat {
        self.form
    }

    pub fn name(&self) -> &str {
        self.raw
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub fn set_name(&mut self, name: &str) {
        self.raw.insert("name".into(), name.into());
    }

    /// For users; never part of a prompt.
    pub fn description(&self) -> &str {
        self.raw
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Number of latest messages to scan for keys.
    pub fn scan_depth(&self) -> Option<i64> {
        self.stated("scan_depth", "scanDepth")
    }

    /// Token limit. Entries with the lowest priority are dropped first.
    pub fn token_budget(&self) -> Option<i64> {
        self.stated("token_budget", "tokenBudget")
    }

    /// Whether entries may trigger other entries.
    pub fn recursive_scanning(&self) -> Option<bool> {
        self.stated("recursive_scanning", "recursiveScanning")
    }

    /// Names of the entries that can never be used, because they have a text but no keys and need
    /// some. An entry without a name gives the start of its text.
    pub fn dead_entries(&self) -> Vec<String> {
        let dead = self.entries.iter().filter(|entry| entry.is_dead());
        dead.map(Entry::short_name).collect()
    }

    /// Returns the book in its original format. Every value that was not edited is unchanged.
    pub fn to_value(&self) -> Value {
        let mut book = self.raw.clone();
        let entries = if self.listed {
            Value::Array(self.list(Entry::to_own_form))
        } else {
            Value::Object(self.named(Entry::to_own_form))
        };
        book.insert("entries".into(), entries);
        if self.form != BookFormat::Standalone {
            return Value::Object(book);
        }
        let mut root = self.outer.clone();
        root.insert("data".into(), Value::Object(book));
        Value::Object(root)
    }

    /// Converts to SillyTavern's format. Entries with equal ids both survive: the second gets a new
    /// key.
    pub fn to_native(&self) -> Value {
        let entries = if self.form == BookFormat::Native && self.listed {
            Value::Array(self.list(Entry::to_native))
        } else {
            Value::Object(self.named(Entry::to_native))
        };
        let mut book = self.raw.clone();
        book.insert("entries".into(), entries);
        Value::Object(book)
    }

    /// Converts to the `character_book` format of cards.
    pub fn to_character_book(&self) -> Map<String, Value> {
        let mut book = self.raw.clone();
        let entries = match self.form {
            BookFormat::Card | BookFormat::Standalone if !self.listed => {
                Value::Object(self.named(Entry::to_card))
            }
            _ => Value::Array(self.list(Entry::to_card)),
        };
        book.insert("entries".into(), entries);
        if self.form == BookFormat::Native {
            book.entry("extensions").or_insert_with(|| json!({}));
            let by_name = [
                ("scan_depth", self.scan_depth().map(Value::from)),
                ("token_budget", self.token_budget().map(Value::from)),
                (
                    "recursive_scanning",
                    self.recursive_scanning().map(Value::from),
                ),
            ];
            // Native files use other names, which readers of cards do not know.
            for (name, value) in by_name
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
            {
                book.entry(name).or_insert(value);
            }
        }
        book
    }

    /// Converts to a stand-alone `lorebook_v3` file.
    pub fn to_lorebook_v3(&self) -> Value {
        let mut root = self.outer.clone();
        root.entry("spec").or_insert_with(|| "lorebook_v3".into());
        root.insert("data".into(), Value::Object(self.to_character_book()));
        Value::Object(root)
    }

    fn empty(
        form: BookFormat,
        raw: Map<String, Value>,
        outer: Map<String, Value>,
        listed: bool,
    ) -> Self {
        Self {
            entries: Vec::new(),
            form,
            raw,
            outer,
            names: Vec::new(),
            listed,
            kept: Vec::new(),
        }
    }

    fn from_object(
        mut raw: Map<String, Value>,
        outer: Option<Map<String, Value>>,
    ) -> Result<(Self, Vec<Skipped>), BookError> {
        let entries = match raw.get_mut("entries").map(Value::take) {
            Some(entries @ (Value::Object(_) | Value::Array(_))) => entries,
            _ => return Err(BookError::NoEntries),
        };
        let count = entries
            .as_array()
            .map_or_else(|| entries.as_object().map_or(0, Map::len), Vec::len);
        if count > MAX_ENTRIES {
            return Err(BookError::TooComplex {
                what: "too many entries",
                limit: MAX_ENTRIES,
            });
        }
        let form = match &outer {
            Some(_) => BookFormat::Standalone,
            None if is_card_format(&entries) => BookFormat::Card,
            None => BookFormat::Native,
        };
        Ok(Self::empty(form, raw, outer.unwrap_or_default(), entries.is_array()).filled(entries))
    }

    fn filled(mut self, entries: Value) -> (Self, Vec<Skipped>) {
        let mut skipped = Vec::new();
        for (index, (place, value)) in in_order(entries).into_iter().enumerate() {
            match check(value) {
                Ok(mut raw) => {
                    foreign::add_our_names(&mut raw, self.form != BookFormat::Native);
                    let entry = if self.is_card_format(&raw) {
                        Entry::from_card(index, raw)
                    } else {
                        Entry::from_native(&place, raw)
                    };
                    self.names.push((entry.uid.clone(), place));
                    self.entries.push(entry);
                }
                Err((value, why)) => {
                    skipped.push(Skipped {
                        place: place.clone(),
                        why,
                    });
                    self.kept.push((place, value));
                }
            }
        }
        (self, skipped)
    }

    /// Whether an entry of this book is in card format.
    pub(super) fn is_card_format(&self, raw: &Map<String, Value>) -> bool {
        if raw.contains_key("keys") == raw.contains_key("key") {
            self.form != BookFormat::Native
        } else {
            raw.contains_key("keys")
        }
    }

    /// Maps original keys, or uids for new entries, to the written entries.
    fn named(&self, write: impl Fn(&Entry) -> Map<String, Value>) -> Map<String, Value> {
        let mut entries = Map::new();
        let mut names = self.names.iter().filter(|_| !self.listed);
        for entry in &self.entries {
            let known = names
                .clone()
                .position(|(uid, _)| *uid == entry.uid)
                .and_then(|ahead| names.nth(ahead));
            let name = known.map_or_else(|| entry.uid.to_string(), |(_, name)| name.clone());
            let mut free = (0..).map(|n: u32| {
                if n == 0 {
                    name.clone()
                } else {
                    format!("{name}_{n}")
                }
            });
            if let Some(name) = free.find(|name| !entries.contains_key(name)) {
                entries.insert(name, Value::Object(write(entry)));
            }
        }
        for (name, value) in &self.kept {
            entries.entry(name.clone()).or_insert_with(|| value.clone());
        }
        entries
    }

    fn list(&self, write: impl Fn(&Entry) -> Map<String, Value>) -> Vec<Value> {
        let mut entries: Vec<Value> = self
            .entries
            .iter()
            .map(|entry| Value::Object(write(entry)))
            .collect();
        for (place, value) in &self.kept {
            let at = place.parse().unwrap_or(usize::MAX).min(entries.len());
            entries.insert(at, value.clone());
        }
        entries
    }

    fn stated<T: Field>(&self, spec: &str, native: &str) -> Option<T> {
        self.raw
            .get(spec)
            .or_else(|| self.raw.get(native))
            .and_then(T::read)
    }
}

/// Whether the object contains a book in `data`, whatever its `spec`.
fn is_wrapper(root: &Map<String, Value>) -> bool {
    !root.contains_key("entries")
        && root
            .get("data")
            .is_some_and(|data| data.get("entries").is_some())
}

fn is_card_format(entries: &Value) -> bool {
    let card = |entry: &Value| entry.get("keys").is_some() && entry.get("key").is_none();
    match entries {
        Value::Array(entries) => entries.is_empty() || entries.iter().any(card),
        Value::Object(entries) => entries.values().any(card),
        _ => false,
    }
}

/// Returns entries with their keys in JavaScript's order: integer keys first, ascending, then the
/// others as written.
fn in_order(entries: Value) -> Vec<(String, Value)> {
    let mut named: Vec<(String, Value)> = match entries {
        Value::Array(entries) => entries
            .into_iter()
            .enumerate()
            .map(|(i, entry)| (i.to_string(), entry))
            .collect(),
        Value::Object(entries) => entries.into_iter().collect(),
        _ => Vec::new(),
    };
    named.sort_by_key(|(name, _)| array_index(name).unwrap_or(u32::MAX));
    named
}

pub(super) fn check(value: Value) -> Result<Map<String, Value>, (Value, &'static str)> {
    match value {
        Value::Object(raw) => match raw.get("content") {
            None | Some(Value::Null | Value::String(_) | Value::Number(_)) => Ok(raw),
            Some(_) => Err((Value::Object(raw), "its content is not text")),
        },
        other => Err((other, "it is not an object")),
    }
}
