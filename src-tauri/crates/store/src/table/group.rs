//! Group scenes: the additional characters of a chat, and the speakers of its messages.

use std::collections::HashMap;

use domain::chat::Speaker;
use domain::{CharacterId, ChatId, MessageId};
use rusqlite::{Connection, Row, params};

use crate::StoreError;
use crate::sql::Col;

pub struct Groups<'a> {
    pub(crate) conn: &'a Connection,
}

impl Groups<'_> {
    /// Members in turn order, without deleted characters.
    pub fn members(&self, chat: ChatId) -> Result<Vec<CharacterId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT chat_member.character FROM chat_member JOIN character ON character.id = chat_member.character
                 WHERE chat_member.chat = ?1 AND character.deleted IS NULL ORDER BY chat_member.position",
            )?
            .query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Speakers of the messages that the chat's own character did not write.
    pub fn speakers(&self, chat: ChatId) -> Result<HashMap<MessageId, Speaker>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT message, character, name FROM message_speaker WHERE chat = ?1")?
            .query_map([Col(chat)], speaker_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

pub struct GroupsMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl GroupsMut<'_> {
    /// Replaces the members, in this order. Each may occur only once.
    pub fn set_members(&mut self, chat: ChatId, members: &[CharacterId]) -> Result<(), StoreError> {
        self.conn.prepare_cached("DELETE FROM chat_member WHERE chat = ?1")?.execute([Col(chat)])?;
        let mut statement =
            self.conn.prepare_cached("INSERT INTO chat_member (chat, character, position) VALUES (?1, ?2, ?3)")?;
        for (position, member) in (0_i64..).zip(members) {
            statement.execute(params![Col(chat), Col(*member), position])?;
        }
        Ok(())
    }

    pub fn set_speaker(&mut self, message: MessageId, speaker: &Speaker) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO message_speaker (message, chat, character, name)
                 VALUES (?1, (SELECT chat FROM message WHERE id = ?1), ?2, ?3)
                 ON CONFLICT (message) DO UPDATE SET character = excluded.character, name = excluded.name",
            )?
            .execute(params![Col(message), speaker.character.map(Col), speaker.name])?;
        Ok(())
    }
}

fn speaker_from_row(row: &Row<'_>) -> rusqlite::Result<(MessageId, Speaker)> {
    let character = row.get::<_, Option<Col<_>>>(1)?.map(|Col(id)| id);
    Ok((row.get::<_, Col<_>>(0)?.0, Speaker { character, name: row.get(2)? }))
}
