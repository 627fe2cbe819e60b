//! Operations on many memories: filters, bulk deletion, storage sizes and retraction from prompts.

use std::collections::HashSet;

use domain::memory::{Memory, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, MemoryId, MessageId, PersonaId, Timestamp};
use rusqlite::{OptionalExtension, params};
use uuid::Uuid;

use super::row::{ACTIVE, COLUMNS, OF_SCOPE, Owners, VALID, from_row};
use crate::StoreError;
use crate::access::{Memories, MemoriesMut, StaleCachesMut};
use crate::sql::Col;

/// Conditions for memories; all must be met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    pub kind: Option<MemoryType>,
    /// Kind of scope, as in [`MemoryScope::as_str`](domain::MemoryScope::as_str).
    pub scope: Option<&'static str>,
    /// Whether it was made from chat messages.
    pub from_messages: Option<bool>,
    /// Whether to select archived instead of active memories.
    pub archived: bool,
}

impl MemoryFilter {
    pub(crate) fn fits(&self, memory: &Memory) -> bool {
        self.kind.is_none_or(|kind| kind == memory.kind)
            && self
                .scope
                .is_none_or(|scope| scope == memory.scope.as_str())
            && self.archived == memory.archived.is_some()
    }
}

/// A set of memories to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySet {
    /// All memories that only this character can use.
    Character(CharacterId),
    /// Memories of a character and one persona; `None` is the user without a persona.
    Pair(CharacterId, Option<PersonaId>),
    /// Memories of a chat, and those that were made from its messages.
    Chat(ChatId),
    Everybody,
}

/// Disk space of memories and embeddings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryStorage {
    pub memories: u64,
    pub memory_bytes: u64,
    pub vectors: u64,
    pub vector_bytes: u64,
    /// Number of texts without an embedding.
    pub queued: u64,
}

