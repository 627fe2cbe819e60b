//! Visible texts of messages: the selected, complete swipes of messages that are not deleted,
//! hidden or excluded from recall. Triggers maintain the table; see the migrations.

use std::collections::{HashMap, HashSet};

use domain::chat::Role;
use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::MessageTexts;
use crate::sql::Col;

/// Identifies the state of a chat's visible texts. Equal revisions mean equal texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextRevision {
    pub texts: u32,
    /// Number of the last change; 0 if there was none.
    pub last: i64,
}

/// The visible text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleText {
    /// Number of the change that wrote it, unique in the chat.
    pub change: i64,
    pub message: MessageKey,
    pub text: String,
}

/// Identifies a message, with its author and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageKey {
    pub id: MessageId,
    pub position: i64,
    pub role: Role,
    pub created: Timestamp,
    /// The time is unknown. `created` only preserves the order.
    pub undated: bool,
}

impl MessageTexts<'_> {
    pub fn revision(&self, chat: ChatId) -> Result<TextRevision, StoreError> {
        let revision = self
            .conn
            .prepare_cached("SELECT texts, last FROM text_group WHERE chat = ?1")?
            .query_row([Col(chat)], |row| {
                Ok(TextRevision {
                    texts: row.get(0)?,
                    last: row.get(1)?,
                })
            })
            .optional()?;
        Ok(revision.unwrap_or_default())
    }

    /// Texts of a chat that changed after change `after`, sorted by position.
    pub fn changed(&self, chat: ChatId, after: i64) -> Result<Vec<VisibleText>, StoreError> {
        let texts = self
            .conn
            .prepare_cached(
                "SELECT text.change, message.id, message.position, message.role, message.created, text.text,
                     message.undated
                 FROM message_text AS text JOIN message ON message.id = text.message
                 WHERE text.chat = ?1 AND text.change > ?2 ORDER BY text.position",
            )?
            .query_map(params![Col(chat), after], |row| {
                let message = MessageKey {
                    id: row.get::<_, Col<_>>(1)?.0,
                    position: row.get(2)?,
                    role: row.get::<_, Col<_>>(3)?.0,
                    created: row.get::<_, Col<_>>(4)?.0,
                    undated: row.get(6)?,
                };
                Ok(VisibleText { change: row.get(0)?, message, text: row.get(5)? })
            })?
            .collect::<Result<_, _>>()?;
        Ok(texts)
    }

    /// Texts at `positions` of a chat. Positions without a text are missing.
    pub fn at(
        &self,
        chat: ChatId,
        positions: impl IntoIterator<Item = i64>,
    ) -> Result<HashMap<i64, String>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT text FROM message_text WHERE chat = ?1 AND position = ?2")?;
        let mut texts = HashMap::new();
        for position in positions {
            let text = statement
                .query_row(params![Col(chat), position], |row| row.get(0))
                .optional()?;
            texts.extend(text.map(|text| (position, text)));
        }
        Ok(texts)
    }

    /// Change numbers of all texts of a chat.
    pub fn changes(&self, chat: ChatId) -> Result<HashSet<i64>, StoreError> {
        let changes = self
            .conn
            .prepare_cached("SELECT change FROM message_text WHERE chat = ?1")?
            .query_map([Col(chat)], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(changes)
    }
}
