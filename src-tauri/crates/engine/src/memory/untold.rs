//! Forgetting a memory, and the words it was made from with it: what was said is still in its chat, but no prompt is told of it
//! again (memory.md, group G).

use std::collections::HashSet;

use domain::{MemoryId, Timestamp};
use store::{StoreError, Write};
use uuid::Uuid;

/// Until [`remember_again`].
pub(super) fn forget(store: &mut Write<'_>, id: MemoryId, now: Timestamp) -> Result<(), StoreError> {
    let known = store.memories().get(id)?;
    store.memories_mut().soft_delete(id, now)?;
    store.memories_mut().withdraw(id.0)?;
    for message in known.into_iter().flat_map(|memory| memory.sources) {
        store.messages_mut().tell_no_more(message)?;
        // As an excerpt it may stand in a context block as well.
        store.memories_mut().withdraw(message.0)?;
    }
    Ok(())
}

/// [`forget`] for many, in one walk through the chats.
pub(super) fn forget_all(store: &mut Write<'_>, ids: &[MemoryId], now: Timestamp) -> Result<(), StoreError> {
    let mut quoted: HashSet<Uuid> = ids.iter().map(|id| id.0).collect();
    for id in ids {
        let known = store.memories().get(*id)?;
        for message in known.into_iter().flat_map(|memory| memory.sources) {
            store.messages_mut().tell_no_more(message)?;
            quoted.insert(message.0);
        }
    }
    store.memories_mut().soft_delete_all(ids, now)?;
    store.memories_mut().withdraw_all(&quoted)
}

pub(super) fn remember_again(store: &mut Write<'_>, id: MemoryId) -> Result<(), StoreError> {
    store.memories_mut().restore(id)?;
    let known = store.memories().get(id)?;
    let mut sources = known.into_iter().flat_map(|memory| memory.sources);
    sources.try_for_each(|message| store.messages_mut().tell_again(message))
}
