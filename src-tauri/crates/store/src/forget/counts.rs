//! Numbers of stored items, to tell what was removed.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Numbers of items by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub struct ForgetCounts {
    pub characters: u32,
    pub personas: u32,
    pub chats: u32,
    pub messages: u32,
    /// Versions of messages, including the shown ones.
    pub versions: u32,
    /// Texts of messages before edits.
    pub earlier_texts: u32,
    pub memories: u32,
    /// Summaries of parts of chats.
    pub summaries: u32,
    /// Vectors for the search by meaning.
    pub vectors: u32,
    /// Stored prompts of past turns.
    pub prompts: u32,
    pub documents: u32,
    pub drafts: u32,
    pub card_versions: u32,
    /// Pictures and imported files.
    pub files: u32,
}

const COUNT: &str = "SELECT
    (SELECT count(*) FROM character) AS characters,
    (SELECT count(*) FROM persona) AS personas,
    (SELECT count(*) FROM chat) AS chats,
    (SELECT count(*) FROM message) AS messages,
    (SELECT count(*) FROM swipe) AS versions,
    (SELECT count(*) FROM revision) AS earlier_texts,
    (SELECT count(*) FROM memory) AS memories,
    (SELECT count(*) FROM keyframe) AS summaries,
    (SELECT count(*) FROM message_vector) + (SELECT count(*) FROM meaning) AS vectors,
    (SELECT count(*) FROM manifest WHERE octet_length(json) > 0) AS prompts,
    (SELECT count(*) FROM document) AS documents,
    (SELECT count(*) FROM draft) AS drafts,
    (SELECT count(*) FROM card_version) AS card_versions,
    (SELECT count(*) FROM asset) AS files";

impl ForgetCounts {
    /// Counts everything that is stored.
    pub(super) fn read(conn: &Connection) -> Result<Self, StoreError> {
        Ok(conn.prepare_cached(COUNT)?.query_row([], from_row)?)
    }

    /// The items that are here and not in `after`.
    pub(super) fn minus(self, after: Self) -> Self {
        let less = |here: u32, there: u32| here.saturating_sub(there);
        Self {
            characters: less(self.characters, after.characters),
            personas: less(self.personas, after.personas),
            chats: less(self.chats, after.chats),
            messages: less(self.messages, after.messages),
            versions: less(self.versions, after.versions),
            earlier_texts: less(self.earlier_texts, after.earlier_texts),
            memories: less(self.memories, after.memories),
            summaries: less(self.summaries, after.summaries),
            vectors: less(self.vectors, after.vectors),
            prompts: less(self.prompts, after.prompts),
            documents: less(self.documents, after.documents),
            drafts: less(self.drafts, after.drafts),
            card_versions: less(self.card_versions, after.card_versions),
            files: less(self.files, after.files),
        }
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<ForgetCounts> {
    Ok(ForgetCounts {
        characters: row.get("characters")?,
        personas: row.get("personas")?,
        chats: row.get("chats")?,
        messages: row.get("messages")?,
        versions: row.get("versions")?,
        earlier_texts: row.get("earlier_texts")?,
        memories: row.get("memories")?,
        summaries: row.get("summaries")?,
        vectors: row.get("vectors")?,
        prompts: row.get("prompts")?,
        documents: row.get("documents")?,
        drafts: row.get("drafts")?,
        card_versions: row.get("card_versions")?,
        files: row.get("files")?,
    })
}
