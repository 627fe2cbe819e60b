//! Archived memories, which are kept but not recalled. Archiving only marks a memory. If its
//! replacement is deleted, the memory becomes active again.

use std::collections::HashSet;

use domain::MemoryId;
use domain::memory::{ArchiveReason, ArchivedState, Memory, MemoryScope};
use rusqlite::params;
use uuid::Uuid;

use super::row::{ACTIVE, COLUMN_COUNT, COLUMNS, OF_SCOPE, Owners, from_row, scope};
use crate::StoreError;
use crate::access::{Memories, MemoriesMut};
use crate::sql::{Col, one};

/// An active memory, for consolidation.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveMemory {
    /// Row number, which increases with each write.
    pub number: i64,
    pub memory: Memory,
    /// The user has restored it from the archive.
    pub unarchived_by_user: bool,
}

impl Memories<'_> {
    /// The scopes that have memories.
    pub fn scopes(&self) -> Result<Vec<MemoryScope>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM memory WHERE deleted IS NULL GROUP BY scope, character, persona, chat, world"
        );
        let scopes = self
            .conn
            .prepare_cached(&sql)?
            .query_map([], scope)?
            .collect::<Result<Vec<_>, _>>()?;
        Ok(scopes)
    }

    /// All active memories of a scope, in creation order.
    pub fn all_active(&self, scope: MemoryScope) -> Result<Vec<ActiveMemory>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, memory.kept FROM memory
             WHERE {OF_SCOPE} AND {ACTIVE} ORDER BY number"
        );
        let Owners {
            scope,
            character,
            persona,
            chat,
            world,
        } = Owners::of(scope);
        let rows: Vec<((i64, Memory), bool)> = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![scope, character, persona, chat, world], |row| {
                Ok((from_row(row)?, row.get(COLUMN_COUNT)?))
            })?
            .collect::<Result<_, _>>()?;
        let (rows, kept): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let numbers: Vec<i64> = rows.iter().map(|(number, _)| *number).collect();
        let memories = self.with_sources(rows)?.into_iter().zip(numbers).zip(kept);
        Ok(memories
            .map(|((memory, number), kept)| ActiveMemory {
                number,
                memory,
                unarchived_by_user: kept,
            })
            .collect())
    }

    /// Number of active memories of a scope.
    pub fn count_active(&self, scope: MemoryScope) -> Result<u32, StoreError> {
        let sql = format!("SELECT count(*) FROM memory WHERE {OF_SCOPE} AND {ACTIVE}");
        let Owners {
            scope,
            character,
            persona,
            chat,
            world,
        } = Owners::of(scope);
        let of = params![scope, character, persona, chat, world];
        Ok(self
            .conn
            .prepare_cached(&sql)?
            .query_row(of, |row| row.get(0))?)
    }

    /// Memories that context blocks of any message contain.
    pub fn recalled(&self) -> Result<HashSet<MemoryId>, StoreError> {
        let ids: Vec<String> = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT json_extract(block.value, '$.source.id')
                 FROM message, json_each(message.context_block) AS block
                 WHERE message.context_block IS NOT NULL AND json_valid(message.context_block)
                     AND json_extract(block.value, '$.source.type') = 'memory'",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(ids
            .iter()
            .filter_map(|id| Uuid::parse_str(id).ok())
            .map(MemoryId)
            .collect())
    }

    /// Memories that were merged into a memory, directly or indirectly.
    pub fn merged_into(&self, id: MemoryId) -> Result<Vec<MemoryId>, StoreError> {
        let ids = self
            .conn
            .prepare_cached(
                "WITH RECURSIVE part (number, id) AS (
                     SELECT number, NULL FROM memory WHERE id = ?1
                     UNION SELECT memory.number, memory.id FROM part JOIN memory ON memory.replaced_by = part.number
                         WHERE memory.archived = 'merged' AND memory.deleted IS NULL)
                 SELECT id FROM part WHERE id IS NOT NULL",
            )?
            .query_map([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }
}

impl MemoriesMut<'_> {
    /// Archives a memory. Returns false if its text has changed meanwhile, if it is pinned, or if
    /// its replacement no longer exists.
    pub fn archive(
        &mut self,
        memory: &Memory,
        archived: ArchivedState,
    ) -> Result<bool, StoreError> {
        let gone = "UPDATE memory SET archived = ?2, archived_at = ?3, raised_from = NULL,
                 replaced_by = (SELECT newer.number FROM memory AS newer WHERE newer.id = ?4 AND newer.deleted IS NULL)
             WHERE id = ?1 AND deleted IS NULL AND pinned = 0 AND text = ?5
                 AND (?4 IS NULL OR EXISTS (SELECT 1 FROM memory AS newer WHERE newer.id = ?4 AND newer.deleted IS NULL))";
        let rows = self.conn.prepare_cached(gone)?.execute(params![
            Col(memory.id),
            Col(archived.reason),
            Col(archived.since),
            archived.replaced_by.map(Col),
            memory.text
        ])?;
        if rows == 1 && archived.reason == ArchiveReason::Merged {
            self.raise_importance(memory)?;
        }
        Ok(rows == 1)
    }

    /// Raises the importance of the memory that `merged` was merged into, unless the user wrote
    /// that one.
    fn raise_importance(&mut self, merged: &Memory) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE memory SET raised_from = (
                     SELECT newer.importance FROM memory AS newer WHERE newer.number = memory.replaced_by
                         AND newer.importance < memory.importance AND newer.origin <> 'user')
                 WHERE id = ?1",
            )?
            .execute([Col(merged.id)])?;
        self.conn
            .prepare_cached(
                "UPDATE memory SET importance = ?2 WHERE number = (
                     SELECT replaced_by FROM memory WHERE id = ?1 AND raised_from IS NOT NULL)",
            )?
            .execute(params![Col(merged.id), merged.importance])?;
        Ok(())
    }

    /// Makes `by` the replacement of memories that one of `those` superseded.
    pub fn replace_superseding(
        &mut self,
        those: &[MemoryId],
        by: MemoryId,
    ) -> Result<(), StoreError> {
        let mut take = self.conn.prepare_cached(
            "UPDATE memory SET replaced_by = (SELECT newer.number FROM memory AS newer WHERE newer.id = ?2)
             WHERE archived = 'superseded' AND replaced_by = (SELECT newer.number FROM memory AS newer WHERE newer.id = ?1)",
        )?;
        those
            .iter()
            .try_for_each(|id| take.execute(params![Col(*id), Col(by)]).map(drop))?;
        Ok(())
    }

    /// Restores a memory from the archive. Only the user can archive it again. Memories that it
    /// replaced stay archived.
    ///
    /// # Errors
    /// `NotFound` if it does not exist.
    pub fn unarchive(&mut self, id: MemoryId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE memory SET importance = merged.raised_from
                 FROM (SELECT replaced_by, raised_from, importance FROM memory WHERE id = ?1) AS merged
                 WHERE memory.number = merged.replaced_by AND memory.importance = merged.importance
                     AND merged.raised_from IS NOT NULL",
            )?
            .execute([Col(id)])?;
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE memory SET archived = NULL, archived_at = NULL, replaced_by = NULL, raised_from = NULL, kept = 1
                 WHERE id = ?1 AND deleted IS NULL",
            )?
            .execute([Col(id)])?;
        one(rows, "memory")
    }
}
