//! Messages that stay in their chat, and that nothing tells again.

use domain::{MemoryId, MessageId};
use rusqlite::params;

use crate::StoreError;
use crate::sql::Col;
use crate::table::message::MessagesMut;

/// Nothing is kept for it.
const UNIMPORTANT: u8 = 1;

impl MessagesMut<'_> {
    /// Leaves what a message shows out of every search, until it is edited or [`Self::tell_again`], also where it is hidden
    /// meanwhile behind another swipe; for its importance nothing keeps it either.
    pub fn tell_no_more(&mut self, id: MessageId) -> Result<(), StoreError> {
        let untold = "UPDATE swipe SET untold = 1
             WHERE message = ?1 AND position = (SELECT selected FROM message WHERE id = ?1)";
        self.conn.prepare_cached(untold)?.execute([Col(id)])?;
        self.conn.prepare_cached("DELETE FROM message_text WHERE message = ?1")?.execute([Col(id)])?;
        let judge = "UPDATE message SET importance = ?2 WHERE id = ?1";
        self.conn.prepare_cached(judge)?.execute(params![Col(id), UNIMPORTANT])?;
        Ok(())
    }

    /// Undoes [`Self::tell_no_more`] for the words of which no memory is forgotten still.
    pub fn tell_again(&mut self, id: MessageId) -> Result<(), StoreError> {
        let untold = "UPDATE swipe SET untold = 0
             WHERE message = ?1 AND untold = 1 AND id NOT IN (SELECT swipe FROM forgotten)";
        if self.conn.prepare_cached(untold)?.execute([Col(id)])? == 0 {
            return Ok(());
        }
        self.conn.prepare_cached("DELETE FROM message_text WHERE message = ?1")?.execute([Col(id)])?;
        let shown = "INSERT INTO message_text (message, chat, position, text)
             SELECT message, chat, position, text FROM message_shown WHERE message = ?1";
        self.conn.prepare_cached(shown)?.execute([Col(id)])?;
        self.conn.prepare_cached("UPDATE message SET importance = NULL WHERE id = ?1")?.execute([Col(id)])?;
        Ok(())
    }

    /// Notes that the words a memory was made from are forgotten with it, for [`Self::tell_again`]; whatever becomes of the memory.
    pub fn forget_words_of(&mut self, memory: MemoryId) -> Result<(), StoreError> {
        let words = "INSERT OR IGNORE INTO forgotten (memory, swipe)
             SELECT memory.id, made.swipe FROM memory
             JOIN (SELECT memory, swipe FROM memory_source UNION ALL SELECT memory, swipe FROM outlived) AS made
                 ON made.memory = memory.number
             WHERE memory.id = ?1 AND memory.origin <> 'keyframe'";
        self.conn.prepare_cached(words)?.execute([Col(memory)])?;
        // They may be hidden just now, behind another swipe.
        let untold = "UPDATE swipe SET untold = 1 WHERE id IN (SELECT swipe FROM forgotten WHERE memory = ?1)";
        self.conn.prepare_cached(untold)?.execute([Col(memory)])?;
        Ok(())
    }

    /// [`Self::tell_no_more`], and notes that it is so for good, whatever becomes of `memory`: what the message shows is that it be
    /// forgotten.
    pub fn forget_words_in(&mut self, message: MessageId, memory: MemoryId) -> Result<(), StoreError> {
        let shown = "INSERT OR IGNORE INTO forgotten (memory, swipe)
             SELECT ?2, swipe.id FROM swipe JOIN message ON message.id = swipe.message
             WHERE message.id = ?1 AND swipe.position = message.selected";
        self.conn.prepare_cached(shown)?.execute(params![Col(message), Col(memory)])?;
        self.tell_no_more(message)
    }

    /// Undoes [`Self::forget_words_of`]; what [`Self::forget_words_in`] noted stays.
    pub fn remember_words_of(&mut self, memory: MemoryId) -> Result<(), StoreError> {
        let words =
            "DELETE FROM forgotten WHERE memory = ?1 AND swipe IN (
                 SELECT made.swipe FROM (SELECT memory, swipe FROM memory_source UNION ALL SELECT memory, swipe FROM outlived)
                 AS made JOIN memory ON memory.number = made.memory WHERE memory.id = ?1)";
        self.conn.prepare_cached(words)?.execute([Col(memory)])?;
        Ok(())
    }
}
