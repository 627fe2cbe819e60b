//! Manifests: the record of the prompt that a swipe answered, as JSON.

use std::collections::HashMap;

use domain::{ChatId, MessageId, SwipeId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::StoreError;
use crate::sql::Col;

/// A manifest with the reply it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredManifest {
    pub message: MessageId,
    pub swipe: SwipeId,
    /// Of the reply.
    pub text: String,
    pub model: Option<String>,
    pub created: Timestamp,
    pub json: String,
    pub figures: String,
}

pub struct Manifests<'a> {
    pub(crate) conn: &'a Connection,
}

impl Manifests<'_> {
    pub fn get(&self, swipe: SwipeId) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT json FROM manifest WHERE swipe = ?1")?
            .query_row([Col(swipe)], |row| row.get(0))
            .optional()?;
        Ok(json)
    }

    /// The newest of a chat that is still there, of the swipes that are shown.
    pub fn latest(&self, chat: ChatId) -> Result<Option<StoredManifest>, StoreError> {
        Ok(self.past(chat, i64::MAX, 1)?.pop())
    }

    /// The one of the turn before that of `swipe`, in the same chat.
    pub fn before(&self, swipe: SwipeId) -> Result<Option<StoredManifest>, StoreError> {
        let place = self
            .conn
            .prepare_cached(
                "SELECT message.chat, message.position FROM swipe JOIN message ON message.id = swipe.message
                 WHERE swipe.id = ?1",
            )?
            .query_row([Col(swipe)], |row| Ok((row.get::<_, Col<ChatId>>(0)?.0, row.get(1)?)))
            .optional()?;
        let Some((chat, position)) = place else { return Ok(None) };
        Ok(self.past(chat, position, 1)?.pop())
    }

    /// At most `limit` of a chat before the message at `before` (exclusive), the newest first: those of the swipes that
    /// are shown.
    pub fn past(&self, chat: ChatId, before: i64, limit: u32) -> Result<Vec<StoredManifest>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT message.id AS message, swipe.id AS swipe, swipe.text, swipe.model, swipe.created,
                     manifest.json, manifest.figures
                 FROM message
                 JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 JOIN manifest ON manifest.swipe = swipe.id
                 WHERE message.chat = ?1 AND message.position < ?2 AND message.deleted IS NULL AND manifest.json <> ''
                 ORDER BY message.position DESC LIMIT ?3",
            )?
            .query_map(params![Col(chat), before, limit], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The figures of those `swipes` that have them.
    pub fn figures(&self, swipes: &[SwipeId]) -> Result<HashMap<SwipeId, String>, StoreError> {
        let mut statement = self.conn.prepare_cached("SELECT figures FROM manifest WHERE swipe = ?1")?;
        let mut found = HashMap::new();
        for swipe in swipes {
            let figures = statement.query_row([Col(*swipe)], |row| row.get(0)).optional()?;
            found.extend(figures.map(|figures| (*swipe, figures)));
        }
        Ok(found)
    }
}

pub struct ManifestsMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl ManifestsMut<'_> {
    /// A reply that is continued gets the manifest of its last request.
    pub fn insert(&mut self, swipe: SwipeId, json: &str, figures: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO manifest (swipe, json, figures) VALUES (?1, ?2, ?3)
                 ON CONFLICT (swipe) DO UPDATE SET json = excluded.json, figures = excluded.figures",
            )?
            .execute(params![Col(swipe), json, figures])?;
        Ok(())
    }

    /// Empties the manifests that may quote messages deleted at or before `before`: all of their chats, and those of the same
    /// character's chats that quote anything. Figures stay.
    pub(crate) fn forget(&mut self, before: Timestamp) -> Result<(), StoreError> {
        self.conn.execute(
            "UPDATE manifest SET json = '' WHERE swipe IN (
                 SELECT swipe.id FROM swipe JOIN message ON message.id = swipe.message
                 WHERE message.chat IN (SELECT chat FROM message WHERE deleted <= ?1))",
            [Col(before)],
        )?;
        // Chats of one character know each other. Which quotes which is in their manifests alone.
        self.conn.execute(
            "UPDATE manifest SET json = '' WHERE instr(json, '\"excerpt\"') AND swipe IN (
                 SELECT swipe.id FROM swipe JOIN message ON message.id = swipe.message
                 JOIN chat ON chat.id = message.chat
                 WHERE chat.character IN (
                     SELECT gone.character FROM chat AS gone
                     WHERE gone.deleted <= ?1 OR gone.id IN (SELECT chat FROM message WHERE deleted <= ?1)))",
            [Col(before)],
        )?;
        Ok(())
    }

    /// Empties the manifests of the chats that have one which quotes the memory or the document. Figures stay.
    pub(crate) fn forget_quotes(&mut self, quoted: Uuid) -> Result<(), StoreError> {
        self.conn.execute(
            "UPDATE manifest SET json = '' WHERE swipe IN (
                 SELECT swipe.id FROM swipe JOIN message ON message.id = swipe.message
                 WHERE message.chat IN (
                     SELECT message.chat FROM manifest JOIN swipe ON swipe.id = manifest.swipe
                     JOIN message ON message.id = swipe.message WHERE instr(manifest.json, ?1)))",
            [quoted.to_string()],
        )?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredManifest> {
    Ok(StoredManifest {
        message: row.get::<_, Col<_>>("message")?.0,
        swipe: row.get::<_, Col<_>>("swipe")?.0,
        text: row.get("text")?,
        model: row.get("model")?,
        created: row.get::<_, Col<_>>("created")?.0,
        json: row.get("json")?,
        figures: row.get("figures")?,
    })
}
