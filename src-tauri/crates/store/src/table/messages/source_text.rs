//! Visible texts of messages for summaries and fact extraction, without texts that are excluded
//! from recall.

use domain::chat::Role;
use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{MessageTexts, MessagesMut};
use crate::sql::Col;

/// The text of a message at the time it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Row number of the text.
    pub number: i64,
    pub message: MessageId,
    pub position: i64,
    pub role: Role,
    pub created: Timestamp,
    pub text: String,
    /// Context block that was sent in front of it.
    pub context_block: Option<String>,
    /// A keyframe covers it.
    pub covered: bool,
}

const TOLD: &str =
    "SELECT message_text.number, message_text.message, message_text.position, message.role,
        message.created, message_text.text, message.context_block,
        EXISTS (SELECT 1 FROM keyframe_source WHERE keyframe_source.text = message_text.number)
    FROM message_text JOIN message ON message.id = message_text.message
    WHERE message_text.chat = ?1 AND message_text.position BETWEEN ?2 AND ?3";

impl MessageTexts<'_> {
    /// The newest `limit` texts of a chat after `position`, oldest first.
    pub fn texts_after(
        &self,
        chat: ChatId,
        position: i64,
        limit: u32,
    ) -> Result<Vec<SourceText>, StoreError> {
        let mut told: Vec<SourceText> = self
            .conn
            .prepare_cached(&format!(
                "{TOLD} ORDER BY message_text.position DESC LIMIT ?4"
            ))?
            .query_map(
                params![Col(chat), position.saturating_add(1), i64::MAX, limit],
                from_row,
            )?
            .collect::<Result<_, _>>()?;
        told.reverse();
        Ok(told)
    }

    /// Texts of a chat from position `first` to `last`, both inclusive, oldest first.
    pub fn texts_between(
        &self,
        chat: ChatId,
        first: i64,
        last: i64,
    ) -> Result<Vec<SourceText>, StoreError> {
        let told = self
            .conn
            .prepare_cached(&format!("{TOLD} ORDER BY message_text.position"))?
            .query_map(params![Col(chat), first, last], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(told)
    }

    /// Position of the last message that fact extraction has processed; -1 if there is none.
    pub fn extracted_up_to(&self, chat: ChatId) -> Result<i64, StoreError> {
        let learned = self
            .conn
            .prepare_cached("SELECT position FROM chat_learned WHERE chat = ?1")?
            .query_row([Col(chat)], |row| row.get(0))
            .optional()?;
        Ok(learned.unwrap_or(-1))
    }

    /// The first message of a chat that is queued for a repeated fact extraction, and its position.
    pub fn next_reextraction(&self, chat: ChatId) -> Result<Option<(MessageId, i64)>, StoreError> {
        let first = self
            .conn
            .prepare_cached(
                "SELECT message_text.message, message_text.position
                 FROM learn_anew JOIN message_text ON message_text.message = learn_anew.message
                 WHERE message_text.chat = ?1 ORDER BY message_text.position LIMIT 1",
            )?
            .query_row([Col(chat)], |row| {
                Ok((row.get::<_, Col<_>>(0)?.0, row.get(1)?))
            })
            .optional()?;
        Ok(first)
    }

    /// Whether all texts are unchanged.
    pub fn all_unchanged(&self, told: &[SourceText]) -> Result<bool, StoreError> {
        let mut same = self.conn.prepare_cached(
            "SELECT 1 FROM message_text WHERE number = ?1 AND message = ?2 AND text = ?3",
        )?;
        for text in told {
            if !same.exists(params![text.number, Col(text.message), text.text])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl MessagesMut<'_> {
    /// Records that fact extraction has processed messages up to `position`.
    pub fn extracted_up_to(&mut self, chat: ChatId, position: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO chat_learned (chat, position) VALUES (?1, ?2)
                 ON CONFLICT (chat) DO UPDATE SET position = excluded.position",
            )?
            .execute(params![Col(chat), position])?;
        Ok(())
    }

    /// Restarts fact extraction at a message, if it has already processed that message and at most
    /// `lately` positions more.
    pub fn restart_extraction_from(
        &mut self,
        message: MessageId,
        lately: u32,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE chat_learned SET position = message.position - 1 FROM message
                 WHERE message.id = ?1 AND chat_learned.chat = message.chat
                     AND chat_learned.position BETWEEN message.position AND message.position + ?2",
            )?
            .execute(params![Col(message), lately])?;
        self.conn
            .prepare_cached(
                "DELETE FROM learn_anew WHERE message IN (
                     SELECT again.id FROM message JOIN chat_learned ON chat_learned.chat = message.chat
                     JOIN message AS again ON again.chat = message.chat AND again.position > chat_learned.position
                     WHERE message.id = ?1)",
            )?
            .execute([Col(message)])?;
        Ok(())
    }

    /// Queues a message for a repeated fact extraction, if facts were extracted from it and it
    /// would not be processed anyway.
    pub fn queue_reextraction(&mut self, message: MessageId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT OR IGNORE INTO learn_anew (message)
                 SELECT message.id FROM message JOIN chat_learned ON chat_learned.chat = message.chat
                 WHERE message.id = ?1 AND chat_learned.position >= message.position AND EXISTS (
                     SELECT 1 FROM memory_source JOIN memory ON memory.number = memory_source.memory
                     WHERE memory_source.message = ?1 AND memory.origin NOT IN ('rule', 'keyframe'))",
            )?
            .execute([Col(message)])?;
        Ok(())
    }

    /// Removes a message from the queue for repeated fact extraction.
    pub fn finish_reextraction(&mut self, message: MessageId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM learn_anew WHERE message = ?1")?
            .execute([Col(message)])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SourceText> {
    Ok(SourceText {
        number: row.get(0)?,
        message: row.get::<_, Col<_>>(1)?.0,
        position: row.get(2)?,
        role: row.get::<_, Col<_>>(3)?.0,
        created: row.get::<_, Col<_>>(4)?.0,
        text: row.get(5)?,
        context_block: row.get(6)?,
        covered: row.get(7)?,
    })
}
