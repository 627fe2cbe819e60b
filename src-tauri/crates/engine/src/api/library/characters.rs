//! Characters, personas, backgrounds and sprites as pages show them, and reports of imports.

use domain::shown_text::visible_line;
use domain::{CharacterId, PersonaId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{ChangedText, ListPlace};

/// One card of the library's grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CharacterSummary {
    pub id: CharacterId,
    pub name: String,
    /// One line: the start of the creator's notes or of the description.
    pub tagline: String,
    /// Asset hash; without it, show the placeholder.
    pub picture: Option<String>,
    pub tags: Vec<String>,
    pub creator: String,
    pub favourite: bool,
    /// It can be hidden.
    pub private: bool,
    /// When its newest chat last changed, RFC 3339.
    pub last_chat: Option<String>,
    pub created: String,
    pub place: ListPlace,
}

/// Whether private characters are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PrivateCharacters {
    /// The data folder is encrypted, so characters can be private and hidden.
    pub available: bool,
    pub shown: bool,
}

/// A character, and the tags of its card before a change, for `restore_tags`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CharacterTags {
    pub id: CharacterId,
    pub tags: Vec<String>,
}

/// The fields of a card that the editor shows. All other fields stay as they are.
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
    /// For group chats only.
    pub group_only_greetings: Vec<String>,
    pub depth_prompt: DepthPrompt,
    /// How readily the character speaks in a group: 0 never without being asked, 1 always. Absent
    /// if the card does not say.
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

/// A text of the card that is inserted among the newest messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DepthPrompt {
    /// Empty if there is none.
    pub text: String,
    /// Number of messages after it.
    pub depth: u32,
    pub role: NoteRole,
}

impl Default for DepthPrompt {
    fn default() -> Self {
        Self {
            text: String::new(),
            depth: 4,
            role: NoteRole::System,
        }
    }
}

/// The role in which a card's note is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum NoteRole {
    #[default]
    System,
    User,
    /// The character's.
    Assistant,
}

/// Token counts of several texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct TextCounts {
    /// In the order of the texts.
    pub tokens: Vec<u32>,
    /// The model whose tokens they are; empty if no model is set up.
    pub model: String,
    /// Counted with the model's own vocabulary, not estimated.
    pub exact: bool,
}

/// A character with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Character {
    pub id: CharacterId,
    pub picture: Option<String>,
    /// The format of the card as it was imported, such as `chara_card_v3`.
    pub spec: String,
    pub fields: CharacterFields,
    /// The sources that the card itself names.
    pub sources: Vec<String>,
    pub created: String,
    pub updated: String,
}

/// An entry of a card's lorebook, for display.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LoreEntry {
    /// As in [`crate::api::Origin::Lore`].
    pub id: String,
    /// May be empty.
    pub title: String,
    pub keys: Vec<String>,
    /// Empty if they are not used.
    pub secondary_keys: Vec<String>,
    pub content: String,
    /// Always active, without a key.
    pub constant: bool,
    pub enabled: bool,
}

/// A persona of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Persona {
    pub id: PersonaId,
    pub name: String,
    pub description: String,
    /// How the model should treat it: replaces the instructions of chat and card. May be empty.
    pub instructions: String,
    /// Asset hash. `set_persona_picture` sets it.
    pub picture: Option<String>,
    pub place: PersonaPlace,
    /// The characters whose new chats begin with this persona, sorted by name. `bind_persona` sets
    /// them.
    pub characters: Vec<CharacterId>,
}

/// A persona as the user edits it. Its picture and its characters are set by other operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PersonaDraft {
    /// `null` or an empty text for a new one.
    #[serde(default, deserialize_with = "domain::id::none_if_empty")]
    #[specta(type = Option<PersonaId>)]
    pub id: Option<PersonaId>,
    pub name: String,
    pub description: String,
    pub instructions: String,
    pub place: PersonaPlace,
}

impl From<Persona> for PersonaDraft {
    fn from(persona: Persona) -> Self {
        Self {
            id: Some(persona.id),
            name: persona.name,
            description: persona.description,
            instructions: persona.instructions,
            place: persona.place,
        }
    }
}

/// The place of a persona's description in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PersonaPlace {
    pub position: PersonaPosition,
    /// Number of messages from the end, for `inChat`.
    pub depth: u32,
    /// The role of the message, for `inChat`.
    pub role: NoteRole,
}

