//! Search over messages and everything else that people write.

use domain::{CharacterId, ChatId, LorebookId, MemoryId, MessageId, SwipeId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{CardField, Role};

/// A page of found messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchPage {
    /// The last added first.
    pub hits: Vec<SearchHit>,
    /// There are further hits.
    pub more: bool,
}

/// A version of a message that matches a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub chat: ChatId,
    /// Title of the chat; empty if it has none.
    pub title: String,
    /// Name of the chat's character.
    pub character: String,
    pub message: MessageId,
    pub swipe: SwipeId,
    /// The version is the one that is shown.
    pub is_shown: bool,
    pub role: Role,
    /// Name of the speaker; `null` for the user.
    pub name: Option<String>,
    /// Empty if the time is unknown.
    pub created: String,
    /// The text around the first match.
    pub excerpt: Vec<ExcerptPart>,
    /// Its meaning is similar to the search; its words may differ.
    pub by_meaning: bool,
}

/// A part of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ExcerptPart {
    pub text: String,
    pub is_match: bool,
}

/// The messages of one chat that match a search, for walking from hit to hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ChatMatches {
    /// Messages whose shown version matches, in the order of the chat.
    pub messages: Vec<MessageId>,
    /// There are further matches before these.
    pub more: bool,
    /// The words and phrases to highlight.
    pub terms: Vec<SearchWord>,
}

/// A word or a phrase of a search. Case and accents do not matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchWord {
    pub text: String,
    /// The last word may be longer in the message.
    pub unfinished: bool,
}

/// Everything that matches a search, by group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchResults {
    /// The first page of messages and their other versions.
    pub messages: SearchPage,
    /// Texts of messages before they were edited.
    pub earlier: SearchPage,
    /// The other groups that have hits.
    pub groups: Vec<SearchGroup>,
    /// Something is embedded, so a search can find it by meaning.
    pub can_find_meaning: bool,
}

/// Hits of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SearchGroup {
    pub kind: SearchGroupKind,
    /// The last indexed first.
    pub items: Vec<ItemHit>,
    /// There are further hits.
    pub more: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum SearchGroupKind {
    /// Author's notes, and texts of a chat that replace those of the card.
    Notes,
    Memories,
    Entries,
    Characters,
}

/// A note, a memory, a lorebook entry or a character that matches a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ItemHit {
    pub place: ItemPlace,
    /// Title of the entry or name of the character; empty for others.
    pub title: String,
    /// Name of the chat, character or lorebook it belongs to; empty if it belongs to none.
    pub context: String,
    /// The text around the first match.
    pub excerpt: Vec<ExcerptPart>,
    /// Its meaning is similar to the search; its words may differ.
    pub by_meaning: bool,
}

/// The place of a found item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "of", rename_all = "camelCase")]
pub enum ItemPlace {
    /// The author's note for all chats.
    Note,
    ChatNote {
        chat: ChatId,
    },
    CharacterNote {
        character: CharacterId,
    },
    /// A chat's replacement of a field of the card.
    ChatText {
        chat: ChatId,
        field: CardField,
    },
    /// `chat` is a chat in whose memory panel it is.
    Memory {
        memory: MemoryId,
        chat: Option<ChatId>,
        character: Option<CharacterId>,
    },
    Entry {
        book: LorebookId,
        entry: String,
    },
    /// An entry of the lorebook in a card.
    CardEntry {
        character: CharacterId,
        entry: String,
    },
    /// `field` is the field of the card with the first match; empty for the name.
    Character {
        character: CharacterId,
        field: String,
    },
}
