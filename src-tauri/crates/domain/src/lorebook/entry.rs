//! One entry: every field of formats 1.4.1, read from and written to either form.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::value::Field;

/// An entry's name inside its book: a number in nearly every file.
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

/// As a number where it is one: that is how the files have it.
impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.parse::<i64>() {
            Ok(number) if number.to_string() == self.0 => serializer.serialize_i64(number),
            _ => serializer.serialize_str(&self.0),
        }
    }
}

/// How the secondary keys decide, once a primary key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    /// At least one secondary key is found.
    AndAny,
    /// At least one is missing.
    NotAll,
    /// None is found.
    NotAny,
    /// Every one is found.
    AndAll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    BeforeChar,
    AfterChar,
    NoteTop,
    NoteBottom,
    /// In the chat, so many messages from its end.
    AtDepth,
    /// Before the example messages.
    ExampleTop,
    /// After the example messages.
    ExampleBottom,
    /// Only where `{{outlet::name}}` stands.
    Outlet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System = 0,
    User = 1,
    Assistant = 2,
}

/// For which characters an entry counts, by the name of their file and the ids of their tags.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CharacterFilter {
    pub names: Vec<String>,
    pub tags: Vec<String>,
    pub exclude: bool,
}

/// Where a field is kept.
#[derive(Clone, Copy)]
enum At {
    Root(&'static str),
    /// A switch that says the opposite.
    Not(&'static str),
    /// In `extensions`, as SillyTavern names it.
    Ext(&'static str),
    /// In our own part of `extensions`: the form has no place for it.
    Own(&'static str),
}

const OWN: &str = "inglenook";

use At::{Ext, Not, Own, Root};

macro_rules! entry {
    ($($(#[$doc:meta])* $field:ident: $type:ty, $native:expr, $native_absent:expr, $card:expr, $card_absent:expr;)*) => {
        /// One entry. Numbers are as in the file; what is out of bounds is dealt with where it is used.
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
        }
    };
}

entry! {
    /// Any one has to be found. Plain text, or `/pattern/flags`.
    keys: Vec<String>, Root("key"), Vec::new(), Root("keys"), Vec::new();
    secondary_keys: Vec<String>, Root("keysecondary"), Vec::new(), Root("secondary_keys"), Vec::new();
    /// Whether the secondary keys count.
    selective: bool, Root("selective"), false, Root("selective"), false;
    /// `None` decides as [`Logic::AndAny`], but gives secondary keys no part in group scoring.
    logic: Option<Logic>, Root("selectiveLogic"), None, Ext("selectiveLogic"), Some(Logic::AndAny);
    comment: String, Root("comment"), String::new(), Root("comment"), String::new();
    content: String, Root("content"), String::new(), Root("content"), String::new();
    /// Active without keys.
    constant: bool, Root("constant"), false, Root("constant"), false;
    vectorized: bool, Root("vectorized"), false, Ext("vectorized"), false;
    /// Higher comes earlier for the budget, and lower in the prompt.
    order: f64, Root("order"), 100.0, Root("insertion_order"), 100.0;
    /// `None`: active, but placed nowhere.
    position: Option<Position>, Root("position"), None, Ext("position"), None;
    /// In messages from the end.
    depth: Option<i64>, Root("depth"), None, Ext("depth"), None;
    role: Option<Role>, Root("role"), None, Ext("role"), None;
    outlet: String, Root("outletName"), String::new(), Ext("outlet_name"), String::new();
    disable: bool, Root("disable"), false, Not("enabled"), false;
    ignore_budget: bool, Root("ignoreBudget"), false, Ext("ignore_budget"), false;
    exclude_recursion: bool, Root("excludeRecursion"), false, Ext("exclude_recursion"), false;
    prevent_recursion: bool, Root("preventRecursion"), false, Ext("prevent_recursion"), false;
    /// The recursion level from which on it may fire; 0: any time.
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
    /// Percent; `None` never passes a roll.
    probability: Option<f64>, Root("probability"), None, Ext("probability"), Some(100.0);
    /// Whether there is a roll at all.
    use_probability: bool, Root("useProbability"), false, Ext("useProbability"), true;
    /// Names, separated by commas.
    group: String, Root("group"), String::new(), Ext("group"), String::new();
    group_override: bool, Root("groupOverride"), false, Ext("group_override"), false;
    group_weight: Option<f64>, Root("groupWeight"), None, Ext("group_weight"), None;
    use_group_scoring: Option<bool>, Root("useGroupScoring"), None, Ext("use_group_scoring"), None;
    /// In messages; `None`: as the book or the settings say.
    scan_depth: Option<i64>, Root("scanDepth"), None, Ext("scan_depth"), None;
    case_sensitive: Option<bool>, Root("caseSensitive"), None, Ext("case_sensitive"), None;
    match_whole_words: Option<bool>, Root("matchWholeWords"), None, Ext("match_whole_words"), None;
    /// Timed effects, in messages.
    sticky: Option<i64>, Root("sticky"), None, Ext("sticky"), None;
    cooldown: Option<i64>, Root("cooldown"), None, Ext("cooldown"), None;
    delay: Option<i64>, Root("delay"), None, Ext("delay"), None;
    character_filter: Option<CharacterFilter>, Root("characterFilter"), None, Own("characterFilter"), None;
    /// Kinds of generation; none: all.
    triggers: Vec<String>, Root("triggers"), Vec::new(), Ext("triggers"), Vec::new();
    automation_id: String, Root("automationId"), String::new(), Ext("automation_id"), String::new();
    display_index: Option<i64>, Root("displayIndex"), None, Ext("display_index"), None;
    add_memo: bool, Root("addMemo"), false, Own("addMemo"), false;
    /// V3: the keys are patterns (LB-07).
    use_regex: bool, Own("use_regex"), false, Root("use_regex"), false;
    /// V2 and V3: the specification's own switch, which SillyTavern does not read (LB-12).
    spec_case_sensitive: Option<bool>, Own("case_sensitive"), None, Root("case_sensitive"), None;
    /// V2 and V3: the lowest goes first when the budget is full (B2-02, LB-04).
    priority: Option<f64>, Own("priority"), None, Root("priority"), None;
    /// V2 and V3: for people.
    name: String, Own("name"), String::new(), Root("name"), String::new();
}

impl Entry {
    /// An entry with the values of a new one.
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
        Self::read_native(uid, values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Reads SillyTavern's own form. `name` is the entry's name in the map, which stands for a missing `uid`.
    pub(super) fn from_native(name: &str, raw: Map<String, Value>) -> Self {
        let uid = raw.get("uid").and_then(String::read).unwrap_or_else(|| name.to_owned());
        Self::read_native(Uid(uid), raw)
    }

    /// Reads an entry of a `character_book` by the rules of formats 1.4.5.
    pub(super) fn from_card(index: usize, raw: Map<String, Value>) -> Self {
        let uid = raw.get("id").and_then(String::read).filter(|id| !id.is_empty());
        let root = raw.get("position").and_then(card_position);
        Self::read_card(Uid(uid.unwrap_or_else(|| index.to_string())), raw)
            .with(|entry| entry.position = entry.position.or(root).or(Some(Position::AfterChar)))
    }

    /// The form in which it was read.
    pub(super) fn to_own_form(&self) -> Map<String, Value> {
        if self.native { self.to_native() } else { self.to_card() }
    }

    /// SillyTavern's own form.
    pub fn to_native(&self) -> Map<String, Value> {
        let mut raw = if self.native { self.raw.clone() } else { strangers(&self.raw, CARD_ROOT) };
        self.write_native(&mut raw);
        if !self.native {
            raw.insert("uid".into(), serde_json::to_value(&self.uid).unwrap_or_default());
        }
        raw
    }

    /// The form of a `character_book`. Position 0 becomes `before_char`, all others `after_char`; the exact one goes
    /// into `extensions`.
    pub fn to_card(&self) -> Map<String, Value> {
        if !self.native {
            return self.edited_card();
        }
        let mut raw = strangers(&self.raw, NATIVE_ROOT);
        raw.insert("id".into(), serde_json::to_value(&self.uid).unwrap_or_default());
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
        raw.entry("extensions").or_insert_with(|| Value::Object(Map::new()));
        self.write_card(&mut raw);
        let word = if self.position == Some(Position::BeforeChar) { "before_char" } else { "after_char" };
        raw.insert("position".into(), word.into());
        raw
    }

    /// The entry as it was read, for telling whether it was changed since.
    pub fn source(&self) -> &Map<String, Value> {
        &self.raw
    }

    /// Whether SillyTavern wrote this entry into a card. It states `use_regex` for every entry it writes, whatever the keys
    /// are, so there the word means nothing (1.4.5).
    pub fn is_sillytavern_export(&self) -> bool {
        let extensions = self.raw.get("extensions").and_then(Value::as_object);
        extensions.is_some_and(|it| it.contains_key("selectiveLogic") || it.contains_key("exclude_recursion"))
    }

    fn edited_card(&self) -> Map<String, Value> {
        let mut raw = self.raw.clone();
        // A position that only the root states, or none at all, is no edit.
        let stated =
            raw.get("extensions").and_then(|it| it.get("position")).and_then(Option::<Position>::read).flatten();
        let root = raw.get("position").and_then(card_position).unwrap_or(Position::AfterChar);
        let unedited = stated.is_none() && self.position == Some(root);
        let word = if self.position == Some(Position::BeforeChar) { "before_char" } else { "after_char" };
        if unedited {
            self.clone().with(|entry| entry.position = None).write_card(&mut raw);
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

/// The specification's word, or the number that some exporters write there (3.11).
fn card_position(value: &Value) -> Option<Position> {
    match value.as_str() {
        Some("before_char") => Some(Position::BeforeChar),
        Some("after_char") => Some(Position::AfterChar),
        _ => Position::read(value),
    }
}

/// Names at the root of either form that the other form keeps elsewhere.
const NATIVE_ROOT: &[&str] = &[
    "uid",
    "key",
    "keysecondary",
    "selective",
    "selectiveLogic",
    "comment",
    "content",
    "constant",
    "vectorized",
    "order",
    "position",
    "depth",
    "role",
    "outletName",
    "disable",
    "ignoreBudget",
    "excludeRecursion",
    "preventRecursion",
    "delayUntilRecursion",
    "matchPersonaDescription",
    "matchCharacterDescription",
    "matchCharacterPersonality",
    "matchCharacterDepthPrompt",
    "matchScenario",
    "matchCreatorNotes",
    "probability",
    "useProbability",
    "group",
    "groupOverride",
    "groupWeight",
    "useGroupScoring",
    "scanDepth",
    "caseSensitive",
    "matchWholeWords",
    "sticky",
    "cooldown",
    "delay",
    "characterFilter",
    "triggers",
    "automationId",
    "displayIndex",
    "addMemo",
];
const CARD_ROOT: &[&str] = &[
    "id",
    "keys",
    "secondary_keys",
    "selective",
    "comment",
    "content",
    "constant",
    "insertion_order",
    "enabled",
    "position",
    "use_regex",
    "case_sensitive",
    "priority",
    "name",
];

/// What of an entry the other form does not name: unknown fields and `extensions`.
fn strangers(raw: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    raw.iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn find(raw: &Map<String, Value>, at: At) -> Option<Cow<'_, Value>> {
    let extension = |name: &str| raw.get("extensions")?.get(name);
    match at {
        Root(name) => raw.get(name).map(Cow::Borrowed),
        Not(name) => raw.get(name).and_then(bool::read).map(|it| Cow::Owned(Value::Bool(!it))),
        Ext(name) => extension(name).map(Cow::Borrowed),
        Own(name) => extension(OWN)?.get(name).map(Cow::Borrowed),
    }
}

fn get<T: Field>(raw: &Map<String, Value>, at: At, absent: T) -> T {
    find(raw, at).and_then(|value| T::read(&value)).unwrap_or(absent)
}

/// Writes a field only where the file says something else.
fn put<T: Field>(raw: &mut Map<String, Value>, at: At, value: &T, absent: T) {
    if get(raw, at, absent) == *value {
        return;
    }
    let json = value.write();
    match at {
        Root(name) => _ = raw.insert(name.into(), json),
        Not(name) => _ = raw.insert(name.into(), (json != Value::Bool(true)).into()),
        Ext(name) => _ = object(raw, "extensions").insert(name.into(), json),
        Own(name) => _ = object(object(raw, "extensions"), OWN).insert(name.into(), json),
    }
}

fn object<'m>(map: &'m mut Map<String, Value>, name: &str) -> &'m mut Map<String, Value> {
    let place = map.entry(name).or_insert(Value::Null);
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    match place {
        Value::Object(inner) => inner,
        _ => unreachable!("it was made an object just above"),
    }
}
