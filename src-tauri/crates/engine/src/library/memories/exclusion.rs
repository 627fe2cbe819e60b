//! Forgets memories and excludes their source messages from recall. The messages stay in their
//! chat, but no prompt contains them again outside the window. Memories that were merged into a
//! forgotten one are forgotten too, and so are summaries of the messages; recent messages are
//! summarized again without the excluded ones. Forgetting a summary does not exclude the messages
//! that it summarizes.

use std::collections::HashSet;

use domain::memory::{Memory, MemoryOrigin};
use domain::{MemoryId, MessageId, Timestamp};
use store::{StoreError, WriteTransaction};
use uuid::Uuid;

/// Forgets a memory until [`remember_again`].
pub(crate) fn forget(
    store: &mut WriteTransaction<'_>,
    id: MemoryId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let ids = with_merged(store, &[id])?;
    // All are read first, because deleting one also deletes a summary of the same messages.
    let known = known(store, &ids)?;
    store.memories_mut().soft_delete(id, now)?;
    store.memories_mut().soft_delete_all(&ids, now)?;
    let mut quoted: HashSet<Uuid> = ids.iter().map(|id| id.0).collect();
    let (summaries, others): (Vec<_>, Vec<_>) = known
        .into_iter()
        .partition(|memory| memory.origin == MemoryOrigin::Keyframe);
    summaries
        .iter()
        .try_for_each(|summary| store.keyframes_mut().forget_summary(summary.id))?;
    summaries
        .iter()
        .try_for_each(|summary| note_caches(store, &summary.sources))?;
    ids.iter()
        .try_for_each(|id| store.messages_mut().exclude_sources_of(*id))?;
    for message in others.into_iter().flat_map(|memory| memory.sources) {
        note_caches(store, &[message])?;
        store.messages_mut().exclude(message)?;
        quoted.extend(
            forget_summaries(store, message, now)?
                .into_iter()
                .map(|id| id.0),
        );
        // A context block may also quote the message as an excerpt.
        quoted.insert(message.0);
    }
    store.memories_mut().retract_all(&quoted)
}

/// [`forget`] for many memories in one pass through the chats. It also excludes the messages of
/// summaries, so that nothing is left.
pub(crate) fn forget_all(
    store: &mut WriteTransaction<'_>,
    ids: &[MemoryId],
    now: Timestamp,
) -> Result<(), StoreError> {
    let ids = with_merged(store, ids)?;
    let mut quoted: HashSet<Uuid> = ids.iter().map(|id| id.0).collect();
    for message in known(store, &ids)?
        .into_iter()
        .flat_map(|memory| memory.sources)
    {
        note_caches(store, &[message])?;
        store.messages_mut().exclude(message)?;
        quoted.extend(
            forget_summaries(store, message, now)?
                .into_iter()
                .map(|id| id.0),
        );
        quoted.insert(message.0);
    }
    ids.iter()
        .try_for_each(|id| store.messages_mut().exclude_sources_of(*id))?;
    store.memories_mut().soft_delete_all(&ids, now)?;
    store.memories_mut().retract_all(&quoted)
}

/// Marks the chats of `messages`: a digest with the summary is discarded, and so is a saved state
/// of a model that has read it.
fn note_caches(store: &mut WriteTransaction<'_>, messages: &[MessageId]) -> Result<(), StoreError> {
    messages
        .iter()
        .try_for_each(|message| store.stale_caches_mut().mark_chat_of(*message))
}

fn known(store: &WriteTransaction<'_>, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    let known: Vec<Option<Memory>> = ids
        .iter()
        .map(|id| store.memories().get(*id))
        .collect::<Result<_, _>>()?;
    Ok(known.into_iter().flatten().collect())
}

/// Forgets the memories of keyframes that cover a message.
fn forget_summaries(
    store: &mut WriteTransaction<'_>,
    message: MessageId,
    now: Timestamp,
) -> Result<Vec<MemoryId>, StoreError> {
    let mut forgotten = Vec::new();
    for id in store.memories_mut().ids_by_source_message(message)? {
        let known = store.memories().get(id)?;
        if known.is_some_and(|memory| memory.origin == MemoryOrigin::Keyframe) {
            store.memories_mut().soft_delete(id, now)?;
            forgotten.push(id);
        }
    }
    Ok(forgotten)
}

/// `ids`, and the memories that were merged into them.
pub(crate) fn with_merged(
    store: &WriteTransaction<'_>,
    ids: &[MemoryId],
) -> Result<Vec<MemoryId>, StoreError> {
    let mut all = ids.to_vec();
    for id in ids {
        all.extend(store.memories().merged_into(*id)?);
    }
    Ok(all)
}

pub(crate) fn remember_again(
    store: &mut WriteTransaction<'_>,
    id: MemoryId,
) -> Result<(), StoreError> {
    let forgotten = store.memories().forgotten_at(id)?;
    let restored = store.memories_mut().restore(id)?;
    restored
        .iter()
        .try_for_each(|id| store.messages_mut().include_sources_of(*id))?;
    forgotten
        .map(|at| store.memories_mut().restore_summaries(id, at))
        .transpose()?;
    for id in restored {
        // A source may be deleted by now, and its memory with it; the others are restored.
        let sources = store.memories_mut().sources_of(id)?;
        sources
            .into_iter()
            .try_for_each(|message| store.messages_mut().include(message))?;
    }
    Ok(())
}
