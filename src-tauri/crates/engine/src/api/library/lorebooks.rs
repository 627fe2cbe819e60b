//! Lorebooks, their entries and bindings.

use domain::{CharacterId, ChatId, LorebookId, PersonaId};
use serde::{Deserialize, Serialize};
use specta::Type;

/// The formats in which a lorebook can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum LorebookFormat {
    /// SillyTavern's own format.
    Native,
    /// A file as in the V3 specification of cards.
    V3,
}

/// The chats in which a lorebook outside a card applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "scope", rename_all = "camelCase")]
pub enum LorebookBinding {
    /// In every chat.
    Global,
    Character {
        id: CharacterId,
    },
    Chat {
        id: ChatId,
    },
    Persona {
        id: PersonaId,
    },
}

/// A lorebook in the list of lorebooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LorebookSummary {
    /// Its own id, or that of the character whose card contains it.
    pub id: LorebookId,
    /// The name of the book, or that of the character if it has none.
    pub name: String,
    /// The character whose card contains it.
    pub character: Option<CharacterId>,
    /// The name of that character; empty for a book outside a card.
    pub character_name: String,
    pub description: String,
    pub entry_count: u32,
    /// A disabled book applies nowhere. The book of a card is always enabled.
    pub enabled: bool,
    pub bindings: Vec<LorebookBinding>,
}

/// A lorebook with all its entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Lorebook {
    pub about: LorebookSummary,
    pub fields: LorebookFields,
    /// In display order.
    pub entries: Vec<LorebookEntry>,
    /// Entries that could not be read, and why. They are kept as they are.
    pub unread: Vec<String>,
}

/// The fields of a book. The settings decide on those that are absent.
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

/// The place of an entry's text in the prompt.
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

/// Texts besides the messages in which keys are searched.
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

/// The characters for which an entry applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreFilter {
    pub names: Vec<String>,
    pub tags: Vec<String>,
    /// For all characters except these.
    pub exclude: bool,
}

/// An entry of a lorebook with every field that is used here. All other fields are kept as they
/// are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LorebookEntry {
    /// As in [`crate::api::Origin::Lore`]; if several have the same name, a number is appended.
    /// Empty for a new entry.
    pub id: String,
    /// May be empty.
    pub title: String,
    pub enabled: bool,
    /// Always active, without a key.
    pub constant: bool,
    pub keys: Vec<String>,
    pub secondary_keys: Vec<String>,
    /// Whether the secondary keys are used.
    pub selective: bool,
    pub logic: LoreLogic,
    /// The keys are regular expressions, as in V3.
    pub use_regex: bool,
    /// For this and the next two fields: absent means as the settings say.
    pub case_sensitive: Option<bool>,
    pub whole_words: Option<bool>,
    /// In messages.
    pub scan_depth: Option<i32>,
    pub sources: LoreSources,
    /// Found by meaning as well as by keys.
    pub vectorized: bool,
    /// Includes the decorators.
    pub content: String,
    /// Higher numbers go nearer the end of the prompt, and come first if the budget is short.
    #[specta(type = u32)]
    pub order: f64,
    /// The entries with the lowest number are dropped first if the book's own budget is full.
    pub priority: Option<f64>,
    /// Absent: active, but not placed.
    pub position: Option<LorePosition>,
    /// In messages from the end.
    pub depth: Option<i32>,
    pub role: LoreRole,
    /// The name in `{{outlet::name}}`.
    pub outlet: String,
    /// Whether the probability is used.
    pub use_probability: bool,
    /// In percent. If absent, the entry never passes.
    pub probability: Option<f64>,
    /// Names of groups, separated by commas. One entry of each group is used.
    pub group: String,
    pub group_override: bool,
    pub group_weight: Option<f64>,
    pub group_scoring: Option<bool>,
    pub exclude_recursion: bool,
    pub prevent_recursion: bool,
    /// The recursion level from which on it may be used; 0: at any time.
    pub delay_until_recursion: u32,
    pub ignore_budget: bool,
    /// For this and the next two fields: in messages.
    pub sticky: Option<i32>,
    pub cooldown: Option<i32>,
    pub delay: Option<i32>,
    pub character_filter: Option<LoreFilter>,
    /// Kinds of turns: `normal`, `continue`, `impersonate`, `swipe`, `regenerate`, `quiet`. Empty
    /// means all.
    pub triggers: Vec<String>,
}

/// Whether an entry can be found by meaning yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct EntryMeaning {
    /// Its uid. If several entries have it, the first one is meant.
    pub entry: String,
    /// It is embedded and can be found; otherwise it waits for idle time.
    pub ready: bool,
}

/// The entries that a turn would activate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreTrial {
    /// In the order in which they were accepted.
    pub told: Vec<ToldEntry>,
    /// The first of the entries that were considered and are not included.
    pub silent: Vec<SilentEntry>,
    pub silent_count: u32,
    /// Tokens of all included entries.
    pub tokens: u32,
    /// Token limit for lore.
    pub budget: u32,
    /// Some entries did not fit.
    pub overflowed: bool,
    /// The tokens are counted by the model, not estimated.
    pub counted: bool,
    pub notices: Vec<String>,
}

/// An entry that a turn would include.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToldEntry {
    /// The name of its book.
    pub book: String,
    pub entry: String,
    pub title: String,
    /// `key`, `constant`, `sticky`, `decorator`, `external` or `kept`.
    pub reason: String,
    /// The key that matched.
    pub key: Option<String>,
    pub found: Option<LoreFound>,
    /// 0: matched in messages; 1 and more: matched in texts of other entries.
    pub pass: u32,
    /// Absent: not placed.
    pub position: Option<LorePosition>,
    /// In messages from the end.
    pub depth: Option<i32>,
    pub outlet: Option<String>,
    #[specta(type = u32)]
    pub order: f64,
    pub tokens: u32,
    pub text: String,
}

/// The text in which a key was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "in", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LoreFound {
    Message {
        speaker: String,
        /// Number of messages after it.
        ago: u32,
    },
    Persona,
    Card,
    Note,
    Entry,
}

/// An entry that was considered and is not included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SilentEntry {
    /// The name of its book.
    pub book: String,
    pub entry: String,
    pub title: String,
    /// The rule that excluded it, such as `key_not_found`.
    pub rule: String,
}
