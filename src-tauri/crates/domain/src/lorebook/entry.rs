//! One lorebook entry, read from and written to both SillyTavern's and the cards' format.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::raw::At::{Ext, Not, Own, Root};
use super::raw::{
    CARD_FORM, CARD_ROOT, NATIVE_FORM, NATIVE_ROOT, convert_field, get, put, remove_own,
    restore_set_aside, set_aside, unknown_fields, without_empty_own,
};
use super::value::Field;

/// Identifies an entry in its book. It is a number in nearly every file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct Uid(String);

impl Uid {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Uid {
    fn from(uid: &str) -> Self {
        Self(uid.to_owned())
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Serializes a numeric uid as a number, like the files.
impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<i64>() {
            Ok(number) if number.to_string() == self.0 => serializer.serialize_i64(number),
            _ => serializer.serialize_str(&self.0),
        }
    }
}

/// How the secondary keys decide after a primary key matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLogic {
    /// At least one secondary key matches.
    AndAny,
    /// At least one secondary key does not match.
    NotAll,
    /// No secondary key matches.
    NotAny,
    /// All secondary keys match.
    AndAll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    BeforeChar,
    AfterChar,
    NoteTop,
    NoteBottom,
    /// In the chat, `depth` messages from its end.
    AtDepth,
    /// Before the example messages.
    ExampleTop,
    /// After the example messages.
    ExampleBottom,
    /// Only at the `{{outlet::name}}` macro.
    Outlet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InsertionRole {
    System = 0,
    User = 1,
    Assistant = 2,
}

/// Restricts an entry to some characters, by their file names and tag ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CharacterFilter {
    pub names: Vec<String>,
    pub tags: Vec<String>,
    pub exclude: bool,
}

