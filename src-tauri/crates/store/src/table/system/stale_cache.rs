//! Chats whose saved KV caches may contain text that was retracted or removed. The transaction that
//! removes the text also marks the chat, so that a crash cannot leave stale cache files behind.

use domain::{CharacterId, ChatId, MessageId};

use crate::StoreError;
use crate::access::{StaleCaches, StaleCachesMut};
use crate::sql::Col;

/// The marked chats at one point in time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StaleChats {
    pub chats: Vec<ChatId>,
    last: i64,
}

impl StaleCaches<'_> {
    pub fn all(&self) -> Result<StaleChats, StoreError> {
        let mut found = self
            .conn
            .prepare_cached("SELECT chat, number FROM stale_cache ORDER BY number")?;
        let mut stale = StaleChats::default();
        for row in found.query_map([], |row| Ok((row.get::<_, Col<_>>(0)?.0, row.get(1)?)))? {
            let (chat, number) = row?;
            stale.chats.push(chat);
            stale.last = number;
        }
        Ok(stale)
    }
}

impl StaleCachesMut<'_> {
    pub fn mark(&mut self, chat: ChatId) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO stale_cache (chat) VALUES (?1)";
        self.conn.prepare_cached(sql)?.execute([Col(chat)])?;
        Ok(())
    }

    /// Marks the chat of a message.
    pub fn mark_chat_of(&mut self, message: MessageId) -> Result<(), StoreError> {
        let sql =
            "INSERT OR REPLACE INTO stale_cache (chat) SELECT chat FROM message WHERE id = ?1";
        self.conn.prepare_cached(sql)?.execute([Col(message)])?;
        Ok(())
    }

    /// Marks all chats in which a character takes part.
    pub fn mark_all_with(&mut self, character: CharacterId) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO stale_cache (chat)
             SELECT id FROM chat WHERE character = ?1 UNION SELECT chat FROM chat_member WHERE character = ?1";
        self.conn.prepare_cached(sql)?.execute([Col(character)])?;
        Ok(())
    }

    /// Unmarks chats after their cache files were deleted. Chats that were marked later stay.
    pub fn unmark(&mut self, stale: &StaleChats) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM stale_cache WHERE number <= ?1")?
            .execute([stale.last])?;
        Ok(())
    }
}
