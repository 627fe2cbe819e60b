//! The fields of a card, read and written in place: a setter changes its field and nothing else.

use serde_json::{Map, Value};

use super::{Card, CardError, MAX_NAME, Version, parse};
use crate::Timestamp;

/// What the specification wants in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Texts,
    List,
    Object,
    Number,
}

impl Kind {
    pub(super) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Texts | Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::Number => value.is_number(),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Texts => "a list of texts",
            Self::List => "a list",
            Self::Object => "an object",
            Self::Number => "a number",
        }
    }
}

pub(super) fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Every field that V1 to V3 define, but `name`, which is checked apart.
pub(super) const KNOWN: &[(&str, Kind)] = &[
    ("description", Kind::Text),
    ("personality", Kind::Text),
    ("scenario", Kind::Text),
    ("first_mes", Kind::Text),
    ("mes_example", Kind::Text),
    ("creator_notes", Kind::Text),
    ("system_prompt", Kind::Text),
    ("post_history_instructions", Kind::Text),
    ("alternate_greetings", Kind::Texts),
    ("tags", Kind::Texts),
    ("creator", Kind::Text),
    ("character_version", Kind::Text),
    ("extensions", Kind::Object),
    ("character_book", Kind::Object),
    ("nickname", Kind::Text),
    ("creator_notes_multilingual", Kind::Object),
    ("source", Kind::Texts),
    ("assets", Kind::List),
    ("group_only_greetings", Kind::Texts),
    ("creation_date", Kind::Number),
    ("modification_date", Kind::Number),
];

