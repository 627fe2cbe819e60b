//! Changes of several messages of a chat: order, and the flag that hides them from the model.

use domain::{ChatId, MessageId};
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{Messages, MessagesMut};
use crate::sql::{Col, one};

impl Messages<'_> {
    /// The message that follows `id` in its chat.
    pub fn after(&self, id: MessageId) -> Result<Option<MessageId>, StoreError> {
        let next = self
            .conn
            .prepare_cached(
                "SELECT later.id FROM message AS this
                 JOIN message AS later ON later.chat = this.chat AND later.position > this.position
                 WHERE this.id = ?1 AND later.deleted IS NULL ORDER BY later.position LIMIT 1",
            )?
            .query_row([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?;
        Ok(next)
    }

    /// The messages of a chat between two positions, both included, in order.
    pub fn between(
        &self,
        chat: ChatId,
        first: i64,
        last: i64,
    ) -> Result<Vec<MessageId>, StoreError> {
        let ids = self
            .conn
            .prepare_cached(
                "SELECT id FROM message WHERE chat = ?1 AND deleted IS NULL AND position BETWEEN ?2 AND ?3
                 ORDER BY position",
            )?
            .query_map(params![Col(chat), first, last], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }
}

impl MessagesMut<'_> {
    /// Exchanges the positions of two messages of a chat.
    pub fn exchange(&mut self, first: MessageId, second: MessageId) -> Result<(), StoreError> {
        let mut found = self
            .conn
            .prepare_cached("SELECT position FROM message WHERE id = ?1")?;
        let mut position = |id| found.query_row([Col(id)], |row| row.get::<_, i64>(0));
        let from = position(first)?;
        let to = position(second)?;
        // Positions in a chat are unique, so one of them leaves its place first.
        self.place(first, -1 - from.max(to))?;
        self.place(second, from)?;
        self.place(first, to)
    }

    /// Hides messages from the model, or shows them again. Returns those that were different
    /// before.
    pub fn hide_all(
        &mut self,
        ids: &[MessageId],
        hidden: bool,
    ) -> Result<Vec<MessageId>, StoreError> {
        let mut hide = self.conn.prepare_cached(
            "UPDATE message SET hidden = ?2 WHERE id = ?1 AND hidden <> ?2 AND deleted IS NULL",
        )?;
        let mut changed = Vec::new();
        for id in ids {
            if hide.execute(params![Col(*id), hidden])? > 0 {
                changed.push(*id);
            }
        }
        Ok(changed)
    }

    /// Setting `hidden` writes the row of the search index again, with the new position.
    fn place(&self, id: MessageId, position: i64) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET position = ?2, hidden = hidden WHERE id = ?1")?
            .execute(params![Col(id), position])?;
        one(rows, "message")
    }
}
