//! Full-text search over memories.

use std::collections::HashMap;

use domain::memory::{Memory, MemoryScope};
use domain::{CharacterId, ChatId};
use rusqlite::params;

use super::bulk::MemoryFilter;
use super::row::{COLUMN_COUNT, COLUMNS, VALID, from_row};
use crate::access::Memories;
use crate::query::{RowRange, sought};
use crate::sql::Col;
use crate::{Query, StoreError};

/// A memory found by a search.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMemory {
    pub memory: Memory,
    /// BM25 score; higher is better, 0 is the minimum. Comparable only within one search.
    pub score: f64,
}

impl Memories<'_> {
    /// Returns up to `limit` best matches for `query` among the recallable memories of `scopes`,
    /// best first. Equal scores are sorted newest first.
    pub fn search(
        &self,
        scopes: &[MemoryScope],
        query: &Query,
        limit: u32,
    ) -> Result<Vec<FoundMemory>, StoreError> {
        self.found(query, limit, |_, memory| {
            memory.is_recallable() && scopes.contains(&memory.scope)
        })
    }

    /// Like [`Self::search`], among all memories that are available to a character.
    pub fn search_of_character(
        &self,
        character: CharacterId,
        query: &Query,
        filter: MemoryFilter,
        limit: u32,
    ) -> Result<Vec<FoundMemory>, StoreError> {
        let mut chats = self
            .conn
            .prepare_cached("SELECT 1 FROM chat WHERE id = ?1 AND character = ?2")?;
        let mut of_chat = |chat: ChatId| {
            chats
                .exists(params![Col(chat), Col(character)])
                .unwrap_or(false)
        };
        let worlds = self.worlds_of(character)?;
        let mut made = self
            .conn
            .prepare_cached("SELECT 1 FROM memory_source WHERE memory = ?1")?;
        let mut was_said = |number: i64| made.exists([number]).unwrap_or(false);
        self.found(query, limit, |number, memory| {
            let counts = match memory.scope {
                MemoryScope::Profile => true,
                MemoryScope::Character(of) | MemoryScope::Pair { character: of, .. } => {
                    of == character
                }
                MemoryScope::Chat(chat) => of_chat(chat),
                MemoryScope::World(world) => worlds.contains(&world),
            };
            counts
                && filter.fits(memory)
                && filter
                    .from_messages
                    .is_none_or(|said| said == was_said(number))
        })
    }

    /// Reads the ranking until enough memories are found. This is fast, because few memories
    /// contain most words of a query.
    fn found(
        &self,
        query: &Query,
        limit: u32,
        mut counts: impl FnMut(i64, &Memory) -> bool,
    ) -> Result<Vec<FoundMemory>, StoreError> {
        let mut found: HashMap<i64, (Memory, f64)> = HashMap::new();
        for (index, words) in [
            ("memory_words", &query.words),
            ("memory_letters", &query.letters),
        ] {
            let Some(sought) = sought(self.conn, index, words, RowRange::ALL)? else {
                continue;
            };
            let sql = format!(
                "SELECT {COLUMNS}, -{index}.rank FROM {index} JOIN memory ON memory.number = {index}.rowid
                 WHERE {index} MATCH ?1 AND {index}.rowid >= ?2 AND {VALID} ORDER BY {index}.rank"
            );
            let mut statement = self.conn.prepare_cached(&sql)?;
            let ranked = statement.query_map(params![sought.any(), sought.rows.first], |row| {
                Ok((from_row(row)?, row.get(COLUMN_COUNT)?))
            })?;
            let mut left = limit;
            for row in ranked {
                if left == 0 {
                    break;
                }
                let ((number, memory), score): (_, f64) = row?;
                if !counts(number, &memory) {
                    continue;
                }
                left -= 1;
                found.entry(number).or_insert((memory, 0.0)).1 += score;
            }
        }
        let mut found: Vec<(i64, (Memory, f64))> = found.into_iter().collect();
        found.sort_by(|(_, (one, a)), (_, (other, b))| b.total_cmp(a).then(other.id.cmp(&one.id)));
        found.truncate(limit as usize);
        let scores: Vec<f64> = found.iter().map(|(_, (_, score))| *score).collect();
        let memories = self.with_sources(
            found
                .into_iter()
                .map(|(number, (memory, _))| (number, memory))
                .collect(),
        )?;
        Ok(memories
            .into_iter()
            .zip(scores)
            .map(|(memory, score)| FoundMemory { memory, score })
            .collect())
    }
}
