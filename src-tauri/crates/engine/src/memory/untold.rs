//! Forgetting a memory, and the words it was made from with it: what was said is still in its chat, but no prompt is told of it
//! again (memory.md, group G). What was merged into it says the same, so it goes with it; and so does what a model made of the
//! stretch in which it was said; where that is still in reach, it is summed up anew without it. Who forgets a summary forgets what
//! the model said, and not the twenty messages that it said it of.

use std::collections::HashSet;

use domain::memory::{Memory, MemoryOrigin};
use domain::{MemoryId, MessageId, Timestamp};
use store::{StoreError, Write};
use uuid::Uuid;

/// Until [`remember_again`].
pub(super) fn forget(store: &mut Write<'_>, id: MemoryId, now: Timestamp) -> Result<(), StoreError> {
    let ids = with_merged(store, &[id])?;
    // All are read before any goes: a summary of the same messages goes with the first of them.
    let known = known(store, &ids)?;
    store.memories_mut().soft_delete(id, now)?;
    store.memories_mut().soft_delete_all(&ids, now)?;
    let mut quoted: HashSet<Uuid> = ids.iter().map(|id| id.0).collect();
    let (summaries, others): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|memory| memory.origin == MemoryOrigin::Keyframe);
    summaries.iter().try_for_each(|summary| store.keyframes_mut().forget_summary(summary.id))?;
    summaries.iter().try_for_each(|summary| note_caches(store, &summary.sources))?;
    ids.iter().try_for_each(|id| store.messages_mut().forget_words_of(*id))?;
    for message in others.into_iter().flat_map(|memory| memory.sources) {
        note_caches(store, &[message])?;
        store.messages_mut().tell_no_more(message)?;
        quoted.extend(forget_summaries(store, message, now)?.into_iter().map(|id| id.0));
        // As an excerpt it may stand in a context block as well.
        quoted.insert(message.0);
    }
    store.memories_mut().withdraw_all(&quoted)
}

/// [`forget`] for many, in one walk through the chats, and with the words that were summed up: nothing is to be left.
pub(super) fn forget_all(store: &mut Write<'_>, ids: &[MemoryId], now: Timestamp) -> Result<(), StoreError> {
    let ids = with_merged(store, ids)?;
    let mut quoted: HashSet<Uuid> = ids.iter().map(|id| id.0).collect();
    for message in known(store, &ids)?.into_iter().flat_map(|memory| memory.sources) {
        note_caches(store, &[message])?;
        store.messages_mut().tell_no_more(message)?;
        quoted.extend(forget_summaries(store, message, now)?.into_iter().map(|id| id.0));
        quoted.insert(message.0);
    }
    ids.iter().try_for_each(|id| store.messages_mut().forget_words_of(*id))?;
    store.memories_mut().soft_delete_all(&ids, now)?;
    store.memories_mut().withdraw_all(&quoted)
}

/// Where that was said: a digest there that sums it up goes with the summary, and what a model has read of it with its file.
fn note_caches(store: &mut Write<'_>, messages: &[MessageId]) -> Result<(), StoreError> {
    messages.iter().try_for_each(|message| store.stale_caches_mut().note_chat_of(*message))
}

fn known(store: &Write<'_>, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    let known: Vec<Option<Memory>> = ids.iter().map(|id| store.memories().get(*id)).collect::<Result<_, _>>()?;
    Ok(known.into_iter().flatten().collect())
}

/// The memories that keyframes over a message were kept as.
fn forget_summaries(store: &mut Write<'_>, message: MessageId, now: Timestamp) -> Result<Vec<MemoryId>, StoreError> {
    let mut forgotten = Vec::new();
    for id in store.memories_mut().made_from(message)? {
        let known = store.memories().get(id)?;
        if known.is_some_and(|memory| memory.origin == MemoryOrigin::Keyframe) {
            store.memories_mut().soft_delete(id, now)?;
            forgotten.push(id);
        }
    }
    Ok(forgotten)
}

/// Those, and what was merged into them.
pub(super) fn with_merged(store: &Write<'_>, ids: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError> {
    let mut all = ids.to_vec();
    for id in ids {
        all.extend(store.memories().merged_into(*id)?);
    }
    Ok(all)
}

pub(super) fn remember_again(store: &mut Write<'_>, id: MemoryId) -> Result<(), StoreError> {
    let forgotten = store.memories().forgotten_at(id)?;
    let restored = store.memories_mut().restore(id)?;
    restored.iter().try_for_each(|id| store.messages_mut().remember_words_of(*id))?;
    forgotten.map(|at| store.memories_mut().restore_summaries(id, at)).transpose()?;
    for id in restored {
        // One of them may be gone meanwhile, and the memory with it; the others are there.
        let sources = store.memories_mut().sources_of(id)?;
        sources.into_iter().try_for_each(|message| store.messages_mut().tell_again(message))?;
    }
    Ok(())
}
