//! World memories, which apply wherever their lorebook applies.

use std::collections::HashSet;

use domain::{CharacterId, LorebookId, MemoryId};
use rusqlite::params;

use crate::access::{Memories, MemoriesMut};
use crate::sql::Col;
use crate::table::library::lorebook::APPLIES_IN;
use crate::{ChatParticipants, StoreError};

/// SQL query for the lorebooks that apply in any chat of the character `?1`, with any persona,
/// including disabled ones.
pub(crate) const WORLDS_OF_CHARACTER: &str = "SELECT lorebook FROM lorebook_binding
    WHERE lorebook_binding.scope IN ('global', 'persona') OR lorebook_binding.scope = 'character' AND owner = ?1
        OR lorebook_binding.scope = 'chat' AND owner IN (SELECT id FROM chat WHERE character = ?1)";

impl Memories<'_> {
    /// The lorebooks that apply in this chat and have memories, oldest first.
    pub fn worlds(&self, company: ChatParticipants) -> Result<Vec<LorebookId>, StoreError> {
        let ChatParticipants {
            character,
            chat,
            persona,
        } = company;
        let sql = format!(
            "SELECT DISTINCT id FROM lorebook_binding JOIN lorebook ON lorebook.id = lorebook_binding.lorebook
             WHERE {APPLIES_IN} AND EXISTS (SELECT 1 FROM memory WHERE memory.world = lorebook.id) ORDER BY id"
        );
        let worlds = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![Col(character), Col(chat), Col(persona)], |row| {
                Ok(row.get::<_, Col<_>>(0)?.0)
            })?
            .collect::<Result<_, _>>()?;
        Ok(worlds)
    }

    /// See [`WORLDS_OF_CHARACTER`].
    pub(crate) fn worlds_of(
        &self,
        character: CharacterId,
    ) -> Result<HashSet<LorebookId>, StoreError> {
        let worlds = self
            .conn
            .prepare_cached(WORLDS_OF_CHARACTER)?
            .query_map([Col(character)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(worlds)
    }
}

impl MemoriesMut<'_> {
    /// Memories of a world, including invalid ones.
    pub fn ids_by_world(&self, world: LorebookId) -> Result<Vec<MemoryId>, StoreError> {
        let ids = self
            .conn
            .prepare_cached("SELECT id FROM memory WHERE world = ?1")?
            .query_map([Col(world)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }
}
