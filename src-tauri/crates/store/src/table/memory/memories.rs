//! Memories and their source messages. `row` defines valid and active memories.

use std::collections::HashMap;

use domain::memory::{Memory, MemoryScope};
use domain::{CharacterId, ChatId, MemoryId, MessageId, Timestamp};
use rusqlite::{OptionalExtension, params};
use uuid::Uuid;

use super::bulk::MemoryFilter;
use super::row::{ACTIVE, COLUMNS, OF_SCOPE, Owners, SCOPE, VALID, from_row};
use super::world::WORLDS_OF_CHARACTER;
use crate::access::{Memories, MemoriesMut};
use crate::sql::{Col, one};
use crate::{Before, StoreError};

impl Memories<'_> {
    /// `None` if the memory does not exist or is not valid. It may be archived.
    pub fn get(&self, id: MemoryId) -> Result<Option<Memory>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM memory WHERE id = ?1 AND {VALID}");
        let row = self
            .conn
            .prepare_cached(&sql)?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(self.with_sources(row.into_iter().collect())?.pop())
    }

    /// Returns up to `limit` active memories of a scope: pinned ones first, then by importance,
    /// then newest.
    pub fn active(&self, scope: MemoryScope, limit: u32) -> Result<Vec<Memory>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memory WHERE {OF_SCOPE} AND {ACTIVE}
             ORDER BY pinned DESC, importance DESC, updated DESC, number DESC LIMIT ?6"
        );
        let Owners {
            scope,
            character,
            persona,
            chat,
            world,
        } = Owners::of(scope);
        let rows = self
            .conn
            .prepare_cached(&sql)?
            .query_map(
                params![scope, character, persona, chat, world, limit],
                from_row,
            )?
            .collect::<Result<_, _>>()?;
        self.with_sources(rows)
    }

    /// Returns up to `limit` memories that are available to a character with any persona. These are
    /// its own memories, those of its pairs, its chats and their worlds, and those of the profile
    /// scope. The filter selects active or archived ones. Pinned memories are first, then by
    /// importance, then newest.
    pub fn of_character(
        &self,
        character: CharacterId,
        filter: MemoryFilter,
        limit: u32,
    ) -> Result<Vec<Memory>, StoreError> {
        let which = if filter.archived {
            format!("{VALID} AND NOT ({ACTIVE})")
        } else {
            ACTIVE.to_owned()
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM memory
             WHERE ({SCOPE} = 'profile' OR character = ?1 OR chat IN (SELECT id FROM chat WHERE character = ?1)
                     OR world IN ({WORLDS_OF_CHARACTER})) AND {which}
                 AND (?3 IS NULL OR type = ?3) AND (?4 IS NULL OR {SCOPE} = ?4)
                 AND (?5 IS NULL OR ?5 = EXISTS (SELECT 1 FROM memory_source WHERE memory_source.memory = memory.number))
             ORDER BY pinned DESC, importance DESC, updated DESC, number DESC LIMIT ?2"
        );
        let rows = self
            .conn
            .prepare_cached(&sql)?
            .query_map(
                params![
                    Col(character),
                    limit,
                    filter.kind.map(Col),
                    filter.scope,
                    filter.from_messages
                ],
                from_row,
            )?
            .collect::<Result<_, _>>()?;
        self.with_sources(rows)
    }

    pub(crate) fn with_sources(&self, rows: Vec<(i64, Memory)>) -> Result<Vec<Memory>, StoreError> {
        let numbers: Vec<String> = rows.iter().map(|(number, _)| number.to_string()).collect();
        let mut statement = self.conn.prepare_cached(&format!(
            "WITH RECURSIVE part (whole, number) AS (
                 SELECT value, value FROM json_each(?1)
                 UNION SELECT part.whole, memory.number FROM part JOIN memory ON memory.replaced_by = part.number
                     WHERE memory.archived = 'merged' AND {VALID})
             SELECT part.whole, memory_source.message, part.whole = part.number
             FROM part JOIN memory_source ON memory_source.memory = part.number
             ORDER BY part.whole, part.whole <> part.number, memory_source.message"
        ))?;
        let mut made: HashMap<i64, (Vec<MessageId>, Vec<MessageId>)> = HashMap::new();
        let mut found = statement.query([format!("[{}]", numbers.join(","))])?;
        while let Some(row) = found.next()? {
            let (sources, echoes) = made.entry(row.get(0)?).or_default();
            let message = row.get::<_, Col<_>>(1)?.0;
            if row.get(2)? {
                sources.push(message);
            } else if !sources.contains(&message) && !echoes.contains(&message) {
                echoes.push(message);
            }
        }
        let whole = |(number, memory)| {
            let (sources, echoes) = made.remove(&number).unwrap_or_default();
            Memory {
                sources,
                merged_sources: echoes,
                ..memory
            }
        };
        Ok(rows.into_iter().map(whole).collect())
    }
}