macro_rules! texts {
    ($($(#[$doc:meta])* $field:ident $set:ident)*) => {
        /// Fields of one text. An absent or wrongly typed one reads as empty.
        impl Card {$(
            $(#[$doc])*
            pub fn $field(&self) -> &str {
                self.text(stringify!($field))
            }

            pub fn $set(&mut self, text: &str) {
                self.set(stringify!($field), text.into());
            }
        )*}
    };
}

macro_rules! lists {
    ($($(#[$doc:meta])* $field:ident $set:ident)*) => {
        /// Fields of several texts. Items that are not text are passed over; a single text is a list of one.
        impl Card {$(
            $(#[$doc])*
            pub fn $field(&self) -> Vec<&str> {
                self.texts(stringify!($field))
            }

            pub fn $set<T: AsRef<str>>(&mut self, texts: &[T]) {
                self.set(stringify!($field), texts.iter().map(AsRef::as_ref).collect());
            }
        )*}
    };
}

texts! {
    description set_description
    personality set_personality
    scenario set_scenario
    /// The greeting: what the character says first, to the letter (V1-05).
    first_mes set_first_mes
    /// Example dialogue: blocks that begin with `<START>` (V1-06).
    mes_example set_mes_example
    /// For people; never part of a prompt (V2-02).
    creator_notes set_creator_notes
    /// If not empty, it stands for the user's system prompt (V2-04).
    system_prompt set_system_prompt
    /// If not empty, it stands for the user's text after the history (V2-08).
    post_history_instructions set_post_history_instructions
    /// Never part of a prompt (V2-16).
    creator set_creator
    /// Never part of a prompt (V2-17).
    character_version set_character_version
}

lists! {
    /// Offered as swipes of the first message (V2-11).
    alternate_greetings set_alternate_greetings
    /// Further greetings, for group chats alone (V3-17).
    group_only_greetings set_group_only_greetings
    /// For people; not part of a prompt (V2-15).
    tags set_tags
}

impl Card {
    /// Trimmed and never empty.
    pub fn name(&self) -> &str {
        self.text("name").trim()
    }

    /// # Errors
    /// [`CardError::NoName`] for a blank name, [`CardError::NameTooLong`] above [`MAX_NAME`]; the card stays as it was.
    pub fn set_name(&mut self, name: &str) -> Result<(), CardError> {
        let name = Value::from(name.trim());
        parse::check_name(Some(&name), self.name_path())?;
        self.set("name", name);
        Ok(())
    }

    /// What the character is called in the text, if that is not the name.
    pub fn nickname(&self) -> Option<&str> {
        let nickname = self.text("nickname").trim();
        (!nickname.is_empty() && nickname.chars().count() <= MAX_NAME).then_some(nickname)
    }

    /// An empty text takes the nickname away.
    pub fn set_nickname(&mut self, nickname: &str) {
        self.set("nickname", nickname.trim().into());
    }

    /// What `{{char}}` becomes: the nickname, else the name (V3-04).
    pub fn spoken_name(&self) -> &str {
        self.nickname().unwrap_or_else(|| self.name())
    }

    /// The first message in all its variants, blank ones left out: `first_mes`, then the alternates.
    pub fn greetings(&self) -> Vec<&str> {
        let all = std::iter::once(self.first_mes()).chain(self.alternate_greetings());
        all.filter(|greeting| !greeting.trim().is_empty()).collect()
    }

    /// Where the card came from: ids and addresses, which nobody checked. Not for the user to edit (V3-06).
    pub fn source(&self) -> Vec<&str> {
        self.texts("source")
    }

    /// The creator's notes by their languages, ISO 639-1 codes (V3-05). What is no text is passed over.
    pub fn creator_notes_multilingual(&self) -> Vec<(&str, &str)> {
        let notes = self.fields.get("creator_notes_multilingual").and_then(Value::as_object).into_iter().flatten();
        notes.filter_map(|(language, note)| Some((language.as_str(), note.as_str()?))).collect()
    }

    /// Entries that are no text stay as they are.
    pub fn set_creator_notes_multilingual<T: AsRef<str>>(&mut self, notes: &[(T, T)]) {
        let known = self.fields.get("creator_notes_multilingual").and_then(Value::as_object).cloned();
        let mut all: Map<String, Value> = known.unwrap_or_default();
        all.retain(|_, note| !note.is_string());
        for (language, note) in notes {
            all.insert(language.as_ref().to_owned(), note.as_ref().into());
        }
        self.set("creator_notes_multilingual", Value::Object(all));
    }

    /// The card's own lorebook, as it was read.
    pub fn character_book(&self) -> Option<&Map<String, Value>> {
        self.fields.get("character_book")?.as_object()
    }

    pub fn set_character_book(&mut self, book: Map<String, Value>) {
        self.set("character_book", Value::Object(book));
    }

    pub fn remove_character_book(&mut self) {
        self.fields.shift_remove("character_book");
    }

    /// Data of applications, by their keys; unknown keys are nobody else's to change (V2-19).
    pub fn extensions(&self) -> Option<&Map<String, Value>> {
        self.fields.get("extensions")?.as_object()
    }

    /// Sets one key of `extensions` and leaves the others.
    pub fn set_extension(&mut self, key: &str, value: Value) {
        match self.fields.get_mut("extensions").and_then(Value::as_object_mut) {
            Some(extensions) => _ = extensions.insert(key.to_owned(), value),
            None => self.set("extensions", Value::Object(Map::from_iter([(key.to_owned(), value)]))),
        }
    }

    /// Icons, backgrounds and other files the card names (V3-07 to V3-16), as they were read. Nothing is ever fetched.
    pub fn assets(&self) -> &[Value] {
        self.fields.get("assets").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// When the card was made, if it says so (V3-18).
    pub fn creation_date(&self) -> Option<Timestamp> {
        self.date("creation_date")
    }

    /// To be set once, when a card is made.
    pub fn set_creation_date(&mut self, at: Timestamp) {
        self.set("creation_date", (at.0 / 1000).into());
    }

    /// When the card was last exported (V3-19).
    pub fn modification_date(&self) -> Option<Timestamp> {
        self.date("modification_date")
    }

    /// To be set at export.
    pub fn set_modification_date(&mut self, at: Timestamp) {
        self.set("modification_date", (at.0 / 1000).into());
    }

    /// Where a field is in the file, for people.
    pub(super) fn path(&self, field: &str) -> String {
        if self.version == Version::V1 { field.to_owned() } else { format!("data.{field}") }
    }

    pub(super) fn name_path(&self) -> &'static str {
        if self.version == Version::V1 { "name" } else { "data.name" }
    }

    fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn texts(&self, field: &str) -> Vec<&str> {
        match self.fields.get(field) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one],
            _ => Vec::new(),
        }
    }

    /// The specification counts seconds, and 0 is unknown.
    fn date(&self, field: &str) -> Option<Timestamp> {
        let seconds = self.fields.get(field)?.as_f64()? as i64;
        (seconds > 0).then(|| Timestamp(seconds.saturating_mul(1000)))
    }

    /// SillyTavern repeats fields beside `data` for readers of V1. Such a repetition follows, so that it does not lie.
    fn set(&mut self, field: &str, value: Value) {
        if let Some(repeated) = self.around.get_mut(field)
            && Some(&*repeated) == self.fields.get(field)
        {
            *repeated = value.clone();
        }
        self.fields.insert(field.to_owned(), value);
    }
}
