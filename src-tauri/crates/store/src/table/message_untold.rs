//! Messages that stay in their chat, and that nothing tells again.

use domain::MessageId;
use rusqlite::params;

use crate::StoreError;
use crate::sql::Col;
use crate::table::message::MessagesMut;

/// Nothing is kept for it.
const UNIMPORTANT: u8 = 1;

impl MessagesMut<'_> {
    /// Leaves a message out of every search, until other words are shown of it or [`Self::tell_again`]; for its importance
    /// nothing keeps it either.
    pub fn tell_no_more(&mut self, id: MessageId) -> Result<(), StoreError> {
        self.conn.prepare_cached("DELETE FROM message_text WHERE message = ?1")?.execute([Col(id)])?;
        let judge = "UPDATE message SET importance = ?2 WHERE id = ?1";
        self.conn.prepare_cached(judge)?.execute(params![Col(id), UNIMPORTANT])?;
        Ok(())
    }

    pub fn tell_again(&mut self, id: MessageId) -> Result<(), StoreError> {
        self.conn.prepare_cached("DELETE FROM message_text WHERE message = ?1")?.execute([Col(id)])?;
        let shown = "INSERT INTO message_text (message, chat, position, text)
             SELECT message, chat, position, text FROM message_shown WHERE message = ?1";
        self.conn.prepare_cached(shown)?.execute([Col(id)])?;
        self.conn.prepare_cached("UPDATE message SET importance = NULL WHERE id = ?1")?.execute([Col(id)])?;
        Ok(())
    }
}
