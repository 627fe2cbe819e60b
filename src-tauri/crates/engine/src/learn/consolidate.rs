//! Runs the consolidation of memories: in idle time at most once a day, and on demand.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::memory::{ArchiveReason, ArchivedState, Memory, MemoryScope};
use domain::{MemoryId, Timestamp};
use recall::tokens::words;
use store::{EmbeddingGroup, ReadTransaction, StoreError, WriteTransaction};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::{Changed, Consolidation};
use crate::base::error::ApiResult;
use crate::learn::consolidation::{MOST, PlanInputs, is_old_and_unsure, plan};
use crate::learn::handle::Learning;
use crate::library::memories::memory::shown;
use crate::recall_service::messages::branches::are_apart;

/// Setting with the time of the last run, in milliseconds.
const DONE: &str = "memories_consolidated";
/// Minimum time between two automatic runs, in milliseconds.
const MIN_INTERVAL: i64 = 86_400_000;

/// Embeddings by the numbers of memories.
type VectorsById = Arc<HashMap<i64, Vec<f32>>>;

impl Learning {
    /// Consolidates all memories now and returns what was archived, and why.
    pub(crate) async fn consolidate_memories(&self) -> ApiResult<Consolidation> {
        self.consolidate(&CancellationToken::new()).await
    }

    /// Restores archived memories. From then on only the user can archive them.
    pub(crate) async fn unarchive_memories(&self, memories: Vec<MemoryId>) -> ApiResult<()> {
        let restored = move |store: &mut WriteTransaction<'_>| {
            memories
                .into_iter()
                .try_for_each(|id| store.memories_mut().unarchive(id))
        };
        self.base().store().write(restored).await?;
        self.library().memories.memories_changed(None);
        Ok(())
    }

    /// [`Self::consolidate_memories`], unless it ran within a day.
    pub(crate) async fn consolidate_daily(&self, leave: &CancellationToken) -> ApiResult<()> {
        let done = self
            .base()
            .store()
            .read(|store| store.settings().get(DONE))
            .await?;
        let done = done.and_then(|at| at.parse::<i64>().ok());
        let now = self.base().now().0;
        if done.is_none_or(|done| now - done >= MIN_INTERVAL || done > now) {
            self.consolidate(leave).await?;
        }
        Ok(())
    }

    /// Consolidates a scope that has more than [`MOST`] memories.
    pub(crate) async fn keep_to_most(&self, scope: MemoryScope) -> ApiResult<()> {
        let count = self
            .base()
            .store()
            .read(move |store| store.memories().count_active(scope))
            .await?;
        if count as usize > MOST {
            self.consolidate_scope(scope, Arc::default()).await?;
        }
        Ok(())
    }

    /// Consolidates scope by scope; stops between two scopes if `leave` is cancelled.
    async fn consolidate(&self, leave: &CancellationToken) -> ApiResult<Consolidation> {
        let model = self
            .recall_service()
            .reading()
            .encoder()
            .map(|encoder| encoder.model().to_owned());
        let read = move |store: &ReadTransaction<'_>| {
            Ok((
                store.memories().scopes()?,
                vectors(store, model.as_deref())?,
            ))
        };
        let (scopes, vectors) = self.base().store().read(read).await?;
        let vectors = Arc::new(vectors);
        let mut all = Consolidation::default();
        for scope in scopes {
            if leave.is_cancelled() {
                return Ok(all);
            }
            for memory in self.consolidate_scope(scope, Arc::clone(&vectors)).await? {
                tell(&mut all, memory);
            }
        }
        let now = self.base().now().0.to_string();
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(DONE, &now))
            .await?;
        Ok(all)
    }

    async fn consolidate_scope(
        &self,
        scope: MemoryScope,
        vectors: VectorsById,
    ) -> ApiResult<Vec<Memory>> {
        let user = self.user_of(scope).await?;
        let now = self.base().now();
        let planned = self
            .base()
            .store()
            .read(move |store| planned(store, scope, (user, vectors, now)))
            .await?;
        if planned.is_empty() {
            return Ok(Vec::new());
        }
        let archived = self
            .base()
            .store()
            .write(move |store| archive(store, planned))
            .await?;
        self.base().events().changed(Changed::Memories, None);
        Ok(archived)
    }

    /// The words of the user's name in that scope.
    async fn user_of(&self, scope: MemoryScope) -> ApiResult<Vec<String>> {
        let persona = match scope {
            MemoryScope::Pair { persona, .. } => persona,
            MemoryScope::Chat(chat) => {
                let chat = self
                    .base()
                    .store()
                    .read(move |store| store.chats().get(chat))
                    .await?;
                chat.and_then(|chat| chat.persona)
            }
            MemoryScope::Profile | MemoryScope::Character(_) | MemoryScope::World(_) => None,
        };
        Ok(words(&self.library().personas.persona_of(persona).await?.name).collect())
    }
}

