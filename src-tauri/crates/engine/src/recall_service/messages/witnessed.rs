//! Memories as one speaker of a group scene knows them.

use std::collections::{HashMap, HashSet};

use domain::memory::{ArchivedState, Memory};
use domain::{CharacterId, LorebookId, MemoryId, Timestamp};
use store::{ChatParticipants, ReadTransaction, StoreError};
use uuid::Uuid;

use crate::library::groups::presence::Knowledge;

/// The worlds of lorebooks that belong to the speaker of a group scene alone.
pub(crate) fn own_worlds(
    store: &ReadTransaction<'_>,
    known: &Knowledge,
    company: ChatParticipants,
) -> Result<HashSet<LorebookId>, StoreError> {
    if !known.is_scene {
        return Ok(HashSet::new());
    }
    let everybody = ChatParticipants {
        character: CharacterId(Uuid::nil()),
        ..company
    };
    let shared = store.memories().worlds(everybody)?;
    let mut own: HashSet<LorebookId> = store.memories().worlds(company)?.into_iter().collect();
    own.retain(|world| !shared.contains(world));
    Ok(own)
}

/// Corrects superseded memories for a speaker who does not know what replaced them: the newest one
/// is still true for it.
pub(crate) fn as_known(
    store: &ReadTransaction<'_>,
    known: &Knowledge,
    memories: Vec<&mut Memory>,
) -> Result<(), StoreError> {
    if known.missed_nothing() {
        return Ok(());
    }
    let mut unknown = HashSet::new();
    for newer in memories.iter().filter_map(|memory| replacement(memory)) {
        if store
            .memories()
            .get(newer)?
            .is_some_and(|newer| !known.knows(&newer))
        {
            unknown.insert(newer);
        }
    }
    undo(&unknown, memories);
    Ok(())
}

fn replacement(memory: &Memory) -> Option<MemoryId> {
    memory.archived?.replaced_by
}

/// Of the memories that one of `unknown` replaces, the newest becomes active and replaces the
/// others.
fn undo(unknown: &HashSet<MemoryId>, memories: Vec<&mut Memory>) {
    let mut newest: HashMap<MemoryId, (Timestamp, MemoryId)> = HashMap::new();
    for memory in &memories {
        if let Some(by) = replacement(memory).filter(|by| unknown.contains(by)) {
            let this = (memory.created, memory.id);
            newest
                .entry(by)
                .and_modify(|newest| *newest = this.max(*newest))
                .or_insert(this);
        }
    }
    for memory in memories {
        let Some((since, id)) = replacement(memory).and_then(|by| newest.get(&by)).copied() else {
            continue;
        };
        let older = memory.archived.filter(|_| memory.id != id);
        memory.archived = older.map(|archived| ArchivedState {
            since,
            replaced_by: Some(id),
            ..archived
        });
    }
}

#[cfg(test)]
mod tests {
    use domain::memory::{ArchiveReason, MAX_CONFIDENCE, MemoryOrigin, MemoryScope, MemoryType};

    use super::*;

    fn id(number: u128) -> MemoryId {
        MemoryId(Uuid::from_u128(number))
    }

    fn superseded(number: u128, by: u128) -> Memory {
        Memory {
            id: id(number),
            kind: MemoryType::Fact,
            scope: MemoryScope::Profile,
            text: "Tom lives somewhere.".into(),
            importance: 5,
            origin: MemoryOrigin::Command,
            confidence: MAX_CONFIDENCE,
            pinned: false,
            sources: Vec::new(),
            merged_sources: Vec::new(),
            archived: Some(ArchivedState {
                reason: ArchiveReason::Superseded,
                since: Timestamp(90),
                replaced_by: Some(id(by)),
            }),
            created: Timestamp(number as i64),
            updated: Timestamp(number as i64),
        }
    }

    #[test]
    fn unheard_change_leaves_the_newest_heard_value() {
        let mut memories = [superseded(1, 9), superseded(2, 9), superseded(3, 8)];
        undo(&HashSet::from([id(9)]), memories.iter_mut().collect());
        let by = |memory: &Memory| {
            memory
                .archived
                .map(|archived| (archived.since.0, archived.replaced_by))
        };
        assert_eq!(
            memories.each_ref().map(by),
            [Some((2, Some(id(2)))), None, Some((90, Some(id(8))))]
        );
    }
}