impl Default for PersonaPlace {
    fn default() -> Self {
        Self {
            position: PersonaPosition::Template,
            depth: 2,
            role: NoteRole::System,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum PersonaPosition {
    /// The place that the prompt template gives it.
    Template,
    /// After the texts of the card.
    AfterCard,
    /// Among the messages, at a depth.
    InChat,
    /// Nowhere. `{{persona}}` in a card still inserts it.
    Absent,
}

/// A card before a save in the editor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct CardVersion {
    pub id: String,
    /// The time of the save that replaced it (RFC 3339).
    pub replaced: String,
    /// Asset hash.
    pub picture: Option<String>,
    /// The fields that differ from the current card; `picture` may be one of them.
    pub changed: Vec<String>,
}

/// The changes of a field of a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct FieldChanges {
    pub field: String,
    pub parts: Vec<ChangedText>,
}

/// A picture that chats can show behind their messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Background {
    /// Asset hash.
    pub picture: String,
    /// The name of its file.
    pub name: String,
    /// Relative luminance, from 0 to 1, of a grey that is nowhere lighter than the picture.
    pub darkest: f64,
    /// Relative luminance, from 0 to 1, of a grey that is nowhere darker than the picture.
    pub lightest: f64,
    /// Words separated by commas. A chat shows the picture while one of them occurs in its scene.
    pub scene_words: String,
}

/// The picture that a chat shows behind its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatBackground {
    pub background: Background,
    /// The word of the scene that selects it; `null` if a setting does.
    pub scene_word: Option<String>,
}

/// A picture of a card that shows an emotion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Sprite {
    /// The id of the card's file.
    pub id: String,
    /// In lower case, without the number of a variant.
    pub emotion: String,
    pub name: String,
}

/// Something that was imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// `character`, `chat`, `lorebook`, `persona`, `model`, `template`, `chatFormat`,
    /// `regexScript`, `samplerPreset`, `quickReplies`, `faces` or `backgrounds`.
    pub kind: String,
    pub id: String,
    pub name: String,
    pub file: String,
    pub warnings: Vec<String>,
}

/// A file that was refused, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    pub file: String,
    /// The class of the refusal, such as `noCard`, `tooLarge`, `unreadable`.
    pub kind: String,
    pub reason: String,
}

/// The result of an import, file by file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    pub imported: Vec<Imported>,
    pub skipped: Vec<Skipped>,
    pub refused: Vec<Refused>,
    /// The user cancelled it: files that are not in the report were not read.
    #[serde(default)]
    pub cancelled: bool,
    /// Presets that were in use in the other app and are not used here, because the user has chosen
    /// others.
    #[serde(default)]
    pub choices: Vec<PresetChoice>,
}

/// A preset to use, with the setting that chooses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PresetChoice {
    pub setting: String,
    pub value: String,
    /// Its kind and name, for people.
    pub name: String,
}

impl ImportReport {
    /// Adds the lines of a later import.
    pub fn append(&mut self, later: Self) {
        self.imported.extend(later.imported);
        self.skipped.extend(later.skipped);
        self.refused.extend(later.refused);
        self.choices.extend(later.choices);
        self.cancelled |= later.cancelled;
    }

    /// Removes invisible letters from the names in the lines. They come from files of strangers.
    pub(crate) fn clean_names(&mut self) {
        let imported = self
            .imported
            .iter_mut()
            .flat_map(|line| [&mut line.name, &mut line.file]);
        let skipped = self.skipped.iter_mut().map(|line| &mut line.file);
        let refused = self.refused.iter_mut().map(|line| &mut line.file);
        imported
            .chain(skipped)
            .chain(refused)
            .for_each(|name| *name = visible_line(name));
    }
}

/// A stored report, without its lines.
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

/// The progress of a folder import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ImportProgress {
    /// Number of things that are done, whatever the result.
    pub done: u32,
    /// 0 until they are counted.
    pub total: u32,
    pub stage: ImportStage,
}

/// The current stage of a folder import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum ImportStage {
    /// Lists the files in the folder.
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

/// Something that existed already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The id of what exists already.
    pub id: String,
    pub file: String,
    pub reason: String,
}

/// The formats in which a card can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "kebab-case")]
pub enum CardFormat {
    Png,
    JsonV2,
    JsonV3,
    /// With every file that belongs to the card.
    Charx,
}

/// The formats in which a chat can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum ChatFileFormat {
    /// SillyTavern's format, one line per message.
    Jsonl,
    /// One file for people, with the pictures of the messages.
    Html,
    Text,
    Markdown,
    /// SillyTavern's file of a group: its members and how they take turns, without the messages.
    Group,
}