macro_rules! entry {
    ($($(#[$doc:meta])* $field:ident: $type:ty, $native:expr, $native_absent:expr, $card:expr, $card_absent:expr;)*) => {
        /// One entry. Numbers are as in the file; activation handles values that are out of range.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Entry {
            pub uid: Uid,
            $($(#[$doc])* pub $field: $type,)*
            raw: Map<String, Value>,
            native: bool,
        }

        impl Entry {
            fn read_native(uid: Uid, raw: Map<String, Value>) -> Self {
                Self { uid, $($field: get(&raw, $native, $native_absent),)* raw, native: true }
            }

            fn read_card(uid: Uid, raw: Map<String, Value>) -> Self {
                Self { uid, $($field: get(&raw, $card, $card_absent),)* raw, native: false }
            }

            fn write_native(&self, raw: &mut Map<String, Value>) {
                $(put(raw, $native, &self.$field, $native_absent);)*
            }

            fn write_card(&self, raw: &mut Map<String, Value>) {
                $(put(raw, $card, &self.$field, $card_absent);)*
            }

            /// Converts the card fields that the entry states to SillyTavern's format.
            fn convert_to_native(&self, raw: &mut Map<String, Value>) {
                $(remove_own(raw, $card);)*
                $(convert_field(raw, &self.raw, $card, $card_absent, $native, &self.$field);)*
            }

            /// Converts the SillyTavern fields that the entry states to card format.
            fn convert_to_card(&self, raw: &mut Map<String, Value>) {
                $(remove_own(raw, $native);)*
                $(convert_field(raw, &self.raw, $native, $native_absent, $card, &self.$field);)*
            }
        }
    };
}

entry! {
    /// At least one key must match. Each is plain text or `/pattern/flags`.
    keys: Vec<String>, Root("key"), Vec::new(), Root("keys"), Vec::new();
    secondary_keys: Vec<String>, Root("keysecondary"), Vec::new(), Root("secondary_keys"), Vec::new();
    /// Whether the secondary keys are used.
    selective: bool, Root("selective"), false, Root("selective"), false;
    /// `None` behaves like [`KeyLogic::AndAny`], but group scoring ignores the secondary keys.
    logic: Option<KeyLogic>, Root("selectiveLogic"), None, Ext("selectiveLogic"), Some(KeyLogic::AndAny);
    comment: String, Root("comment"), String::new(), Root("comment"), String::new();
    content: String, Root("content"), String::new(), Root("content"), String::new();
    /// Active without keys.
    constant: bool, Root("constant"), false, Root("constant"), false;
    vectorized: bool, Root("vectorized"), false, Ext("vectorized"), false;
    /// Entries with a higher order are added first within the budget, and come later in the prompt.
    order: f64, Root("order"), 100.0, Root("insertion_order"), 100.0;
    /// `None`: active, but not part of the prompt.
    position: Option<Position>, Root("position"), None, Ext("position"), None;
    /// In messages from the end.
    depth: Option<i64>, Root("depth"), None, Ext("depth"), None;
    role: Option<InsertionRole>, Root("role"), None, Ext("role"), None;
    outlet: String, Root("outletName"), String::new(), Ext("outlet_name"), String::new();
    disable: bool, Root("disable"), false, Not("enabled"), false;
    ignore_budget: bool, Root("ignoreBudget"), false, Ext("ignore_budget"), false;
    exclude_recursion: bool, Root("excludeRecursion"), false, Ext("exclude_recursion"), false;
    prevent_recursion: bool, Root("preventRecursion"), false, Ext("prevent_recursion"), false;
    /// Lowest recursion level at which the entry may trigger; 0 allows any time.
    delay_until_recursion: u32, Root("delayUntilRecursion"), 0, Ext("delay_until_recursion"), 0;
    match_persona_description: bool, Root("matchPersonaDescription"), false, Ext("match_persona_description"), false;
    match_character_description: bool,
        Root("matchCharacterDescription"), false, Ext("match_character_description"), false;
    match_character_personality: bool,
        Root("matchCharacterPersonality"), false, Ext("match_character_personality"), false;
    match_character_depth_prompt: bool,
        Root("matchCharacterDepthPrompt"), false, Ext("match_character_depth_prompt"), false;
    match_scenario: bool, Root("matchScenario"), false, Ext("match_scenario"), false;
    match_creator_notes: bool, Root("matchCreatorNotes"), false, Ext("match_creator_notes"), false;
    /// In percent; `None` never passes.
    probability: Option<f64>, Root("probability"), None, Ext("probability"), Some(100.0);
    /// Whether `probability` applies.
    use_probability: bool, Root("useProbability"), false, Ext("useProbability"), true;
    /// Group names, separated by commas.
    group: String, Root("group"), String::new(), Ext("group"), String::new();
    group_override: bool, Root("groupOverride"), false, Ext("group_override"), false;
    group_weight: Option<f64>, Root("groupWeight"), None, Ext("group_weight"), None;
    use_group_scoring: Option<bool>, Root("useGroupScoring"), None, Ext("use_group_scoring"), None;
    /// In messages; `None` uses the value of the book or the settings.
    scan_depth: Option<i64>, Root("scanDepth"), None, Ext("scan_depth"), None;
    case_sensitive: Option<bool>, Root("caseSensitive"), None, Ext("case_sensitive"), None;
    match_whole_words: Option<bool>, Root("matchWholeWords"), None, Ext("match_whole_words"), None;
    /// Timed effects, in messages.
    sticky: Option<i64>, Root("sticky"), None, Ext("sticky"), None;
    cooldown: Option<i64>, Root("cooldown"), None, Ext("cooldown"), None;
    delay: Option<i64>, Root("delay"), None, Ext("delay"), None;
    character_filter: Option<CharacterFilter>, Root("characterFilter"), None, Own("characterFilter"), None;
    /// Kinds of generation that the entry is limited to; empty allows all.
    triggers: Vec<String>, Root("triggers"), Vec::new(), Ext("triggers"), Vec::new();
    automation_id: String, Root("automationId"), String::new(), Ext("automation_id"), String::new();
    display_index: Option<i64>, Root("displayIndex"), None, Ext("display_index"), None;
    add_memo: bool, Root("addMemo"), false, Own("addMemo"), false;
    /// V3: the keys are regular expressions.
    use_regex: bool, Own("use_regex"), false, Root("use_regex"), false;
    /// V2 and V3: the specification's own field, which SillyTavern ignores.
    spec_case_sensitive: Option<bool>, Own("case_sensitive"), None, Root("case_sensitive"), None;
    /// V2 and V3: entries with the lowest value are dropped first when the budget is full.
    priority: Option<f64>, Own("priority"), None, Root("priority"), None;
    /// V2 and V3: label for users.
    name: String, Own("name"), String::new(), Root("name"), String::new();
}

impl Entry {
    /// Creates an entry with default values.
    pub fn new(uid: Uid) -> Self {
        let values = [
            ("uid", serde_json::to_value(&uid).unwrap_or_default()),
            ("key", Value::Array(Vec::new())),
            ("keysecondary", Value::Array(Vec::new())),
            ("content", "".into()),
            ("selective", true.into()),
            ("order", 100.into()),
            ("position", 0.into()),
            ("probability", 100.into()),
            ("useProbability", true.into()),
        ];
        Self::read_native(
            uid,
            values
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    /// Whether the entry is switched on and has a text, but neither keys nor another way to be
    /// used.
    pub(super) fn is_dead(&self) -> bool {
        let keyless = self.keys.iter().all(|key| key.trim().is_empty());
        let text = self.content.trim_start();
        // Decorators at the start of the text can activate an entry.
        keyless
            && !self.constant
            && !self.vectorized
            && !self.disable
            && !text.is_empty()
            && !text.starts_with("@@")
    }

    /// The title, or else the start of the text, as one line.
    pub(super) fn short_name(&self) -> String {
        let named = [&self.comment, &self.name, &self.content]
            .into_iter()
            .find(|text| !text.trim().is_empty());
        let line = named
            .map(|text| text.trim().lines().next().unwrap_or_default())
            .unwrap_or_default();
        line.chars().take(MAX_SHORT_NAME).collect()
    }

    /// Reads SillyTavern's format. `name` is the entry's key in the map and replaces a missing
    /// `uid`.
    pub(super) fn from_native(name: &str, raw: Map<String, Value>) -> Self {
        let uid = raw
            .get("uid")
            .and_then(String::read)
            .unwrap_or_else(|| name.to_owned());
        Self::read_native(Uid(uid), raw)
    }

    /// Reads an entry of a `character_book`.
    pub(super) fn from_card(index: usize, raw: Map<String, Value>) -> Self {
        let uid = raw
            .get("id")
            .and_then(String::read)
            .filter(|id| !id.is_empty());
        let root = raw.get("position").and_then(card_position);
        Self::read_card(Uid(uid.unwrap_or_else(|| index.to_string())), raw)
            .with(|entry| entry.position = entry.position.or(root).or(Some(Position::AfterChar)))
    }

    /// Writes the format that the entry was read from.
    pub(super) fn to_own_form(&self) -> Map<String, Value> {
        if self.native {
            self.to_native()
        } else {
            self.to_card()
        }
    }

    /// Writes SillyTavern's format.
    pub fn to_native(&self) -> Map<String, Value> {
        let mut raw = self.raw.clone();
        if !self.native {
            raw = unknown_fields(&self.raw, CARD_ROOT, NATIVE_ROOT, CARD_FORM);
            restore_set_aside(&mut raw, NATIVE_FORM);
            if let Some(odd) = self
                .raw
                .get("position")
                .filter(|word| card_position(word).is_none())
            {
                set_aside(&mut raw, CARD_FORM, "position", odd.clone());
            }
            self.convert_to_native(&mut raw);
            raw.insert("uid".into(), self.number("id"));
        }
        self.write_native(&mut raw);
        if !self.native {
            without_empty_own(&mut raw);
        }
        raw
    }

    /// Writes the format of a `character_book`. Position 0 becomes `before_char` and all others
    /// `after_char`. The exact position goes into `extensions`.
    pub fn to_card(&self) -> Map<String, Value> {
        if !self.native {
            return self.edited_card();
        }
        let mut raw = unknown_fields(&self.raw, NATIVE_ROOT, CARD_ROOT, NATIVE_FORM);
        restore_set_aside(&mut raw, CARD_FORM);
        raw.insert("id".into(), self.number("uid"));
        for (field, empty) in [
            ("keys", Value::Array(Vec::new())),
            ("content", "".into()),
            ("enabled", true.into()),
            ("insertion_order", 100.into()),
            ("use_regex", false.into()),
            ("constant", false.into()),
            ("selective", self.selective.into()),
        ] {
            raw.insert(field.into(), empty);
        }
        raw.entry("extensions")
            .or_insert_with(|| Value::Object(Map::new()));
        let marked = EXPORT_MARKS.map(|mark| in_extensions(&raw, mark));
        self.convert_to_card(&mut raw);
        if let Some(Value::Object(extensions)) =
            raw.get_mut("extensions").filter(|_| self.use_regex)
        {
            // Readers treat an entry with these keys as SillyTavern's export and then ignore
            // `use_regex`.
            for (mark, _) in EXPORT_MARKS
                .into_iter()
                .zip(marked)
                .filter(|(_, marked)| !marked)
            {
                extensions.shift_remove(mark);
            }
        }
        self.write_card(&mut raw);
        let word = if self.position == Some(Position::BeforeChar) {
            "before_char"
        } else {
            "after_char"
        };
        // An unknown word of another exporter already means `after_char`, so keep it.
        let odd = raw
            .get("position")
            .is_some_and(|odd| word == "after_char" && card_position(odd).is_none());
        if !odd {
            raw.insert("position".into(), word.into());
        }
        without_empty_own(&mut raw);
        raw
    }

    /// Returns the uid as the file wrote it, because some files quote the number.
    fn number(&self, name: &str) -> Value {
        let stated = self
            .raw
            .get(name)
            .filter(|stated| String::read(stated).as_deref() == Some(self.uid.as_str()));
        stated
            .cloned()
            .unwrap_or_else(|| serde_json::to_value(&self.uid).unwrap_or_default())
    }

    /// The JSON that was read, to detect changes.
    pub fn source(&self) -> &Map<String, Value> {
        &self.raw
    }

    /// Whether SillyTavern wrote this entry into a card. It writes `use_regex` for every entry, so
    /// the field is meaningless there.
    pub fn is_sillytavern_export(&self) -> bool {
        EXPORT_MARKS
            .into_iter()
            .any(|mark| in_extensions(&self.raw, mark))
    }

    fn edited_card(&self) -> Map<String, Value> {
        let mut raw = self.raw.clone();
        // A missing or root-only position is not an edit.
        let stated = raw
            .get("extensions")
            .and_then(|it| it.get("position"))
            .and_then(Option::<Position>::read)
            .flatten();
        let root = raw
            .get("position")
            .and_then(card_position)
            .unwrap_or(Position::AfterChar);
        let unedited = stated.is_none() && self.position == Some(root);
        let word = if self.position == Some(Position::BeforeChar) {
            "before_char"
        } else {
            "after_char"
        };
        if unedited {
            self.clone()
                .with(|entry| entry.position = None)
                .write_card(&mut raw);
        } else {
            let moved = stated != self.position;
            self.write_card(&mut raw);
            if moved {
                raw.insert("position".into(), word.into());
            }
        }
        raw
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// Maximum length of a name in a list of entries, in characters.
const MAX_SHORT_NAME: usize = 40;

/// Fields that SillyTavern writes into the `extensions` of every entry of a card.
const EXPORT_MARKS: [&str; 2] = ["selectiveLogic", "exclude_recursion"];

fn in_extensions(raw: &Map<String, Value>, name: &str) -> bool {
    raw.get("extensions")
        .and_then(Value::as_object)
        .is_some_and(|it| it.contains_key(name))
}

/// Reads the specification's word, or the number that some exporters write instead.
fn card_position(value: &Value) -> Option<Position> {
    match value.as_str() {
        Some("before_char") => Some(Position::BeforeChar),
        Some("after_char") => Some(Position::AfterChar),
        _ => Position::read(value),
    }
}
