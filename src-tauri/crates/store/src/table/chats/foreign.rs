//! Data of other apps for chats, messages and swipes that this app does not use. It is JSON, and
//! exports write it back.

use std::collections::HashMap;
use std::hash::Hash;

use domain::{ChatId, MessageId, SwipeId};
use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{ForeignData, ForeignDataMut};
use crate::sql::{Col, one};

/// Data of another app for a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignChat {
    /// The user's name in the other app. It applies while the chat has no persona.
    pub user_name: String,
    pub json: String,
}

impl ForeignData<'_> {
    /// `None` for a chat that was not imported.
    pub fn chat(&self, chat: ChatId) -> Result<Option<ForeignChat>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT user_name, json FROM foreign_chat WHERE chat = ?1")?
            .query_row([Col(chat)], |row| {
                Ok(ForeignChat {
                    user_name: row.get(0)?,
                    json: row.get(1)?,
                })
            })
            .optional()?;
        Ok(row)
    }

    /// Whether the user decided to keep the user's name of an imported chat.
    pub fn is_name_settled(&self, chat: ChatId) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM foreign_chat WHERE chat = ?1 AND name_settled)";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .query_row([Col(chat)], |row| row.get(0))?)
    }

    /// The data of the messages of a chat.
    pub fn messages(&self, chat: ChatId) -> Result<HashMap<MessageId, String>, StoreError> {
        self.all(
            chat,
            "SELECT foreign_message.message, foreign_message.json
             FROM message JOIN foreign_message ON foreign_message.message = message.id WHERE message.chat = ?1",
        )
    }

    /// The data of the swipes of a chat.
    pub fn swipes(&self, chat: ChatId) -> Result<HashMap<SwipeId, String>, StoreError> {
        self.all(
            chat,
            "SELECT foreign_swipe.swipe, foreign_swipe.json
             FROM message JOIN swipe ON swipe.message = message.id JOIN foreign_swipe ON foreign_swipe.swipe = swipe.id
             WHERE message.chat = ?1",
        )
    }

    fn all<Id: Eq + Hash>(&self, chat: ChatId, sql: &str) -> Result<HashMap<Id, String>, StoreError>
    where
        Col<Id>: FromSql,
    {
        let rows = self
            .conn
            .prepare_cached(sql)?
            .query_map([Col(chat)], |row| {
                Ok((row.get::<_, Col<Id>>(0)?.0, row.get(1)?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ForeignDataMut<'_> {
    /// # Errors
    /// `NotFound` for a chat that was not imported.
    pub fn settle_name(&mut self, chat: ChatId) -> Result<(), StoreError> {
        let sql = "UPDATE foreign_chat SET name_settled = 1 WHERE chat = ?1";
        one(
            self.conn.prepare_cached(sql)?.execute([Col(chat)])?,
            "imported chat",
        )
    }

    pub fn set_chat(&mut self, chat: ChatId, foreign: &ForeignChat) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO foreign_chat (chat, user_name, json) VALUES (?1, ?2, ?3)
                 ON CONFLICT (chat) DO UPDATE SET user_name = excluded.user_name, json = excluded.json",
            )?
            .execute(params![Col(chat), foreign.user_name, foreign.json])?;
        Ok(())
    }

    pub fn set_message(&mut self, message: MessageId, json: &str) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "INSERT OR REPLACE INTO foreign_message (message, json) VALUES (?1, ?2)",
            )?
            .execute(params![Col(message), json])?;
        one(rows, "message")
    }

    pub fn set_swipe(&mut self, swipe: SwipeId, json: &str) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("INSERT OR REPLACE INTO foreign_swipe (swipe, json) VALUES (?1, ?2)")?
            .execute(params![Col(swipe), json])?;
        one(rows, "swipe")
    }
}
