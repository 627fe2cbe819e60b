use serde::{Deserialize, Serialize};
use specta::Type;

use super::{Origin, Signal};

/// Where a memory counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// Everywhere.
    Profile,
    Character,
    /// Of a character with one persona.
    Pair,
    Chat,
    /// In every chat in which one lorebook counts.
    World,
}

/// One thing remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    pub id: String,
    /// note, fact, event, relationship, personality, preference, rule, outcome, decision, emotion, open_thread.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    /// 1 to 10.
    pub importance: u32,
    pub scope: MemoryScope,
    pub character: Option<String>,
    pub persona: Option<String>,
    pub chat: Option<String>,
    /// The lorebook, of a memory of a world.
    pub world: Option<String>,
    pub pinned: bool,
    /// What wrote it down: user, rule, model, keyframe.
    pub origin: String,
    /// 1 to 10: how sure it is that it is so.
    pub confidence: u32,
    /// Ids of the messages it was made from, and of those that say the same.
    pub sources: Vec<String>,
    /// Those among them that say the same: of memories that were merged into it. It stands without them.
    pub echoes: Vec<String>,
    /// It is kept and told no more.
    pub archived: Option<Archived>,
    pub created: String,
    pub updated: String,
    /// How well it fits what was looked for, from 0 to 1.
    pub score: Option<f32>,
}

/// Why a memory is told no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    /// merged, superseded, retired, crowded.
    pub why: String,
    /// Of a superseded one: since when it is so no longer.
    pub since: String,
    /// The memory that a merged or superseded one gave way to.
    pub by: Option<String>,
}

/// What became of memories that were held against each other. Each can be brought back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Consolidation {
    /// Another one says the same.
    pub merged: Vec<Memory>,
    /// A newer one says that it is so no longer.
    pub superseded: Vec<Memory>,
    /// Old, of little weight, unsure, and never called up.
    pub retired: Vec<Memory>,
    /// There were too many; these are worth least.
    pub crowded: Vec<Memory>,
}

/// Which memories are listed: all that is set must fit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryFilter {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub scope: Option<MemoryScope>,
    pub made: Option<MadeFrom>,
    /// The archived ones, and not those that count.
    pub archived: bool,
}

/// The first pages of what was looked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct FoundMemories {
    pub memories: Vec<Memory>,
    /// There are more.
    pub more: bool,
}

/// What a memory was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "lowercase")]
pub enum MadeFrom {
    /// From what was said in a chat.
    Words,
    /// Written by the user.
    Hand,
}

/// Whose memories are forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "of", rename_all = "camelCase")]
pub enum MemoryOwner {
    /// All that count with the character and with no other.
    Character {
        character: String,
    },
    /// Without a persona, the nameless user's.
    Pair {
        character: String,
        persona: Option<String>,
    },
    Everybody,
}

/// What became of a file of memories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemoryImport {
    pub added: u32,
    /// They were there already.
    pub known: u32,
    /// How those begin that count with the character instead: their lorebooks are not here.
    pub worldless: Vec<String>,
    /// How each of the others begins, and why it is not there.
    pub refused: Vec<String>,
}

/// What is remembered takes so much of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemoryStorage {
    #[specta(type = u32)]
    pub memories: u64,
    #[specta(type = u32)]
    pub memory_bytes: u64,
    /// Of what was said and remembered, to be found by its meaning.
    #[specta(type = u32)]
    pub vectors: u64,
    #[specta(type = u32)]
    pub vector_bytes: u64,
    /// Texts that are still to be read.
    #[specta(type = u32)]
    pub unread: u64,
    /// The encoder is there; without it, what was said is found by its words alone.
    pub by_meaning: bool,
}

/// What a stretch of a chat came to, in its first sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Keyframe {
    pub id: String,
    pub chat: String,
    /// Its first message.
    pub message: String,
    /// How many messages it tells of.
    pub messages: u32,
    /// When the last of them was said.
    pub said: String,
    pub text: String,
}

/// A message that something was made from: who said it, where and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub message: String,
    pub chat: String,
    /// The chat's title; where it has none, the character's name.
    pub title: String,
    /// Who said it.
    pub name: String,
    /// The start of it.
    pub line: String,
    pub created: String,
}

/// Something that comes back: a memory, an older message, a passage of a document, a lorebook entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Recollected {
    /// Of the memory, the message, the document or the entry.
    pub id: String,
    /// A memory's own type; `message`, `document`, `lore`.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    /// Of a memory, 1 to 10.
    pub importance: Option<u32>,
    /// Of a memory.
    pub scope: Option<MemoryScope>,
    /// Ids of the messages it was made from.
    pub sources: Vec<String>,
    /// Where a message was said.
    pub chat: Option<String>,
    pub created: Option<String>,
    /// Where it comes from, in words.
    pub source: String,
    pub origin: Origin,
    /// Why it was found.
    pub reason: String,
    pub score: Option<f32>,
    /// What the score is made of.
    pub signals: Vec<Signal>,
    pub tokens: u32,
    /// It stands in the prompt.
    pub kept: bool,
    /// Why it does not.
    pub dropped_reason: Option<String>,
}

/// What comes back in a turn, and what it costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Recollection {
    /// What stands in the prompt before what does not; each best first.
    pub items: Vec<Recollected>,
    /// Of what stands in the prompt.
    pub tokens: u32,
    /// Tokens that there were for it.
    pub budget: u32,
    /// What the user may want to know, such as that the encoder was too slow.
    pub notices: Vec<String>,
}

/// A memory as the user writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDraft {
    /// Empty for a new one.
    pub id: String,
    /// What is none of the types is a note.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    pub importance: u32,
    pub pinned: bool,
    pub scope: MemoryScope,
    pub character: String,
    /// Of a pair; without it the default persona.
    pub persona: Option<String>,
    /// For the scope of a chat.
    pub chat: Option<String>,
    /// For the scope of a world: a lorebook outside cards.
    pub world: Option<String>,
}
