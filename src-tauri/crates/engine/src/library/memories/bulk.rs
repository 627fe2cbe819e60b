//! Merges two memories, and forgets many at once; both can be undone until the app ends.

use std::collections::HashSet;

use domain::MemoryId;
use domain::memory::{Memory, MemoryOrigin};
use store::MemorySet;
use uuid::Uuid;

use crate::api::{self, MemoryOwner, MemoryStorage};
use crate::base::error::{ApiResult, bad_input};
use crate::library::memories::memory::{checked, shown};
use crate::library::memories::{Memories, exclusion};

impl Memories {
    /// Replaces two memories by one with `text`. It has the sources of both, the higher importance,
    /// and the scope of the first.
    ///
    /// # Errors
    /// `NotFound` if one of them does not exist; `BadInput` if both are the same, or if the text is
    /// empty or too long.
    pub(crate) async fn merge_memories(
        &self,
        first: MemoryId,
        second: MemoryId,
        text: String,
    ) -> ApiResult<api::Memory> {
        let text = checked(&text)?;
        let (first, second) = tokio::try_join!(self.memory(first), self.memory(second))?;
        if first.id == second.id {
            return Err(bad_input(
                "A memory cannot be merged with itself.",
                "Choose a different memory.",
            ));
        }
        let now = self.base().now();
        let merged = merged(&first, &second, text, MemoryId(Uuid::now_v7()), now);
        let row = merged.clone();
        let parts = [first.id, second.id];
        self.base()
            .store()
            .write(move |store| {
                // The merged memory still uses these source messages, so they stay searchable.
                let parts = exclusion::with_merged(store, &parts)?;
                store.memories_mut().soft_delete_all(&parts, now)?;
                store
                    .memories_mut()
                    .retract_all(&parts.iter().map(|id| id.0).collect())?;
                store.memories_mut().insert(&row)?;
                store.memories_mut().replace_superseding(&parts, row.id)
            })
            .await?;
        self.memories_changed(None);
        Ok(shown(merged, None))
    }

    /// Undoes [`Engine::merge_memories`].
    pub(crate) async fn unmerge_memories(
        &self,
        merged: MemoryId,
        parts: Vec<MemoryId>,
    ) -> ApiResult<()> {
        let now = self.base().now();
        self.base()
            .store()
            .write(move |store| {
                parts
                    .iter()
                    .try_for_each(|id| store.memories_mut().restore(*id).map(drop))?;
                // A memory that the merged one had superseded is now superseded by its first part.
                parts
                    .first()
                    .map(|part| store.memories_mut().replace_superseding(&[merged], *part))
                    .transpose()?;
                store.memories_mut().soft_delete(merged, now)?;
                store.memories_mut().retract(merged.0)
            })
            .await?;
        self.memories_changed(None);
        Ok(())
    }

    /// Forgets all memories of a character, of a pair, of a chat or of everybody, as
    /// [`Self::delete_memory`] does with one. Returns their ids.
    pub(crate) async fn forget_memories(&self, of: MemoryOwner) -> ApiResult<Vec<MemoryId>> {
        let of = match of {
            MemoryOwner::Character { character } => MemorySet::Character(character),
            MemoryOwner::Pair { character, persona } => {
                let persona = persona.filter(|id| !id.0.is_nil());
                MemorySet::Pair(character, persona)
            }
            MemoryOwner::Chat { chat } => MemorySet::Chat(self.chat_lookup.chat(chat).await?.id),
            MemoryOwner::Everybody => MemorySet::Everybody,
        };
        let now = self.base().now();
        let forgotten = self.base().store().write(move |store| {
            let ids = store.memories().all_of(of)?;
            exclusion::forget_all(store, &ids, now)?;
            Ok(ids)
        });
        let forgotten = forgotten.await?;
        self.memories_changed(None);
        Ok(forgotten)
    }

    /// Undoes [`Self::forget_memories`].
    pub(crate) async fn restore_memories(&self, memories: Vec<MemoryId>) -> ApiResult<()> {
        let restored = self.base().store().write(move |store| {
            memories
                .into_iter()
                .try_for_each(|id| exclusion::remember_again(store, id))
        });
        restored.await?;
        self.memories_changed(None);
        Ok(())
    }

    /// The size of all memories and vectors in the database.
    pub(crate) async fn memory_storage(&self) -> ApiResult<MemoryStorage> {
        let store::MemoryStorage {
            memories,
            memory_bytes,
            vectors,
            vector_bytes,
            queued: unread,
        } = self
            .base()
            .store()
            .read(|store| store.memories().storage())
            .await?;
        let by_meaning = self.config().app_settings.encoder_model().is_some();
        Ok(MemoryStorage {
            memories,
            memory_bytes,
            vectors,
            vector_bytes,
            unread,
            by_meaning,
        })
    }
}

fn merged(
    first: &Memory,
    second: &Memory,
    text: String,
    id: MemoryId,
    now: domain::Timestamp,
) -> Memory {
    let mut seen = HashSet::new();
    let said = [first, second]
        .into_iter()
        .flat_map(|memory| memory.sources.iter().chain(&memory.merged_sources));
    let sources = said
        .copied()
        .filter(|source| seen.insert(*source))
        .collect();
    Memory {
        id,
        text,
        importance: first.importance.max(second.importance),
        pinned: first.pinned || second.pinned,
        sources,
        merged_sources: Vec::new(),
        archived: None,
        created: first.created.min(second.created),
        updated: now,
        origin: MemoryOrigin::User,
        ..first.clone()
    }
}
