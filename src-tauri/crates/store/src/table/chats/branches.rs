//! Branches: chats with the same beginning. Other apps store each branch as a separate file, so
//! importing them duplicates the shared messages. The rest of a branch is content that the user
//! abandoned in the other chats.

use domain::{ChatId, MessageId};
use rusqlite::params;

use crate::StoreError;
use crate::access::Chats;
use crate::sql::Col;

/// Finds chats of the same character that share a beginning with the chat `?1`. One of the first
/// user messages must have the same time and text in both; others may have been edited or deleted.
/// Deleted messages are not copied to a branch, so the position may differ, up to the limit of the
/// index (migration 28). Chats that links join to it are branches even without a common user
/// message.
pub(crate) const BRANCHES: &str = "
    WITH RECURSIVE linked (chat) AS (
        SELECT ?1
        UNION SELECT branch.origin FROM linked JOIN branch ON branch.chat = linked.chat
        UNION SELECT branch.chat FROM linked JOIN branch ON branch.origin = linked.chat),
    own AS MATERIALIZED (
        SELECT message.created, swipe.text FROM message
        JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
        WHERE message.chat = ?1 AND message.role = 'user' ORDER BY message.position LIMIT 8)
    SELECT DISTINCT message.chat FROM (SELECT DISTINCT created FROM own) AS begun
    CROSS JOIN message INDEXED BY message_beginning ON message.created = begun.created
    CROSS JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
    CROSS JOIN chat ON chat.id = message.chat
    WHERE message.role = 'user' AND message.position < 32 AND message.chat <> ?1
        AND (message.created, swipe.text) IN (SELECT created, text FROM own)
        AND chat.character = (SELECT character FROM chat WHERE id = ?1)
    UNION SELECT chat FROM linked WHERE chat <> ?1";

impl Chats<'_> {
    /// The other chats with the same beginning.
    pub fn branches(&self, chat: ChatId) -> Result<Vec<ChatId>, StoreError> {
        let mut found = self.conn.prepare_cached(BRANCHES)?;
        let chats = found.query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?;
        Ok(chats.collect::<Result<_, _>>()?)
    }

    /// Whether the message is in one of `branches` and `chat` has no copy of it near the same
    /// position.
    pub fn was_abandoned_in(
        &self,
        chat: ChatId,
        branches: &[ChatId],
        message: MessageId,
    ) -> Result<bool, StoreError> {
        let mut said = self.conn.prepare_cached(
            "SELECT message.chat, EXISTS (
                 SELECT 1 FROM message AS own
                 JOIN swipe ON swipe.message = own.id AND swipe.position = own.selected
                 WHERE own.chat = ?2 AND own.position BETWEEN message.position - 32 AND message.position + 32
                     AND own.created = message.created AND own.role = message.role AND own.deleted IS NULL
                     AND swipe.text = shown.text)
             FROM message JOIN swipe AS shown ON shown.message = message.id AND shown.position = message.selected
             WHERE message.id = ?1",
        )?;
        let mut rows = said.query(params![Col(message), Col(chat)])?;
        let Some(row) = rows.next()? else {
            return Ok(false);
        };
        let of: Col<ChatId> = row.get(0)?;
        let copied: bool = row.get(1)?;
        Ok(branches.contains(&of.0) && !copied)
    }
}
