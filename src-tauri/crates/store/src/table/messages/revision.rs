//! Revisions: the texts that swipes had before edits.

use domain::{ChatId, MessageId, SwipeId, Timestamp};
use rusqlite::{Row, params};

use crate::StoreError;
use crate::access::{Revisions, RevisionsMut};
use crate::sql::Col;

/// Maximum number of revisions of a swipe. The oldest are removed first.
const MAX_REVISIONS: u32 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    pub swipe: SwipeId,
    pub text: String,
    /// The time of the edit that replaced the text.
    pub replaced: Timestamp,
}

impl Revisions<'_> {
    /// The earlier texts of a message's selected swipe, newest first.
    pub fn of(&self, message: MessageId) -> Result<Vec<Revision>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT revision.swipe, revision.text, revision.replaced
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 JOIN revision ON revision.swipe = swipe.id
                 WHERE message.id = ?1 ORDER BY revision.number DESC",
            )?
            .query_map([Col(message)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The messages of a chat whose selected swipe was edited.
    pub fn edited(&self, chat: ChatId) -> Result<Vec<MessageId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT message.id FROM revision JOIN swipe ON swipe.id = revision.swipe
                 JOIN message ON message.id = swipe.message AND message.selected = swipe.position
                 WHERE message.chat = ?1 AND message.deleted IS NULL",
            )?
            .query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl RevisionsMut<'_> {
    /// Keeps the text of a message's selected swipe, which is about to be replaced by `next`.
    /// Nothing is kept if the text stays the same.
    pub fn keep(
        &mut self,
        message: MessageId,
        next: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let kept = self
            .conn
            .prepare_cached(
                "INSERT INTO revision (swipe, text, replaced)
                 SELECT swipe.id, swipe.text, ?3
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 WHERE message.id = ?1 AND swipe.text <> ?2",
            )?
            .execute(params![Col(message), next, Col(now)])?;
        if kept > 0 {
            self.conn
                .prepare_cached(
                    "DELETE FROM revision WHERE number IN (
                         SELECT older.number FROM message
                         JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                         JOIN revision AS older ON older.swipe = swipe.id
                         WHERE message.id = ?1 ORDER BY older.number DESC LIMIT -1 OFFSET ?2)",
                )?
                .execute(params![Col(message), MAX_REVISIONS])?;
        }
        Ok(())
    }

    /// Removes the earlier texts of all swipes of a message. The next purge erases their bytes.
    pub fn remove(&mut self, message: MessageId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT OR IGNORE INTO rewritten (id) VALUES (?1)")?
            .execute([Col(message)])?;
        self.conn
            .prepare_cached(
                "DELETE FROM revision WHERE swipe IN (SELECT id FROM swipe WHERE message = ?1)",
            )?
            .execute([Col(message)])?;
        Ok(())
    }

    /// Permanently removes texts that were replaced at or before `before`. Returns how many.
    pub(crate) fn purge(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .execute("DELETE FROM revision WHERE replaced <= ?1", [Col(before)])?)
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Revision> {
    Ok(Revision {
        swipe: row.get::<_, Col<_>>(0)?.0,
        text: row.get(1)?,
        replaced: row.get::<_, Col<_>>(2)?.0,
    })
}