fn planned(
    store: &ReadTransaction<'_>,
    scope: MemoryScope,
    (user, vectors, now): (Vec<String>, VectorsById, Timestamp),
) -> Result<Vec<(Memory, ArchivedState)>, StoreError> {
    let standing = store.memories().all_active(scope)?;
    let vectors = standing
        .iter()
        .filter_map(|each| Some((each.number, vectors.get(&each.number)?.clone())))
        .collect();
    // The lookup reads every message, so it runs only if needed.
    let called_up = if standing
        .iter()
        .any(|each| is_old_and_unsure(&each.memory, now))
    {
        store.memories().recalled()?
    } else {
        HashSet::new()
    };
    let mut unknown_to = HashMap::new();
    for each in &standing {
        let missing = store.groups().absent_from(&each.memory.sources)?;
        if !missing.is_empty() {
            unknown_to.insert(each.number, missing);
        }
    }
    let around = PlanInputs {
        user,
        vectors,
        called_up,
        unknown_to,
        now,
    };
    let mut planned = Vec::new();
    for (memory, archived) in plan(&standing, &around, MOST) {
        let by = archived
            .replaced_by
            .filter(|_| archived.reason == ArchiveReason::Superseded);
        let newer = standing
            .iter()
            .map(|each| &each.memory)
            .find(|newer| Some(newer.id) == by);
        if !newer.map_or(Ok(false), |newer| are_apart(store, &memory, newer))? {
            planned.push((memory, archived));
        }
    }
    Ok(planned)
}

/// Archives the memories. Superseded ones are wrong, so they are also removed from stored context
/// blocks and digests. The others are only not recalled again.
fn archive(
    store: &mut WriteTransaction<'_>,
    planned: Vec<(Memory, ArchivedState)>,
) -> Result<Vec<Memory>, StoreError> {
    let mut done = Vec::new();
    let mut wrong = HashSet::<Uuid>::new();
    for (memory, archived) in planned {
        if store.memories_mut().archive(&memory, archived)? {
            if archived.reason == ArchiveReason::Superseded {
                wrong.insert(memory.id.0);
            }
            done.push(Memory {
                archived: Some(archived),
                ..memory
            });
        }
    }
    if !wrong.is_empty() {
        store.memories_mut().retract_all(&wrong)?;
    }
    Ok(done)
}

/// Embeddings of the memories that consist of one part.
fn vectors(
    store: &ReadTransaction<'_>,
    model: Option<&str>,
) -> Result<HashMap<i64, Vec<f32>>, StoreError> {
    let Some(model) = model else {
        return Ok(HashMap::new());
    };
    let mut vectors = HashMap::new();
    let mut of_parts = HashSet::new();
    for part in store
        .item_embeddings()
        .of(EmbeddingGroup::Memories, model)?
    {
        let vector = part
            .vector
            .iter()
            .map(|number| f32::from(*number) * part.scale)
            .collect();
        if vectors.insert(part.owner, vector).is_some() {
            of_parts.insert(part.owner);
        }
    }
    vectors.retain(|owner, _| !of_parts.contains(owner));
    Ok(vectors)
}

fn tell(all: &mut Consolidation, memory: Memory) {
    let Some(archived) = memory.archived else {
        return;
    };
    let list = match archived.reason {
        ArchiveReason::Merged => &mut all.merged,
        ArchiveReason::Superseded => &mut all.superseded,
        ArchiveReason::Retired => &mut all.retired,
        ArchiveReason::Crowded => &mut all.crowded,
    };
    list.push(shown(memory, None));
}