impl MemoriesMut<'_> {
    /// Stores a memory with its sources: the selected swipes of the messages.
    ///
    /// # Errors
    /// `NotFound` if a source message does not exist.
    pub fn insert(&mut self, memory: &Memory) -> Result<(), StoreError> {
        let Owners {
            scope,
            character,
            persona,
            chat,
            world,
        } = Owners::of(memory.scope);
        self.conn
            .prepare_cached(
                "INSERT INTO memory (id, type, scope, character, persona, chat, text, importance, pinned, created, updated,
                     origin, confidence, world)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(params![
                Col(memory.id),
                Col(memory.kind),
                scope,
                character,
                persona,
                chat,
                memory.text,
                memory.importance,
                memory.pinned,
                Col(memory.created),
                Col(memory.updated),
                Col(memory.origin),
                memory.confidence,
                world,
            ])?;
        let number = self.conn.last_insert_rowid();
        let mut statement = self.conn.prepare_cached(
            "INSERT OR IGNORE INTO memory_source (memory, message, swipe)
             SELECT ?1, message.id, swipe.id FROM message
             JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
             WHERE message.id = ?2 AND message.deleted IS NULL",
        )?;
        memory.sources.iter().try_for_each(|source| {
            one(statement.execute(params![number, Col(*source)])?, "message")
        })
    }

    /// Updates text, type, scope, importance, pin, origin and confidence. Sources, creation time
    /// and archived state stay.
    pub fn update(&mut self, memory: &Memory) -> Result<(), StoreError> {
        let Owners {
            scope,
            character,
            persona,
            chat,
            world,
        } = Owners::of(memory.scope);
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE memory SET type = ?2, scope = ?3, character = ?4, persona = ?5, chat = ?6, text = ?7,
                     importance = ?8, pinned = ?9, updated = ?10, origin = ?11, confidence = ?12, world = ?13
                 WHERE id = ?1 AND deleted IS NULL",
            )?
            .execute(params![
                Col(memory.id),
                Col(memory.kind),
                scope,
                character,
                persona,
                chat,
                memory.text,
                memory.importance,
                memory.pinned,
                Col(memory.updated),
                Col(memory.origin),
                memory.confidence,
                world,
            ])?;
        one(rows, "memory")
    }

    /// Hides the memory until `restore` or a purge.
    pub fn soft_delete(&mut self, id: MemoryId, when: Timestamp) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE memory SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), Col(when)])?;
        one(rows, "memory")
    }

    /// Restores a memory, and those it replaced that were deleted at the same time. Returns their
    /// ids.
    ///
    /// # Errors
    /// `NotFound` if it was purged.
    pub fn restore(&mut self, id: MemoryId) -> Result<Vec<MemoryId>, StoreError> {
        let restored: Vec<MemoryId> = self
            .conn
            .prepare_cached(
                "UPDATE memory SET deleted = NULL WHERE number IN (
                     WITH RECURSIVE part (number, deleted) AS (
                         SELECT number, deleted FROM memory WHERE id = ?1
                         UNION SELECT memory.number, memory.deleted FROM part JOIN memory
                             ON memory.replaced_by = part.number AND memory.deleted = part.deleted)
                     SELECT number FROM part)
                 RETURNING id",
            )?
            .query_map([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        one(usize::from(!restored.is_empty()), "memory")?;
        Ok(restored)
    }

    /// Memories made from a message, including invalid ones.
    pub fn ids_by_source_message(&self, message: MessageId) -> Result<Vec<MemoryId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT memory.id FROM memory JOIN memory_source ON memory_source.memory = memory.number
                 WHERE memory_source.message = ?1",
            )?
            .query_map([Col(message)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Source messages of a memory, which may be invalid.
    pub fn sources_of(&self, id: MemoryId) -> Result<Vec<MessageId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT memory_source.message FROM memory_source JOIN memory ON memory.number = memory_source.memory
                 WHERE memory.id = ?1",
            )?
            .query_map([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Messages of a chat that other chats quote, because the chats of a pair can recall each
    /// other.
    pub fn quoted_elsewhere(&self, chat: ChatId) -> Result<Vec<MessageId>, StoreError> {
        let quoted: Vec<String> = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT json_extract(block.value, '$.source.id')
                 FROM chat JOIN message ON message.chat = chat.id, json_each(message.context_block) AS block
                 WHERE chat.character = (SELECT character FROM chat WHERE id = ?1) AND chat.id <> ?1
                     AND message.context_block IS NOT NULL AND json_valid(message.context_block)
                     AND json_extract(block.value, '$.source.type') = 'message'",
            )?
            .query_map([Col(chat)], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut own = self
            .conn
            .prepare_cached("SELECT 1 FROM message WHERE id = ?1 AND chat = ?2")?;
        let mut found = Vec::new();
        for id in quoted
            .iter()
            .filter_map(|id| Uuid::parse_str(id).ok())
            .map(MessageId)
        {
            if own.exists(params![Col(id), Col(chat)])? {
                found.push(id);
            }
        }
        Ok(found)
    }

    /// Memories made from messages of a chat, including invalid ones.
    pub fn ids_by_chat(&self, chat: ChatId) -> Result<Vec<MemoryId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT memory.id FROM memory
                 JOIN memory_source ON memory_source.memory = memory.number
                 JOIN message ON message.id = memory_source.message
                 WHERE message.chat = ?1",
            )?
            .query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Removes quotes of a memory, message or document from all context blocks and digests, so that
    /// no later prompt contains them. Chats with such quotes start a new epoch, and their caches
    /// are marked as stale. This does not mark the chat of a quoted message; a caller that removes
    /// the message must do that.
    pub fn retract(&mut self, quoted: Uuid) -> Result<(), StoreError> {
        self.count_withdrawal()?;
        let id = quoted.to_string();
        self.end_epochs(
            "UPDATE chat SET window_fingerprint = '', window_frozen = '' WHERE instr(window_frozen, ?1)
                 OR id IN (SELECT chat FROM message WHERE instr(context_block, ?1)) RETURNING id",
            &id,
            Some(MessageId(quoted)),
        )?;
        self.conn
            .prepare_cached(
                "UPDATE message SET context_block = (
                     SELECT json_group_array(json(value)) FROM json_each(context_block)
                     WHERE json_extract(value, '$.source.id') IS NOT ?1)
                 WHERE instr(context_block, ?1) AND json_valid(context_block)",
            )?
            .execute([&id])?;
        Ok(())
    }

    /// Permanently removes memories that were deleted at or before `before`, and those made from
    /// messages or chats deleted by then. Returns how many. `changed_since_purge` returns their ids
    /// for the removal of quotes.
    pub(crate) fn purge(&mut self, before: Before) -> Result<usize, StoreError> {
        self.conn.execute(
            "UPDATE memory SET deleted = ?1 WHERE number IN (
                 SELECT memory_source.memory FROM memory_source
                 JOIN message ON message.id = memory_source.message JOIN chat ON chat.id = message.chat
                 WHERE message.deleted <= ?1 OR chat.deleted <= ?2)",
            [Col(before.rest), Col(before.trash)],
        )?;
        Ok(self
            .conn
            .execute("DELETE FROM memory WHERE deleted <= ?1", [Col(before.rest)])?)
    }
}
