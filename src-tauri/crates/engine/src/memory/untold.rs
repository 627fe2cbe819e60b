//! Forgetting a memory, and the words it was made from with it: what was said is still in its chat, but no prompt is told of it
//! again (memory.md, group G).

use domain::{MemoryId, Timestamp};
use store::{StoreError, Write};

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

pub(super) fn remember_again(store: &mut Write<'_>, id: MemoryId) -> Result<(), StoreError> {
    store.memories_mut().restore(id)?;
    let known = store.memories().get(id)?;
    let mut sources = known.into_iter().flat_map(|memory| memory.sources);
    sources.try_for_each(|message| store.messages_mut().tell_again(message))
}