impl Memories<'_> {
    /// All valid memories of a set.
    pub fn all_of(&self, of: MemorySet) -> Result<Vec<MemoryId>, StoreError> {
        let (condition, owner, persona) = match of {
            MemorySet::Everybody => ("?1 IS ?2", None, None),
            MemorySet::Chat(chat) => (
                "?2 IS NULL AND (chat = ?1 OR number IN (SELECT memory_source.memory FROM memory_source
                     JOIN message ON message.id = memory_source.message WHERE message.chat = ?1))",
                Some(chat.0),
                None,
            ),
            MemorySet::Character(character) => (
                "?2 IS NULL AND (character = ?1 OR chat IN (SELECT id FROM chat WHERE character = ?1))",
                Some(character.0),
                None,
            ),
            MemorySet::Pair(character, persona) => {
                ("scope = 'pair' AND character = ?1 AND persona IS ?2", Some(character.0), persona)
            }
        };
        let sql = format!("SELECT id FROM memory WHERE {condition} AND {VALID} ORDER BY number");
        let ids = self
            .conn
            .prepare_cached(&sql)?
            .query_map(
                params![
                    owner.as_ref().map(|id| &id.as_bytes()[..]),
                    persona.map(Col)
                ],
                |row| Ok(row.get::<_, Col<_>>(0)?.0),
            )?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// Whether any of `messages` is in `chat`.
    pub fn any_in_chat(&self, chat: ChatId, messages: &[MessageId]) -> Result<bool, StoreError> {
        let mut said = self
            .conn
            .prepare_cached("SELECT 1 FROM message WHERE id = ?1 AND chat = ?2")?;
        for message in messages {
            if said.exists(params![Col(*message), Col(chat)])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the recallable memories of `scopes` with these row numbers, in the same order, up to
    /// `limit`.
    pub fn by_row_numbers(
        &self,
        scopes: &[MemoryScope],
        numbers: impl IntoIterator<Item = i64>,
        limit: usize,
    ) -> Result<Vec<(i64, Memory)>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM memory WHERE number = ?1 AND {VALID}");
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut found: Vec<(i64, Memory)> = Vec::with_capacity(limit);
        for number in numbers {
            if found.len() == limit {
                break;
            }
            let row = statement.query_row([number], from_row).optional()?;
            found.extend(
                row.filter(|(_, memory)| memory.is_recallable() && scopes.contains(&memory.scope)),
            );
        }
        let numbers: Vec<i64> = found.iter().map(|(number, _)| *number).collect();
        Ok(numbers.into_iter().zip(self.with_sources(found)?).collect())
    }

    /// Model summaries of the scope's other chats, newest first. Returns none if this chat already
    /// has keyframes.
    pub fn last_sessions(
        &self,
        scope: MemoryScope,
        chat: ChatId,
        limit: u32,
    ) -> Result<Vec<Memory>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memory
             WHERE {OF_SCOPE} AND origin = 'keyframe' AND {ACTIVE}
                 AND NOT EXISTS (SELECT 1 FROM keyframe WHERE keyframe.chat = ?6)
                 AND NOT EXISTS (SELECT 1 FROM memory_source JOIN message ON message.id = memory_source.message
                     WHERE memory_source.memory = memory.number AND message.chat = ?6)
             ORDER BY memory.created DESC, number DESC LIMIT ?7"
        );
        let Owners {
            scope,
            character,
            persona,
            chat: of,
            world,
        } = Owners::of(scope);
        let rows = self
            .conn
            .prepare_cached(&sql)?
            .query_map(
                params![scope, character, persona, of, world, Col(chat), limit],
                from_row,
            )?
            .collect::<Result<_, _>>()?;
        self.with_sources(rows)
    }

    /// Whether the memory has a row, valid or not.
    pub fn exists(&self, id: MemoryId) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT 1 FROM memory WHERE id = ?1")?
            .exists([Col(id)])?)
    }

    /// Disk space of all memories and embeddings.
    pub fn storage(&self) -> Result<MemoryStorage, StoreError> {
        let number = |sql: &str| {
            self.conn
                .query_row(sql, [], |row| Ok(row.get::<_, i64>(0)?.unsigned_abs()))
        };
        let bytes = "SELECT coalesce(sum(octet_length(vector) + octet_length(pieces)), 0) FROM message_vector";
        let of_pieces = "SELECT coalesce(sum(octet_length(vectors)), 0) FROM message_pieces";
        let of_meanings = "SELECT coalesce(sum(octet_length(vector)), 0) FROM meaning";
        Ok(MemoryStorage {
            memories: number("SELECT count(*) FROM memory WHERE deleted IS NULL")?,
            memory_bytes: number(
                "SELECT coalesce(sum(octet_length(text)), 0) FROM memory WHERE deleted IS NULL",
            )?,
            vectors: number(
                "SELECT (SELECT count(*) FROM message_vector) + (SELECT count(*) FROM meaning)",
            )?,
            vector_bytes: number(bytes)? + number(of_pieces)? + number(of_meanings)?,
            queued: number(
                "SELECT (SELECT count(*) FROM message_unread) + (SELECT count(*) FROM meaning_unread)",
            )?,
        })
    }

    /// When a memory was forgotten; `None` if it was not.
    pub fn forgotten_at(&self, id: MemoryId) -> Result<Option<Timestamp>, StoreError> {
        let of = "SELECT deleted FROM memory WHERE id = ?1 AND deleted IS NOT NULL";
        let mut found = self.conn.prepare_cached(of)?;
        Ok(found
            .query_row([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))
            .optional()?)
    }

    /// Number of retractions so far.
    pub fn retraction_count(&self) -> Result<i64, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT number FROM withdrawal")?
            .query_row([], |row| row.get(0))?)
    }
}

