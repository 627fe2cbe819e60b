//! Removes the messages of a span of time.

use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{Connection, params};

use super::traces;
use crate::sql::Col;
use crate::{Before, StoreError, WriteTransaction};

pub(super) fn remove(
    write: &mut WriteTransaction<'_>,
    from: Timestamp,
    until: Timestamp,
) -> Result<(), StoreError> {
    let conn = write.read.conn;
    conn.execute(
        "UPDATE message SET deleted = ?3 WHERE created >= ?1 AND created < ?2
             OR id IN (SELECT message FROM swipe GROUP BY message
                 HAVING min(created) >= ?1 AND max(created) < ?2)",
        params![Col(from), Col(until), Col(Before::CONDEMNED)],
    )?;
    let touched = chats_with_marked(conn)?;
    for version in later_versions(conn, from, until)? {
        version.remove(write)?;
    }
    traces::remove_marked(write)?;
    conn.execute(
        "DELETE FROM draft WHERE saved >= ?1 AND saved < ?2",
        params![Col(from), Col(until)],
    )?;
    // The text in the composer has no time of its own.
    conn.execute(
        "UPDATE chat SET draft = '' WHERE updated >= ?1 AND updated < ?2 AND draft <> ''",
        params![Col(from), Col(until)],
    )?;
    let mut remove_empty = conn.prepare_cached(
        "DELETE FROM chat WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat = chat.id)",
    )?;
    touched
        .iter()
        .try_for_each(|chat| remove_empty.execute([Col(*chat)]).map(drop))?;
    Ok(())
}

fn chats_with_marked(conn: &Connection) -> Result<Vec<ChatId>, StoreError> {
    let chats = conn
        .prepare_cached("SELECT DISTINCT chat FROM message WHERE deleted <= ?1")?
        .query_map([Col(Before::CONDEMNED)], |row| {
            Ok(row.get::<_, Col<_>>(0)?.0)
        })?
        .collect::<Result<_, _>>()?;
    Ok(chats)
}

/// A version from the span, of a message that also has others.
struct LaterVersion {
    message: MessageId,
    chat: ChatId,
    /// Position of the message in its chat.
    place: i64,
    index: u32,
}

/// Those with the highest index come first, so that the indexes of the rest stay.
fn later_versions(
    conn: &Connection,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<LaterVersion>, StoreError> {
    let rows = conn
        .prepare_cached(
            "SELECT message.id, message.chat, message.position, swipe.position
             FROM swipe JOIN message ON message.id = swipe.message
             WHERE swipe.created >= ?1 AND swipe.created < ?2
                 AND (message.deleted IS NULL OR message.deleted > ?3)
             ORDER BY message.id, swipe.position DESC",
        )?
        .query_map(
            params![Col(from), Col(until), Col(Before::CONDEMNED)],
            |row| {
                Ok(LaterVersion {
                    message: row.get::<_, Col<_>>(0)?.0,
                    chat: row.get::<_, Col<_>>(1)?.0,
                    place: row.get(2)?,
                    index: row.get(3)?,
                })
            },
        )?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

impl LaterVersion {
    /// Shows the version before it, if this one was shown.
    fn remove(&self, write: &mut WriteTransaction<'_>) -> Result<(), StoreError> {
        let shown: u32 = write
            .conn
            .prepare_cached("SELECT selected FROM message WHERE id = ?1")?
            .query_row([Col(self.message)], |row| row.get(0))?;
        let left = if shown < self.index {
            shown
        } else {
            shown.saturating_sub(1)
        };
        write.swipes_mut().delete(self.message, self.index, left)?;
        write.memories_mut().retract(self.message.0)?;
        write.manifests_mut().empty_from(self.chat, self.place)?;
        write.stale_caches_mut().mark(self.chat)
    }
}
