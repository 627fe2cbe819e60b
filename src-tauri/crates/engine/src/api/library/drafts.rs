//! Drafts: texts that were typed into a form and are not stored in their item yet.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use specta::Type;

/// The form that a draft belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum DraftKind {
    /// A text for the composer that another window replaced. The owner is the chat.
    Composer,
    /// The pictures attached in the composer, as JSON. The owner is the chat.
    Pictures,
    /// The edit of a message. The owner is the chat, the target the message.
    MessageEdit,
    /// The user's own hint for another version of a reply. The owner is the chat.
    Hint,
    /// A card's text for one chat. The owner is the chat, the target the field.
    ChatText,
    /// The form of a card. The owner is the character; empty for a new one.
    Card,
    /// The form of a lorebook itself. The owner is the book.
    Lorebook,
    /// An entry. The owner is the book, the target the entry.
    LoreEntry,
    /// A memory. The owner is the character, the target the memory; empty for a new one.
    Memory,
    /// The target is the persona; empty for a new one.
    Persona,
    /// The target is the set; empty for a new one.
    QuickReplies,
    /// The form of an endpoint, without secrets. The target is the endpoint; empty for a new one.
    Endpoint,
    /// The form of a tool server, without secrets. The target is the server; empty for a new one.
    ToolServer,
    Template,
    Script,
    Mode,
    Sampler,
    ChatFormat,
    /// A field of the settings. The owner is the chat, character or model, the target the key.
    Setting,
}

impl DraftKind {
    /// Its name in the API and in the store.
    pub(crate) fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => name,
            other => format!("{other:?}"),
        }
    }
}

/// The place of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DraftPlace {
    pub kind: DraftKind,
    /// The item that the form belongs to; empty if there is none.
    pub owner: String,
    /// The part of the item; empty if the form is the item's only one.
    pub target: String,
}

/// A draft. Each window keeps its own, so that two windows never replace each other's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// Changes with every save.
    pub id: String,
    pub place: DraftPlace,
    /// The typed text, in the form that the page gave it.
    pub text: String,
    /// Identifies the stored value that the text was typed over, in the form that the page gave it.
    pub base: String,
    /// RFC 3339.
    pub saved: String,
}

/// The result of saving a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SavedDraft {
    /// The next save names it, so that it replaces this one.
    pub id: String,
    /// Drafts of the same place from other windows, newest first.
    pub others: Vec<Draft>,
}
