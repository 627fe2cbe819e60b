//! The chats that change when something is forgotten.

use domain::ChatId;
use rusqlite::{Params, params};

use super::target::ForgetTarget;
use crate::StoreError;
use crate::access::Chats;
use crate::sql::Col;

impl Chats<'_> {
    /// The chats, including deleted ones, that change or go when `target` is forgotten.
    pub fn affected_by(&self, target: ForgetTarget) -> Result<Vec<ChatId>, StoreError> {
        match target {
            ForgetTarget::Character { id, .. } => self.affected(
                "SELECT id FROM chat WHERE character = ?1
                 UNION SELECT chat FROM chat_member WHERE character = ?1
                 UNION SELECT message.chat FROM message_speaker JOIN message ON message.id = message_speaker.message
                     WHERE message_speaker.character = ?1",
                [Col(id)],
            ),
            ForgetTarget::Persona { id, by_default } => self.affected(
                "SELECT id FROM chat WHERE persona = ?1 OR (?2 AND persona IS NULL)",
                params![Col(id), by_default],
            ),
            ForgetTarget::Span { from, until } => self.affected(
                "SELECT chat FROM message WHERE created >= ?1 AND created < ?2
                 UNION SELECT message.chat FROM swipe JOIN message ON message.id = swipe.message
                     WHERE swipe.created >= ?1 AND swipe.created < ?2",
                params![Col(from), Col(until)],
            ),
        }
    }

    fn affected(&self, sql: &str, values: impl Params) -> Result<Vec<ChatId>, StoreError> {
        let chats = self
            .conn
            .prepare_cached(sql)?
            .query_map(values, |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(chats)
    }
}
