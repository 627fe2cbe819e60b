//! Removes what other rows quote of removed items: prompts, context blocks, digests and windows.

use std::collections::HashSet;

use domain::ChatId;
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::sql::Col;
use crate::{Before, StoreError, WriteTransaction};

/// The ids of all items that prompts and context blocks can quote.
pub(super) fn ids(conn: &Connection) -> Result<HashSet<Uuid>, StoreError> {
    let ids = conn
        .prepare_cached(
            "SELECT id FROM message UNION ALL SELECT id FROM memory UNION ALL SELECT id FROM document
             UNION ALL SELECT id FROM keyframe",
        )?
        .query_map([], |row| Ok(Uuid::from_bytes(row.get(0)?)))?
        .collect::<Result<_, _>>()?;
    Ok(ids)
}

/// Removes the prompts of a chat, everything recalled in it, and its windows. It stays otherwise.
pub(super) fn clear_chat(write: &mut WriteTransaction<'_>, chat: ChatId) -> Result<(), StoreError> {
    write.manifests_mut().empty_from(chat, i64::MIN)?;
    for sql in [
        "UPDATE message SET context_block = '[]' WHERE chat = ?1 AND context_block IS NOT NULL",
        "UPDATE chat SET window_fingerprint = '', window_frozen = '' WHERE id = ?1",
    ] {
        write.conn.prepare_cached(sql)?.execute([Col(chat)])?;
    }
    write.groups_mut().end_windows(chat)?;
    write.stale_caches_mut().mark(chat)
}

/// Removes the messages that are marked with [`Before::CONDEMNED`], the memories that were made
/// from them, and the later prompts of their chats.
pub(super) fn remove_marked(write: &mut WriteTransaction<'_>) -> Result<(), StoreError> {
    for (chat, position) in first_marked(write.conn)? {
        write.manifests_mut().empty_from(chat, position)?;
        write.groups_mut().end_windows(chat)?;
        write.stale_caches_mut().mark(chat)?;
    }
    write.messages_mut().redact_quotes(Before::CONDEMNED)?;
    // Memories that were kept when their chat was deleted have no other link to their messages.
    write.conn.execute(
        "DELETE FROM memory WHERE number IN (
             SELECT made.memory FROM (
                 SELECT memory, message FROM memory_source UNION ALL SELECT memory, message FROM outlived) AS made
             JOIN message ON message.id = made.message WHERE message.deleted <= ?1)",
        [Col(Before::CONDEMNED)],
    )?;
    write.messages_mut().purge(Before::CONDEMNED)?;
    Ok(())
}

/// For each chat, the position of its first marked message.
fn first_marked(conn: &Connection) -> Result<Vec<(ChatId, i64)>, StoreError> {
    let rows = conn
        .prepare_cached(
            "SELECT chat, min(position) FROM message WHERE deleted <= ?1 GROUP BY chat",
        )?
        .query_map([Col(Before::CONDEMNED)], |row| {
            Ok((row.get::<_, Col<_>>(0)?.0, row.get(1)?))
        })?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

/// Removes quotes of removed items from all chats.
pub(super) fn remove_quotes(
    write: &mut WriteTransaction<'_>,
    gone: &HashSet<Uuid>,
) -> Result<(), StoreError> {
    if gone.is_empty() {
        return Ok(());
    }
    write.memories_mut().retract_all(gone)?;
    write.manifests_mut().empty_quoting(gone)?;
    // A removed memory is noted for the next purge, which has nothing left to do.
    let mut noted = write
        .conn
        .prepare_cached("DELETE FROM rewritten WHERE id = ?1")?;
    gone.iter()
        .try_for_each(|id| noted.execute(params![id.as_bytes()]).map(drop))?;
    Ok(())
}
