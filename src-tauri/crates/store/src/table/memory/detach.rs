//! Memories that are kept when their chat is deleted. Summaries are not kept, because they retell
//! the chat.

use domain::ChatId;
use rusqlite::params;

use super::row::{ACTIVE, VALID};
use crate::StoreError;
use crate::access::{Memories, MemoriesMut};
use crate::sql::Col;

/// SQL condition: made from messages of the chat `?1`, and not limited to it.
const LEARNED: &str = "memory.origin <> 'keyframe' AND memory.scope <> 'chat' AND EXISTS (
    SELECT 1 FROM memory_source JOIN message ON message.id = memory_source.message
    WHERE memory_source.memory = memory.number AND message.chat = ?1)";

impl Memories<'_> {
    /// Number of active memories that could be kept when the chat is deleted.
    pub fn count_detachable(&self, chat: ChatId) -> Result<u32, StoreError> {
        let sql = format!("SELECT count(*) FROM memory WHERE {LEARNED} AND {ACTIVE}");
        Ok(self
            .conn
            .prepare_cached(&sql)?
            .query_row([Col(chat)], |row| row.get(0))?)
    }
}

impl MemoriesMut<'_> {
    /// Detaches the memories of a chat from their source messages, before these are deleted.
    pub fn detach_from_chat(&mut self, chat: ChatId) -> Result<(), StoreError> {
        self.conn.execute(
            &format!(
                "INSERT OR IGNORE INTO outlived (memory, message, swipe)
                 SELECT memory_source.memory, memory_source.message, memory_source.swipe
                 FROM memory_source JOIN message ON message.id = memory_source.message
                 WHERE message.chat = ?1
                     AND memory_source.memory IN (SELECT memory.number FROM memory WHERE {LEARNED} AND {VALID})"
            ),
            [Col(chat)],
        )?;
        self.conn.execute(
            "DELETE FROM memory_source WHERE (memory, message) IN (SELECT memory, message FROM outlived)
                 AND message IN (SELECT id FROM message WHERE chat = ?1)",
            [Col(chat)],
        )?;
        Ok(())
    }

    /// Reverts [`Self::detach_from_chat`].
    pub fn reattach_to_chat(&mut self, chat: ChatId) -> Result<(), StoreError> {
        for sql in [
            "INSERT OR IGNORE INTO memory_source (memory, message, swipe)
                 SELECT memory, message, swipe FROM outlived WHERE message IN (SELECT id FROM message WHERE chat = ?1)",
            "DELETE FROM outlived WHERE message IN (SELECT id FROM message WHERE chat = ?1)",
        ] {
            self.conn.execute(sql, params![Col(chat)])?;
        }
        Ok(())
    }
}
