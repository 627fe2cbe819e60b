//! Messages that stay visible in their chat but are excluded from recall. The column `untold` marks
//! their versions, and the table `message_text` omits them, so that nothing is learned from them.

use domain::{MemoryId, MessageId};
use rusqlite::params;

use crate::StoreError;
use crate::access::MessagesMut;
use crate::sql::Col;

/// Lowest importance, so that the message is not kept as an excerpt.
const UNIMPORTANT: u8 = 1;

impl MessagesMut<'_> {
    /// Excludes the visible text of a message from recall, and sets its importance to the lowest.
    /// The exclusion belongs to the swipe: it stays while another swipe is selected. An edit or
    /// [`Self::include`] ends it.
    pub fn exclude(&mut self, id: MessageId) -> Result<(), StoreError> {
        let untold = "UPDATE swipe SET untold = 1
             WHERE message = ?1 AND position = (SELECT selected FROM message WHERE id = ?1)";
        self.conn.prepare_cached(untold)?.execute([Col(id)])?;
        self.conn
            .prepare_cached("DELETE FROM message_text WHERE message = ?1")?
            .execute([Col(id)])?;
        let judge = "UPDATE message SET importance = ?2 WHERE id = ?1";
        self.conn
            .prepare_cached(judge)?
            .execute(params![Col(id), UNIMPORTANT])?;
        Ok(())
    }

    /// Reverts [`Self::exclude`] for swipes without any forgotten memory.
    pub fn include(&mut self, id: MessageId) -> Result<(), StoreError> {
        let untold = "UPDATE swipe SET untold = 0
             WHERE message = ?1 AND untold = 1 AND id NOT IN (SELECT swipe FROM forgotten)";
        if self.conn.prepare_cached(untold)?.execute([Col(id)])? == 0 {
            return Ok(());
        }
        self.conn
            .prepare_cached("DELETE FROM message_text WHERE message = ?1")?
            .execute([Col(id)])?;
        let shown = "INSERT INTO message_text (message, chat, position, text)
             SELECT message, chat, position, text FROM message_shown WHERE message = ?1";
        self.conn.prepare_cached(shown)?.execute([Col(id)])?;
        self.conn
            .prepare_cached("UPDATE message SET importance = NULL WHERE id = ?1")?
            .execute([Col(id)])?;
        Ok(())
    }

    /// Excludes the source texts of a forgotten memory from recall. The record for
    /// [`Self::include`] outlives the memory.
    pub fn exclude_sources_of(&mut self, memory: MemoryId) -> Result<(), StoreError> {
        let words = "INSERT OR IGNORE INTO forgotten (memory, swipe)
             SELECT memory.id, made.swipe FROM memory
             JOIN (SELECT memory, swipe FROM memory_source UNION ALL SELECT memory, swipe FROM outlived) AS made
                 ON made.memory = memory.number
             WHERE memory.id = ?1 AND memory.origin <> 'keyframe'";
        self.conn.prepare_cached(words)?.execute([Col(memory)])?;
        // Includes swipes that are not selected at the moment.
        let untold = "UPDATE swipe SET untold = 1 WHERE id IN (SELECT swipe FROM forgotten WHERE memory = ?1)";
        self.conn.prepare_cached(untold)?.execute([Col(memory)])?;
        Ok(())
    }

    /// Excludes the visible text of a message permanently. For messages that ask to forget
    /// `memory`.
    pub fn exclude_chat_for_good(
        &mut self,
        message: MessageId,
        memory: MemoryId,
    ) -> Result<(), StoreError> {
        let shown = "INSERT OR IGNORE INTO forgotten (memory, swipe)
             SELECT ?2, swipe.id FROM swipe JOIN message ON message.id = swipe.message
             WHERE message.id = ?1 AND swipe.position = message.selected";
        self.conn
            .prepare_cached(shown)?
            .execute(params![Col(message), Col(memory)])?;
        self.exclude(message)
    }

    /// Reverts [`Self::exclude_sources_of`], but not [`Self::exclude_chat_for_good`].
    pub fn include_sources_of(&mut self, memory: MemoryId) -> Result<(), StoreError> {
        let words =
            "DELETE FROM forgotten WHERE memory = ?1 AND swipe IN (
                 SELECT made.swipe FROM (SELECT memory, swipe FROM memory_source UNION ALL SELECT memory, swipe FROM outlived)
                 AS made JOIN memory ON memory.number = made.memory WHERE memory.id = ?1)";
        self.conn.prepare_cached(words)?.execute([Col(memory)])?;
        Ok(())
    }
}
