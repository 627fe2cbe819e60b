use serde::{Deserialize, Serialize};
use specta::Type;

/// One card of the library's grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CharacterSummary {
    pub id: String,
    pub name: String,
    /// One line: the start of the creator's notes or of the description.
    pub tagline: String,
    /// Asset hash; absent means the placeholder.
    pub picture: Option<String>,
    pub tags: Vec<String>,
    pub creator: String,
    pub favourite: bool,
    /// When its newest chat last changed, RFC 3339.
    pub last_chat: Option<String>,
    pub created: String,
}

/// The fields of a card that the editor shows. Everything else on the card is kept as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CharacterFields {
    pub name: String,
    pub nickname: String,
    pub description: String,
    pub personality: String,
    pub scenario: String,
    pub first_message: String,
    pub alternate_greetings: Vec<String>,
    pub message_examples: String,
    pub system_prompt: String,
    pub post_history_instructions: String,
    pub creator_notes: String,
    /// The creator's notes in other languages.
    pub translated_notes: Vec<TranslatedNote>,
    pub creator: String,
    pub character_version: String,
    pub tags: Vec<String>,
    /// For group chats alone.
    pub group_only_greetings: Vec<String>,
    pub depth_prompt: DepthPrompt,
    /// How readily the character speaks in a group: 0 never unasked, 1 always. Absent where the card does not say.
    pub talkativeness: Option<f64>,
}

/// The creator's notes in one language.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TranslatedNote {
    /// ISO 639-1, two letters.
    pub language: String,
    pub text: String,
}

/// A text of the card that is told among the newest messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DepthPrompt {
    /// Empty where there is none.
    pub text: String,
    /// Messages that stand after it.
    pub depth: u32,
    pub role: NoteRole,
}

impl Default for DepthPrompt {
    fn default() -> Self {
        Self { text: String::new(), depth: 4, role: NoteRole::System }
    }
}

/// In whose voice a note of a card is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum NoteRole {
    #[default]
    System,
    User,
    /// The character's.
    Assistant,
}

/// Tokens of several texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TextCounts {
    /// In the order of the texts.
    pub tokens: Vec<u32>,
    /// Whose tokens they are; empty where no model is set up.
    pub model: String,
    /// Counted by the model's own vocabulary, and not estimated.
    pub exact: bool,
}

/// A character, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Character {
    pub id: String,
    pub picture: Option<String>,
    /// `chara_card_v3` and the like, as it was imported.
    pub spec: String,
    pub fields: CharacterFields,
    /// Where the card came from, as it says itself.
    pub sources: Vec<String>,
    pub created: String,
    pub updated: String,
}

/// An entry of a card's lorebook, to be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreEntry {
    /// As [`super::Origin::Lore`] names it.
    pub id: String,
    /// May be empty.
    pub title: String,
    pub keys: Vec<String>,
    /// Empty where they do not count.
    pub secondary_keys: Vec<String>,
    pub content: String,
    /// Told without a key.
    pub constant: bool,
    pub enabled: bool,
}

/// Whom the user plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Persona {
    pub id: String,
    pub name: String,
    pub description: String,
    /// How the model is to deal with it: stands for the instructions of chat and card. May be empty.
    pub instructions: String,
    /// Asset hash. `set_persona_picture` sets it; saving leaves it as it is.
    pub picture: Option<String>,
}

/// A picture that another app showed behind its chats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Background {
    /// Asset hash.
    pub picture: String,
    /// What its file was called.
    pub name: String,
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// `character`, `chat`, `lorebook`, `persona`, `model`, `template`, `chatFormat`, `regexScript`, `samplerPreset`,
    /// `quickReplies`, `faces` or `backgrounds`.
    pub kind: String,
    pub id: String,
    pub name: String,
    pub file: String,
    pub warnings: Vec<String>,
}

/// What was refused, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    pub file: String,
    /// Class of the refusal, such as `noCard`, `tooLarge`, `unreadable`.
    pub kind: String,
    pub reason: String,
}

/// What an import did, file by file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    pub imported: Vec<Imported>,
    pub skipped: Vec<Skipped>,
    pub refused: Vec<Refused>,
    /// The user ended it: what is not in the report was not looked at.
    #[serde(default)]
    pub cancelled: bool,
}

/// A report that is kept, without its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ImportRecord {
    pub id: String,
    pub created: String,
    pub imported: u32,
    pub skipped: u32,
    pub refused: u32,
    pub cancelled: bool,
}

/// How far the import of a whole folder is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ImportProgress {
    /// Things that are through, whatever became of them.
    pub done: u32,
    /// 0 until they are counted.
    pub total: u32,
    pub stage: ImportStage,
}

/// What the import of a folder is at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ImportStage {
    /// What is there.
    #[default]
    Looking,
    Personas,
    Characters,
    Chats,
    GroupChats,
    Lorebooks,
    Presets,
    Pictures,
}

/// What was already there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Of what is there already.
    pub id: String,
    pub file: String,
    pub reason: String,
}

/// The forms a card can leave in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "kebab-case")]
pub enum CardFormat {
    Png,
    JsonV2,
    JsonV3,
    /// With every file that belongs to the card.
    Charx,
}

/// The forms a chat can leave in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum ChatFileFormat {
    /// SillyTavern's lines.
    Jsonl,
    Text,
    Markdown,
}
