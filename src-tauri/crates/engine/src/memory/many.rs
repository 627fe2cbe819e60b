//! Two memories made one, and many forgotten at once; both can be undone until the app ends.

use std::collections::HashSet;

use domain::memory::{Memory, MemoryOrigin};
use domain::{CharacterId, MemoryId, PersonaId};
use store::MemoriesOf;
use uuid::Uuid;

use super::panel::{checked, shown};
use super::untold;
use crate::Engine;
use crate::api::{self, MemoryOwner, MemoryStorage};
use crate::error::{Answer, bad_input};

impl Engine {
    /// One memory in the place of two, in the words of `text`: made from all that both were made from, as important as the more
    /// important one. It counts where the first did.
    ///
    /// # Errors
    /// `NotFound` if one of them does not stand; `BadInput` for one and the same, and for a text that is none.
    pub async fn merge_memories(&self, first: String, second: String, text: String) -> Answer<api::Memory> {
        let text = checked(&text)?;
        let (first, second) = tokio::try_join!(self.memory(first.parse()?), self.memory(second.parse()?))?;
        if first.id == second.id {
            return Err(bad_input("A memory cannot be merged with itself.", "Choose another one."));
        }
        let now = self.now();
        let merged = merged(&first, &second, text, MemoryId(Uuid::now_v7()), now);
        let (row, parts) = (merged.clone(), [first.id, second.id]);
        self.store()
            .write(move |store| {
                // The words that it was made from are still remembered, so nothing hides them.
                let parts = untold::with_merged(store, &parts)?;
                store.memories_mut().soft_delete_all(&parts, now)?;
                store.memories_mut().withdraw_all(&parts.iter().map(|id| id.0).collect())?;
                store.memories_mut().insert(&row)?;
                store.memories_mut().take_over(&parts, row.id)
            })
            .await?;
        self.memories_changed("");
        Ok(shown(merged, None))
    }

    /// The memories that one was merged from are back in its place.
    pub async fn unmerge_memories(&self, merged: String, parts: Vec<String>) -> Answer<()> {
        let (merged, parts, now) = (merged.parse::<MemoryId>()?, ids(&parts)?, self.now());
        self.store()
            .write(move |store| {
                parts.iter().try_for_each(|id| store.memories_mut().restore(*id).map(drop))?;
                // What gave way to the two gives way to one of them.
                parts.first().map(|part| store.memories_mut().take_over(&[merged], *part)).transpose()?;
                store.memories_mut().soft_delete(merged, now)?;
                store.memories_mut().withdraw(merged.0)
            })
            .await?;
        self.memories_changed("");
        Ok(())
    }

    /// Forgets all of a character's memories, a pair's, or everything, as [`Engine::delete_memory`] does one. Answers with which
    /// they were.
    pub async fn forget_memories(&self, of: MemoryOwner) -> Answer<Vec<String>> {
        let of = match of {
            MemoryOwner::Character { character } => MemoriesOf::Character(character.parse::<CharacterId>()?),
            MemoryOwner::Pair { character, persona } => {
                let persona = persona.map(|id| id.parse::<PersonaId>()).transpose()?.filter(|id| !id.0.is_nil());
                MemoriesOf::Pair(character.parse::<CharacterId>()?, persona)
            }
            MemoryOwner::Everybody => MemoriesOf::Everybody,
        };
        let now = self.now();
        let forgotten = self.store().write(move |store| {
            let ids = store.memories().all_of(of)?;
            untold::forget_all(store, &ids, now)?;
            Ok(ids)
        });
        let forgotten = forgotten.await?;
        self.memories_changed("");
        Ok(forgotten.iter().map(ToString::to_string).collect())
    }

    /// Undoes [`Engine::forget_memories`].
    pub async fn restore_memories(&self, memories: Vec<String>) -> Answer<()> {
        let ids = ids(&memories)?;
        let restored =
            self.store().write(move |store| ids.into_iter().try_for_each(|id| untold::remember_again(store, id)));
        restored.await?;
        self.memories_changed("");
        Ok(())
    }

    /// What memories and vectors take in the file, of all characters.
    pub async fn memory_storage(&self) -> Answer<MemoryStorage> {
        let store::MemoryStorage { memories, memory_bytes, vectors, vector_bytes, unread } =
            self.store().read(|store| store.memories().storage()).await?;
        let by_meaning = self.reading().encoder().is_some();
        Ok(MemoryStorage { memories, memory_bytes, vectors, vector_bytes, unread, by_meaning })
    }
}

fn merged(first: &Memory, second: &Memory, text: String, id: MemoryId, now: domain::Timestamp) -> Memory {
    let mut seen = HashSet::new();
    let said = [first, second].into_iter().flat_map(|memory| memory.sources.iter().chain(&memory.echoes));
    let sources = said.copied().filter(|source| seen.insert(*source)).collect();
    Memory {
        id,
        text,
        importance: first.importance.max(second.importance),
        pinned: first.pinned || second.pinned,
        sources,
        echoes: Vec::new(),
        archived: None,
        created: first.created.min(second.created),
        updated: now,
        origin: MemoryOrigin::User,
        ..first.clone()
    }
}

fn ids(written: &[String]) -> Answer<Vec<MemoryId>> {
    Ok(written.iter().map(|id| id.parse::<MemoryId>()).collect::<Result<Vec<_>, _>>()?)
}
