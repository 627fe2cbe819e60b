//! Texts of a chat for those who make something of them: as they are shown, and only what may be told.

use domain::chat::Role;
use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::sql::Col;
use crate::table::message::MessagesMut;
use crate::table::message_text::MessageTexts;

/// What a message says, as nothing has changed it since it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Of the row that holds the text.
    pub number: i64,
    pub message: MessageId,
    pub position: i64,
    pub role: Role,
    pub created: Timestamp,
    pub text: String,
    /// What was sent in front of it.
    pub context_block: Option<String>,
    /// A keyframe tells of it.
    pub covered: bool,
}

const TOLD: &str = "SELECT message_text.number, message_text.message, message_text.position, message.role,
        message.created, message_text.text, message.context_block,
        EXISTS (SELECT 1 FROM keyframe_source WHERE keyframe_source.text = message_text.number)
    FROM message_text JOIN message ON message.id = message_text.message
    WHERE message_text.chat = ?1 AND message_text.position BETWEEN ?2 AND ?3";

impl MessageTexts<'_> {
    /// The newest of a chat behind `position`, at most `limit` of them, oldest first.
    pub fn told_after(&self, chat: ChatId, position: i64, limit: u32) -> Result<Vec<Told>, StoreError> {
        let mut told: Vec<Told> = self
            .conn
            .prepare_cached(&format!("{TOLD} ORDER BY message_text.position DESC LIMIT ?4"))?
            .query_map(params![Col(chat), position.saturating_add(1), i64::MAX, limit], from_row)?
            .collect::<Result<_, _>>()?;
        told.reverse();
        Ok(told)
    }

    /// Those of a chat between two positions, both in it, oldest first.
    pub fn told_between(&self, chat: ChatId, first: i64, last: i64) -> Result<Vec<Told>, StoreError> {
        let told = self
            .conn
            .prepare_cached(&format!("{TOLD} ORDER BY message_text.position"))?
            .query_map(params![Col(chat), first, last], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(told)
    }

    /// The position of the last message that facts were looked for in; -1 if none was.
    pub fn learned_to(&self, chat: ChatId) -> Result<i64, StoreError> {
        let learned = self
            .conn
            .prepare_cached("SELECT position FROM chat_learned WHERE chat = ?1")?
            .query_row([Col(chat)], |row| row.get(0))
            .optional()?;
        Ok(learned.unwrap_or(-1))
    }

    /// The first message of a chat in which facts are to be looked for once more, and its position.
    pub fn to_learn_anew(&self, chat: ChatId) -> Result<Option<(MessageId, i64)>, StoreError> {
        let first = self
            .conn
            .prepare_cached(
                "SELECT message_text.message, message_text.position
                 FROM learn_anew JOIN message_text ON message_text.message = learn_anew.message
                 WHERE message_text.chat = ?1 ORDER BY message_text.position LIMIT 1",
            )?
            .query_row([Col(chat)], |row| Ok((row.get::<_, Col<_>>(0)?.0, row.get(1)?)))
            .optional()?;
        Ok(first)
    }

    /// All of them say what they said.
    pub fn still_say(&self, told: &[Told]) -> Result<bool, StoreError> {
        let mut same =
            self.conn.prepare_cached("SELECT 1 FROM message_text WHERE number = ?1 AND message = ?2 AND text = ?3")?;
        for text in told {
            if !same.exists(params![text.number, Col(text.message), text.text])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl MessagesMut<'_> {
    /// Facts were looked for up to the message at `position`.
    pub fn learned_to(&mut self, chat: ChatId, position: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO chat_learned (chat, position) VALUES (?1, ?2)
                 ON CONFLICT (chat) DO UPDATE SET position = excluded.position",
            )?
            .execute(params![Col(chat), position])?;
        Ok(())
    }

    /// Facts are looked for from a message on once more, where they were up to it or to one of the `lately` positions behind it.
    pub fn learn_again_from(&mut self, message: MessageId, lately: u32) -> Result<(), StoreError> {
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

    /// Facts are looked for in a message once more, if any were learned from it and it is not to be read anyway.
    pub fn learn_anew(&mut self, message: MessageId) -> Result<(), StoreError> {
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

    /// Facts were looked for in a message once more.
    pub fn learned_anew(&mut self, message: MessageId) -> Result<(), StoreError> {
        self.conn.prepare_cached("DELETE FROM learn_anew WHERE message = ?1")?.execute([Col(message)])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Told> {
    Ok(Told {
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
