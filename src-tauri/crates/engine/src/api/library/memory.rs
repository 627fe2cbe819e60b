//! Memories, their sources, and searches in them.

use domain::{CharacterId, ChatId, KeyframeId, LorebookId, MemoryId, MessageId, PersonaId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{BlockReason, Origin, Signal};

/// The chats in which a memory applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// All chats.
    Profile,
    Character,
    /// The chats of a character with one persona.
    Pair,
    Chat,
    /// All chats in which one lorebook applies.
    World,
}

/// One memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    pub id: MemoryId,
    /// note, fact, event, relationship, personality, preference, rule, outcome, decision, emotion,
    /// open_thread.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    /// 1 to 10.
    pub importance: u32,
    pub scope: MemoryScope,
    pub character: Option<CharacterId>,
    pub persona: Option<PersonaId>,
    pub chat: Option<ChatId>,
    /// The lorebook, if the scope is a world.
    pub world: Option<LorebookId>,
    pub pinned: bool,
    /// Its creator: user, rule, model, keyframe.
    pub origin: String,
    /// How certain it is, 1 to 10.
    pub confidence: u32,
    /// Ids of the messages it was made from, and of those that say the same.
    pub sources: Vec<MessageId>,
    /// The ids in `sources` that only say the same. They come from memories that were merged into
    /// it, and it does not depend on them.
    pub echoes: Vec<MessageId>,
    /// Set if it is kept but no longer used.
    pub archived: Option<Archived>,
    pub created: String,
    pub updated: String,
    /// How well it matches the search, 0 to 1.
    pub score: Option<f32>,
}

/// Why a memory is no longer used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    /// merged, superseded, retired, crowded.
    pub why: String,
    /// For a superseded memory: when it became outdated.
    pub since: String,
    /// The memory that replaced a merged or superseded one.
    pub by: Option<MemoryId>,
}

/// The memories that a consolidation archived. Each can be restored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Consolidation {
    /// Another memory says the same.
    pub merged: Vec<Memory>,
    /// A newer memory replaced it.
    pub superseded: Vec<Memory>,
    /// Old, unimportant, uncertain and never used.
    pub retired: Vec<Memory>,
    /// There were too many memories, and these ranked lowest.
    pub crowded: Vec<Memory>,
}

/// A filter of the memory list: all fields that are set must match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryFilter {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub scope: Option<MemoryScope>,
    pub made: Option<MadeFrom>,
    /// The archived memories instead of the active ones.
    pub archived: bool,
}

/// The first pages of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct FoundMemories {
    pub memories: Vec<Memory>,
    /// There are more.
    pub more: bool,
}

/// The origin of a memory's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum MadeFrom {
    /// Messages of a chat.
    Words,
    /// Written by the user.
    Hand,
}

/// The memories to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "of", rename_all = "camelCase")]
pub enum MemoryOwner {
    /// All that apply to this character and to no other.
    Character {
        character: CharacterId,
    },
    /// Without a persona, those of the user without a name.
    Pair {
        character: CharacterId,
        persona: Option<PersonaId>,
    },
    /// All that were learned in a chat.
    Chat {
        chat: ChatId,
    },
    Everybody,
}

/// The result of an import of memories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemoryImport {
    pub added: u32,
    /// They existed already.
    pub known: u32,
    /// The beginnings of memories whose lorebook was not found. They apply to the character
    /// instead.
    pub worldless: Vec<String>,
    /// The beginnings of refused memories, each with the reason.
    pub refused: Vec<String>,
}

/// The size of all memories and vectors in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemoryStorage {
    #[specta(type = u32)]
    pub memories: u64,
    #[specta(type = u32)]
    pub memory_bytes: u64,
    /// The vectors of messages and memories, for search by meaning.
    #[specta(type = u32)]
    pub vectors: u64,
    #[specta(type = u32)]
    pub vector_bytes: u64,
    /// Texts that are not embedded yet.
    #[specta(type = u32)]
    pub unread: u64,
    /// The encoder is available. Without it, messages are searched by words only.
    pub by_meaning: bool,
}

/// The first sentences of a range of messages of a chat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Keyframe {
    pub id: KeyframeId,
    pub chat: ChatId,
    /// Its first message.
    pub message: MessageId,
    /// Number of messages that it covers.
    pub messages: u32,
    /// The time of its last message.
    pub said: String,
    pub text: String,
}

/// A message that something was made from: who said it, where and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub message: MessageId,
    pub chat: ChatId,
    /// The chat's title, or the character's name if it has none.
    pub title: String,
    /// The speaker.
    pub name: String,
    /// The start of its text.
    pub line: String,
    pub created: String,
}

/// Something that was recalled: a memory, an earlier message, a passage of a document, or a
/// lorebook entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Recollected {
    /// The id of the memory, message, document or entry.
    pub id: String,
    /// The type of a memory; `message`, `document`, `lore`.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    /// For a memory: 1 to 10.
    pub importance: Option<u32>,
    /// For a memory.
    pub scope: Option<MemoryScope>,
    /// Ids of the messages it was made from.
    pub sources: Vec<String>,
    /// For a message: its chat.
    pub chat: Option<ChatId>,
    pub created: Option<String>,
    /// Its source, as a text.
    pub source: String,
    pub origin: Origin,
    /// Why it was found, in English.
    pub reason: String,
    /// The same as codes with values; empty in prompts of older versions.
    #[serde(default)]
    pub reasons: Vec<BlockReason>,
    pub score: Option<f32>,
    /// The parts of the score.
    pub signals: Vec<Signal>,
    pub tokens: u32,
    /// It is in the prompt.
    pub kept: bool,
    /// Why it is not in the prompt, in English.
    pub dropped_reason: Option<String>,
    /// The same as a code; `null` in prompts of older versions.
    #[serde(default)]
    pub dropped_code: Option<String>,
}

/// The things that a turn recalls, and their cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Recollection {
    /// The items in the prompt come first; then best first.
    pub items: Vec<Recollected>,
    /// Tokens of the items in the prompt.
    pub tokens: u32,
    /// Token limit for them.
    pub budget: u32,
    /// Notices for the user, such as that the encoder was too slow.
    pub notices: Vec<String>,
}

/// A memory as the user edits it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDraft {
    /// `null` or an empty text for a new one.
    #[serde(default, deserialize_with = "domain::id::none_if_empty")]
    #[specta(type = Option<MemoryId>)]
    pub id: Option<MemoryId>,
    /// A note, if it is none of the types.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    pub importance: u32,
    pub pinned: bool,
    pub scope: MemoryScope,
    pub character: CharacterId,
    /// For the scope of a pair. Without it, the default persona is used.
    pub persona: Option<PersonaId>,
    /// For the scope of a chat.
    pub chat: Option<ChatId>,
    /// For the scope of a world: a lorebook outside cards.
    pub world: Option<LorebookId>,
}