impl MemoriesMut<'_> {
    /// Hides all of them until `restore` or a purge. Skips memories that are already hidden.
    pub fn soft_delete_all(&mut self, ids: &[MemoryId], when: Timestamp) -> Result<(), StoreError> {
        let mut hide = self
            .conn
            .prepare_cached("UPDATE memory SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL")?;
        ids.iter()
            .try_for_each(|id| hide.execute(params![Col(*id), Col(when)]).map(drop))?;
        Ok(())
    }

    /// Restores summary memories that were deleted together with the memory `id` because they share
    /// messages. Excludes summaries that include other forgotten messages.
    pub fn restore_summaries(&mut self, id: MemoryId, hidden: Timestamp) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE memory SET deleted = NULL
                 WHERE origin = 'keyframe' AND deleted = ?2 AND number IN (
                     SELECT other.memory FROM memory JOIN memory_source AS own ON own.memory = memory.number
                     JOIN memory_source AS other ON other.message = own.message WHERE memory.id = ?1)
                     AND NOT EXISTS (SELECT 1 FROM memory_source JOIN forgotten ON forgotten.swipe = memory_source.swipe
                         WHERE memory_source.memory = memory.number)",
            )?
            .execute(params![Col(id), Col(hidden)])?;
        Ok(())
    }

    /// Ids of memories that were changed or removed since the last purge.
    pub(crate) fn changed_since_purge(&self) -> Result<Vec<Uuid>, StoreError> {
        let ids = self
            .conn
            .prepare_cached("SELECT id FROM rewritten WHERE id NOT IN (SELECT id FROM message)")?
            .query_map([], |row| Ok(row.get::<_, Col<MemoryId>>(0)?.0.0))?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// Does what [`Self::retract`] does for many ids in one pass.
    pub fn retract_all(&mut self, quoted: &HashSet<Uuid>) -> Result<(), StoreError> {
        self.count_withdrawal()?;
        let ids: Vec<String> = quoted.iter().map(|id| format!("\"{id}\"")).collect();
        let ids = format!("[{}]", ids.join(","));
        let of = |column: &str, path: &str| {
            format!(
                "EXISTS (SELECT 1 FROM json_each(iif(json_valid({column}), {column}, '{{}}'), '{path}') AS block
                     WHERE json_extract(block.value, '$.source.id') IN (SELECT value FROM json_each(?1)))"
            )
        };
        let in_digest = of("window_frozen", "$.digest");
        let in_block = of("context_block", "$");
        let quoting =
            format!("SELECT chat FROM message WHERE context_block IS NOT NULL AND {in_block}");
        self.end_epochs(
            &format!(
                "UPDATE chat SET window_fingerprint = '', window_frozen = ''
                 WHERE window_frozen <> '' AND {in_digest} OR id IN ({quoting}) RETURNING id"
            ),
            &ids,
            None,
        )?;
        self.conn.execute(
            &format!(
                "UPDATE message SET context_block = (
                     SELECT json_group_array(json(value)) FROM json_each(context_block)
                     WHERE json_extract(value, '$.source.id') NOT IN (SELECT value FROM json_each(?1))
                         OR json_extract(value, '$.source.id') IS NULL)
                 WHERE context_block IS NOT NULL AND {in_block}"
            ),
            [&ids],
        )?;
        Ok(())
    }

    /// Runs `sql`, which ends epochs and returns their chats, and marks the caches of these chats
    /// as stale. Skips the chat of the message `but`.
    pub(crate) fn end_epochs(
        &mut self,
        sql: &str,
        quoted: &str,
        but: Option<MessageId>,
    ) -> Result<(), StoreError> {
        let mut ended = self.conn.prepare_cached(sql)?;
        let chats: Vec<ChatId> = ended
            .query_map([quoted], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        for chat in chats {
            if !(Memories { conn: self.conn }).any_in_chat(chat, but.as_slice())? {
                (StaleCachesMut { conn: self.conn }).mark(chat)?;
            }
        }
        Ok(())
    }

    pub(crate) fn count_withdrawal(&mut self) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("UPDATE withdrawal SET number = number + 1")?
            .execute([])?;
        Ok(())
    }

    /// Removes all recalled content from the context blocks and the digest of a chat, which starts
    /// a new epoch.
    pub fn retract_recalled(&mut self, chat: ChatId) -> Result<(), StoreError> {
        self.count_withdrawal()?;
        let digest = "SELECT 1 FROM chat WHERE id = ?1 AND json_valid(window_frozen)
             AND json_array_length(window_frozen, '$.digest') > 0";
        let in_digest = self.conn.prepare_cached(digest)?.exists([Col(chat)])?;
        self.conn
            .prepare_cached(
                "UPDATE chat SET window_fingerprint = '', window_frozen = '' WHERE id = ?1",
            )?
            .execute([Col(chat)])?;
        let in_blocks = self
            .conn
            .prepare_cached(
                "UPDATE message SET context_block = (
                     SELECT json_group_array(json(value)) FROM json_each(context_block)
                     WHERE json_extract(value, '$.kind') IN ('clock', 'mode', 'note', 'reminder'))
                 WHERE chat = ?1 AND context_block IS NOT NULL AND json_valid(context_block) AND EXISTS (
                     SELECT 1 FROM json_each(context_block)
                     WHERE json_extract(value, '$.kind') NOT IN ('clock', 'mode', 'note', 'reminder'))",
            )?
            .execute([Col(chat)])?;
        if in_digest || in_blocks > 0 {
            (StaleCachesMut { conn: self.conn }).mark(chat)?;
        }
        Ok(())
    }
}
