//! Typed access to card fields. A setter changes its own field and nothing else.

use serde_json::{Map, Value};

use super::{CardError, parse};
use crate::Timestamp;
use crate::card::data::{Card, CardVersion, MAX_NAME};

/// JSON type that the specification requires for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldType {
    Text,
    Texts,
    List,
    Object,
    Number,
}

impl FieldType {
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

/// All fields that V1 to V3 define, except `name`, which has its own check.
pub(super) const KNOWN: &[(&str, FieldType)] = &[
    ("description", FieldType::Text),
    ("personality", FieldType::Text),
    ("scenario", FieldType::Text),
    ("first_mes", FieldType::Text),
    ("mes_example", FieldType::Text),
    ("creator_notes", FieldType::Text),
    ("system_prompt", FieldType::Text),
    ("post_history_instructions", FieldType::Text),
    ("alternate_greetings", FieldType::Texts),
    ("tags", FieldType::Texts),
    ("creator", FieldType::Text),
    ("character_version", FieldType::Text),
    ("extensions", FieldType::Object),
    ("character_book", FieldType::Object),
    ("nickname", FieldType::Text),
    ("creator_notes_multilingual", FieldType::Object),
    ("source", FieldType::Texts),
    ("assets", FieldType::List),
    ("group_only_greetings", FieldType::Texts),
    ("creation_date", FieldType::Number),
    ("modification_date", FieldType::Number),
];

macro_rules! texts {
    ($($(#[$doc:meta])* $field:ident $set:ident)*) => {
        /// Text fields. A missing or wrongly typed field reads as empty.
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
        /// Lists of texts. Items that are not strings are skipped, and a single string reads as a
        /// list of one.
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
    /// The greeting: the character's first message, used verbatim.
    first_mes set_first_mes
    /// Example dialogue, in blocks that begin with `<START>`.
    mes_example set_mes_example
    /// Notes for users; never part of a prompt.
    creator_notes set_creator_notes
    /// Replaces the user's system prompt, if not empty.
    system_prompt set_system_prompt
    /// Replaces the user's instructions after the chat history, if not empty.
    post_history_instructions set_post_history_instructions
    /// Never part of a prompt.
    creator set_creator
    /// Never part of a prompt.
    character_version set_character_version
}

lists! {
    /// Offered as swipes of the first message.
    alternate_greetings set_alternate_greetings
    /// Additional greetings for group chats only.
    group_only_greetings set_group_only_greetings
    /// Labels for users; not part of a prompt.
    tags set_tags
}

impl Card {
    /// Trimmed and never empty.
    pub fn name(&self) -> &str {
        self.text("name").trim()
    }

    /// # Errors
    /// [`CardError::NoName`] for a blank name, [`CardError::NameTooLong`] above [`MAX_NAME`]. The
    /// card is then unchanged.
    pub fn set_name(&mut self, name: &str) -> Result<(), CardError> {
        let name = Value::from(name.trim());
        parse::check_name(Some(&name), self.name_path())?;
        self.set("name", name);
        Ok(())
    }

    /// Name to use for the character in texts instead of [`Card::name`].
    pub fn nickname(&self) -> Option<&str> {
        let nickname = self.text("nickname").trim();
        (!nickname.is_empty() && nickname.chars().count() <= MAX_NAME).then_some(nickname)
    }

    /// An empty text removes the nickname.
    pub fn set_nickname(&mut self, nickname: &str) {
        self.set("nickname", nickname.trim().into());
    }

    /// Value of `{{char}}`: the nickname, or else the name.
    pub fn display_name(&self) -> &str {
        self.nickname().unwrap_or_else(|| self.name())
    }

    /// All variants of the first message that are not blank: `first_mes`, then the alternate
    /// greetings.
    pub fn greetings(&self) -> Vec<&str> {
        let all = std::iter::once(self.first_mes()).chain(self.alternate_greetings());
        all.filter(|greeting| !greeting.trim().is_empty()).collect()
    }

    /// Ids and addresses of the card's origin, unverified. The specification does not let users
    /// edit them.
    pub fn source(&self) -> Vec<&str> {
        self.texts("source")
    }

    /// Creator's notes by ISO 639-1 language code. Values that are not strings are skipped.
    pub fn creator_notes_multilingual(&self) -> Vec<(&str, &str)> {
        let notes = self
            .fields
            .get("creator_notes_multilingual")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        notes
            .filter_map(|(language, note)| Some((language.as_str(), note.as_str()?)))
            .collect()
    }

    /// Replaces the notes. Existing values that are not strings stay.
    pub fn set_creator_notes_multilingual<T: AsRef<str>>(&mut self, notes: &[(T, T)]) {
        let known = self
            .fields
            .get("creator_notes_multilingual")
            .and_then(Value::as_object)
            .cloned();
        let mut all: Map<String, Value> = known.unwrap_or_default();
        all.retain(|_, note| !note.is_string());
        for (language, note) in notes {
            all.insert(language.as_ref().to_owned(), note.as_ref().into());
        }
        self.set("creator_notes_multilingual", Value::Object(all));
    }

    /// The card's embedded lorebook, as it was read.
    pub fn character_book(&self) -> Option<&Map<String, Value>> {
        self.fields.get("character_book")?.as_object()
    }

    pub fn set_character_book(&mut self, book: Map<String, Value>) {
        self.set("character_book", Value::Object(book));
    }

    pub fn remove_character_book(&mut self) {
        self.fields.shift_remove("character_book");
    }

    /// Data of applications, keyed by application. Programs must preserve unknown keys.
    pub fn extensions(&self) -> Option<&Map<String, Value>> {
        self.fields.get("extensions")?.as_object()
    }

    /// Sets one key of `extensions` and keeps the others.
    pub fn set_extension(&mut self, key: &str, value: Value) {
        match self
            .fields
            .get_mut("extensions")
            .and_then(Value::as_object_mut)
        {
            Some(extensions) => _ = extensions.insert(key.to_owned(), value),
            None => self.set(
                "extensions",
                Value::Object(Map::from_iter([(key.to_owned(), value)])),
            ),
        }
    }

    /// Icons, backgrounds and other files that the card lists, as they were read. Nothing is ever
    /// fetched.
    pub fn assets(&self) -> &[Value] {
        self.fields
            .get("assets")
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// When the card was made, if known.
    pub fn creation_date(&self) -> Option<Timestamp> {
        self.date("creation_date")
    }

    /// Set this only once, when a card is made.
    pub fn set_creation_date(&mut self, at: Timestamp) {
        self.set("creation_date", (at.0 / 1000).into());
    }

    /// When the card was last exported.
    pub fn modification_date(&self) -> Option<Timestamp> {
        self.date("modification_date")
    }

    /// Set this at export.
    pub fn set_modification_date(&mut self, at: Timestamp) {
        self.set("modification_date", (at.0 / 1000).into());
    }

    /// JSON path of a field, for messages.
    pub(super) fn path(&self, field: &str) -> String {
        if self.version == CardVersion::V1 {
            field.to_owned()
        } else {
            format!("data.{field}")
        }
    }

    pub(super) fn name_path(&self) -> &'static str {
        if self.version == CardVersion::V1 {
            "name"
        } else {
            "data.name"
        }
    }

    fn text(&self, field: &str) -> &str {
        self.fields
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn texts(&self, field: &str) -> Vec<&str> {
        match self.fields.get(field) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one],
            _ => Vec::new(),
        }
    }

    /// The specification uses seconds, and 0 means unknown.
    fn date(&self, field: &str) -> Option<Timestamp> {
        let seconds = self.fields.get(field)?.as_f64()? as i64;
        (seconds > 0).then(|| Timestamp(seconds.saturating_mul(1000)))
    }

    /// Sets a field. SillyTavern repeats some fields next to `data` for V1 readers; an identical
    /// copy is updated too.
    fn set(&mut self, field: &str, value: Value) {
        if let Some(repeated) = self.outer.get_mut(field)
            && Some(&*repeated) == self.fields.get(field)
        {
            *repeated = value.clone();
        }
        self.fields.insert(field.to_owned(), value);
    }
}
