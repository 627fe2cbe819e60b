//! The chat of each character that clients of the local API continue when they name only the
//! character.

use domain::{CharacterId, ChatId};
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{ApiChats, ApiChatsMut};
use crate::sql::Col;
use crate::visibility::HIDDEN_CHATS;

impl ApiChats<'_> {
    /// `None` if the character has no such chat, or if it is deleted or hidden.
    pub fn of(&self, character: CharacterId) -> Result<Option<ChatId>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT api_chat.chat FROM api_chat JOIN chat ON chat.id = api_chat.chat
                 WHERE api_chat.character = ?1 AND chat.deleted IS NULL AND chat.id NOT IN ({HIDDEN_CHATS})"
            ))?
            .query_row([Col(character)], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(row)
    }
}

impl ApiChatsMut<'_> {
    /// # Errors
    /// `Conflict` if the character or the chat does not exist.
    pub fn set(&mut self, character: CharacterId, chat: ChatId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO api_chat (character, chat) VALUES (?1, ?2)
                 ON CONFLICT (character) DO UPDATE SET chat = excluded.chat",
            )?
            .execute(params![Col(character), Col(chat)])?;
        Ok(())
    }
}
