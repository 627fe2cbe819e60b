use serde::{Deserialize, Serialize};
use specta::Type;

/// The forms a lorebook can leave in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum LorebookFormat {
    /// SillyTavern's own.
    Native,
    /// A file as the V3 specification of cards has it.
    V3,
}

/// Where a lorebook outside a card counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "scope", rename_all = "camelCase")]
pub enum LorebookBinding {
    /// In every chat.
    Global,
    Character {
        id: String,
    },
    Chat {
        id: String,
    },
    Persona {
        id: String,
    },
}

/// A lorebook in the list of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LorebookSummary {
    /// Its own, or that of the character whose card holds it.
    pub id: String,
    /// The book's, or the character's where it has none.
    pub name: String,
    /// The character whose card holds it.
    pub character: Option<String>,
    /// Their name; empty for a book outside a card.
    pub character_name: String,
    pub description: String,
    pub entry_count: u32,
    /// One that is off counts nowhere. A card's own is always on.
    pub enabled: bool,
    pub bindings: Vec<LorebookBinding>,
}

/// A lorebook, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Lorebook {
    pub about: LorebookSummary,
    pub fields: LorebookFields,
    /// In the order in which people see them.
    pub entries: Vec<LorebookEntry>,
    /// Entries that could not be understood, and why. They are kept as they are.
    pub unread: Vec<String>,
}

/// What a book says of itself. What is absent is left to the settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LorebookFields {
    pub name: String,
    pub description: String,
    /// In messages.
    pub scan_depth: Option<i32>,
    pub token_budget: Option<i32>,
    pub recursive_scanning: Option<bool>,
}

/// How the secondary keys decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum LoreLogic {
    #[default]
    AndAny,
    AndAll,
    NotAny,
    NotAll,
}

/// Where the text of an entry goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum LorePosition {
    BeforeCharacter,
    AfterCharacter,
    NoteTop,
    NoteBottom,
    AtDepth,
    BeforeExamples,
    AfterExamples,
    Outlet,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum LoreRole {
    #[default]
    System,
    User,
    Character,
}

/// Texts besides the messages that keys are looked for in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreSources {
    pub persona: bool,
    pub description: bool,
    pub personality: bool,
    pub depth_prompt: bool,
    pub scenario: bool,
    pub creator_notes: bool,
}

/// For which characters an entry counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreFilter {
    pub names: Vec<String>,
    pub tags: Vec<String>,
    /// For all but those.
    pub exclude: bool,
}

/// An entry of a lorebook with every field that has a meaning here. Everything else of it is kept as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LorebookEntry {
    /// As [`super::Origin::Lore`] names it; a second one of that name has a number behind it. Empty for a new one.
    pub id: String,
    /// May be empty.
    pub title: String,
    pub enabled: bool,
    /// Told without a key.
    pub constant: bool,
    pub keys: Vec<String>,
    pub secondary_keys: Vec<String>,
    /// Whether the secondary keys count.
    pub selective: bool,
    pub logic: LoreLogic,
    /// The keys are patterns, as V3 has it.
    pub use_regex: bool,
    /// Of this and the next two: absent, as the settings say.
    pub case_sensitive: Option<bool>,
    pub whole_words: Option<bool>,
    /// In messages.
    pub scan_depth: Option<i32>,
    pub sources: LoreSources,
    /// Found by its meaning as well as by its keys.
    pub vectorized: bool,
    /// With its decorators.
    pub content: String,
    /// The higher, the nearer to the end of the prompt, and the sooner within the budget.
    #[specta(type = u32)]
    pub order: f64,
    /// The lowest goes first when the book's own budget is full.
    pub priority: Option<f64>,
    /// Absent: active, but placed nowhere.
    pub position: Option<LorePosition>,
    /// In messages from the end.
    pub depth: Option<i32>,
    pub role: LoreRole,
    /// The name in `{{outlet::name}}`.
    pub outlet: String,
    /// Whether there is a roll.
    pub use_probability: bool,
    /// In percent; absent never passes a roll.
    pub probability: Option<f64>,
    /// Names, separated by commas: of each group one is told.
    pub group: String,
    pub group_override: bool,
    pub group_weight: Option<f64>,
    pub group_scoring: Option<bool>,
    pub exclude_recursion: bool,
    pub prevent_recursion: bool,
    /// The recursion level from which on it may be told; 0: any time.
    pub delay_until_recursion: u32,
    pub ignore_budget: bool,
    /// Of this and the next two: in messages.
    pub sticky: Option<i32>,
    pub cooldown: Option<i32>,
    pub delay: Option<i32>,
    pub character_filter: Option<LoreFilter>,
    /// Kinds of turns: `normal`, `continue`, `impersonate`, `swipe`, `regenerate`, `quiet`. None: all.
    pub triggers: Vec<String>,
}

/// How far an entry is that is found by its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EntryMeaning {
    /// Its uid: of several with one the first.
    pub entry: String,
    /// It is read, and found; else it waits for idle time.
    pub ready: bool,
}

/// What a turn would wake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreTrial {
    /// In the order in which they were accepted.
    pub told: Vec<ToldEntry>,
    /// The first of those that were considered and are not told.
    pub silent: Vec<SilentEntry>,
    pub silent_count: u32,
    /// Of all that is told.
    pub tokens: u32,
    /// Tokens that lore may take.
    pub budget: u32,
    /// Something did not fit.
    pub overflowed: bool,
    /// Tokens are those of the model, and no estimate.
    pub counted: bool,
    pub notices: Vec<String>,
}

/// An entry that a turn would tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToldEntry {
    /// The name of its book.
    pub book: String,
    pub entry: String,
    pub title: String,
    /// `key`, `constant`, `sticky`, `decorator`, `external` or `kept`.
    pub reason: String,
    /// The one that was found.
    pub key: Option<String>,
    pub found: Option<LoreFound>,
    /// 0: by what was said; 1 and more: by the texts of other entries.
    pub pass: u32,
    /// Absent: placed nowhere.
    pub position: Option<LorePosition>,
    /// In messages from the end.
    pub depth: Option<i32>,
    pub outlet: Option<String>,
    #[specta(type = u32)]
    pub order: f64,
    pub tokens: u32,
    pub text: String,
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "in", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoreFound {
    Message {
        speaker: String,
        /// Messages after it.
        ago: u32,
    },
    Persona,
    Card,
    Note,
    Entry,
}

/// An entry that was considered and is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SilentEntry {
    /// The name of its book.
    pub book: String,
    pub entry: String,
    pub title: String,
    /// What kept it out, such as `key_not_found`.
    pub rule: String,
}
