//! Archived memories, and when they become active again.

use domain::memory::{
    ArchiveReason, ArchivedState, MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType,
};
use domain::{MemoryId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHARACTER, furnished, message_id, purge, say};
use crate::{MemoryFilter, Query, Store};

const PAIR: MemoryScope = MemoryScope::Pair {
    character: CHARACTER,
    persona: None,
};

fn id(number: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(number))
}

/// A memory made from the message `number`.
fn memory(number: u128, text: &str, importance: u8) -> Memory {
    Memory {
        id: id(number),
        kind: MemoryType::Fact,
        scope: PAIR,
        text: text.into(),
        importance,
        origin: MemoryOrigin::Model,
        confidence: MAX_CONFIDENCE,
        pinned: false,
        sources: vec![message_id(number)],
        merged_sources: Vec::new(),
        archived: None,
        created: Timestamp(number as i64),
        updated: Timestamp(number as i64),
    }
}

/// Three memories, each made from its own message.
async fn three() -> Store {
    let store = furnished().await;
    for (number, text, importance) in [
        (1, "lives in Lisbon", 9),
        (2, "lives in Porto", 5),
        (3, "has a home in Porto", 7),
    ] {
        say(&store, number, text).await;
        store
            .write(move |w| w.memories_mut().insert(&memory(number, text, importance)))
            .await
            .unwrap();
    }
    store
}

async fn archive(store: &Store, number: u128, why: ArchiveReason, by: Option<u128>) -> bool {
    store
        .write(move |w| {
            let known = w.memories().get(id(number))?.unwrap();
            w.memories_mut().archive(
                &known,
                ArchivedState {
                    reason: why,
                    since: Timestamp(50),
                    replaced_by: by.map(id),
                },
            )
        })
        .await
        .unwrap()
}

async fn active(store: &Store) -> Vec<u128> {
    let found = store
        .read(|r| r.memories().active(PAIR, 100))
        .await
        .unwrap();
    let mut found: Vec<u128> = found
        .into_iter()
        .map(|memory| memory.id.0.as_u128())
        .collect();
    found.sort_unstable();
    found
}

async fn archived(store: &Store) -> Vec<u128> {
    let filter = MemoryFilter {
        archived: true,
        ..MemoryFilter::default()
    };
    let found = store
        .read(move |r| r.memories().of_character(CHARACTER, filter, 100))
        .await
        .unwrap();
    found
        .into_iter()
        .map(|memory| memory.id.0.as_u128())
        .collect()
}

async fn one(store: &Store, number: u128) -> Memory {
    store
        .read(move |r| r.memories().get(id(number)))
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn merging_moves_sources_and_importance() {
    let store = three().await;
    assert!(archive(&store, 3, ArchiveReason::Merged, Some(2)).await);
    assert_eq!(
        (active(&store).await, archived(&store).await),
        (vec![1, 2], vec![3])
    );
    let whole = one(&store, 2).await;
    assert_eq!(
        (whole.sources, whole.merged_sources, whole.importance),
        (vec![message_id(2)], vec![message_id(3)], 7)
    );
    // Without message 2, memory 2 is invalid, so memory 3 is active again.
    store
        .write(|w| w.messages_mut().soft_delete(message_id(2), Timestamp(60)))
        .await
        .unwrap();
    assert_eq!(
        (active(&store).await, archived(&store).await),
        (vec![1, 3], vec![])
    );
    store
        .write(|w| w.messages_mut().restore(&[message_id(2)]))
        .await
        .unwrap();
    assert_eq!(active(&store).await, [1, 2]);
    store
        .write(|w| w.messages_mut().soft_delete(message_id(3), Timestamp(60)))
        .await
        .unwrap();
    assert!(
        one(&store, 2).await.merged_sources.is_empty(),
        "it does not depend on echoes"
    );
    store
        .write(|w| w.messages_mut().soft_delete(message_id(2), Timestamp(60)))
        .await
        .unwrap();
    purge(&store, 60).await;
    assert_eq!(active(&store).await, [1]);
    store.check().await.unwrap();
}

#[tokio::test]
async fn purging_a_replacement_reactivates_the_old_memory() {
    let store = three().await;
    archive(&store, 1, ArchiveReason::Superseded, Some(2)).await;
    archive(&store, 3, ArchiveReason::Merged, Some(2)).await;
    store
        .write(|w| w.memories_mut().soft_delete(id(2), Timestamp(60)))
        .await
        .unwrap();
    assert_eq!(active(&store).await, [1, 3]);
    purge(&store, 60).await;
    assert_eq!(
        (active(&store).await, one(&store, 1).await.archived),
        (vec![1, 3], None)
    );
}

#[tokio::test]
async fn search_finds_superseded_but_not_other_archived() {
    let store = three().await;
    let found = async || {
        let query = Query::any_word(["lives", "home"]);
        let found = store
            .read(move |r| r.memories().search(&[PAIR], &query, 9))
            .await
            .unwrap();
        let mut found: Vec<u128> = found
            .into_iter()
            .map(|found| found.memory.id.0.as_u128())
            .collect();
        found.sort_unstable();
        found
    };
    archive(&store, 1, ArchiveReason::Superseded, Some(2)).await;
    assert_eq!(found().await, [1, 2, 3]);
    let older = one(&store, 1).await.archived.unwrap();
    assert_eq!(
        (older.reason, older.since, older.replaced_by),
        (ArchiveReason::Superseded, Timestamp(50), Some(id(2)))
    );
    for why in [
        ArchiveReason::Merged,
        ArchiveReason::Retired,
        ArchiveReason::Crowded,
    ] {
        archive(
            &store,
            3,
            why,
            Some(2).filter(|_| why == ArchiveReason::Merged),
        )
        .await;
        assert_eq!(
            (found().await, archived(&store).await.len()),
            (vec![1, 2], 2),
            "{why:?}"
        );
    }
}

#[tokio::test]
async fn an_unarchived_memory_is_active_and_kept() {
    let store = three().await;
    archive(&store, 3, ArchiveReason::Merged, Some(2)).await;
    store
        .write(|w| w.memories_mut().unarchive(id(3)))
        .await
        .unwrap();
    assert_eq!(
        (active(&store).await, one(&store, 2).await.importance),
        (vec![1, 2, 3], 5)
    );
    let all = store.read(|r| r.memories().all_active(PAIR)).await.unwrap();
    assert_eq!(
        all.iter()
            .map(|each| each.unarchived_by_user)
            .collect::<Vec<_>>(),
        [false, false, true]
    );
    assert!(
        store
            .write(|w| w.memories_mut().unarchive(id(9)))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_changed_memory_is_not_archived() {
    let store = three().await;
    let known = one(&store, 3).await;
    let to = |by: u128| ArchivedState {
        reason: ArchiveReason::Merged,
        since: Timestamp(50),
        replaced_by: Some(id(by)),
    };
    let try_it = async |by| {
        let known = known.clone();
        store
            .write(move |w| w.memories_mut().archive(&known, to(by)))
            .await
            .unwrap()
    };
    assert!(!try_it(9).await, "there is no such memory");
    store
        .write(|w| w.memories_mut().update(&memory(3, "has a home in Faro", 7)))
        .await
        .unwrap();
    assert!(!try_it(2).await, "it says something else by now");
    store
        .write(|w| {
            w.memories_mut().update(&Memory {
                pinned: true,
                ..memory(3, "has a home in Porto", 7)
            })
        })
        .await
        .unwrap();
    assert!(!try_it(2).await, "it is pinned");
}

/// Forgetting a memory hides those merged into it. Undoing it restores both.
#[tokio::test]
async fn memories_hidden_together_are_restored_together() {
    let store = three().await;
    archive(&store, 3, ArchiveReason::Merged, Some(2)).await;
    archive(&store, 2, ArchiveReason::Merged, Some(1)).await;
    assert_eq!(
        one(&store, 1).await.merged_sources,
        [message_id(2), message_id(3)]
    );
    let merged = store
        .read(|r| r.memories().merged_into(id(1)))
        .await
        .unwrap();
    assert_eq!(merged, [id(2), id(3)]);
    store
        .write(|w| {
            w.memories_mut()
                .soft_delete_all(&[id(1), id(2), id(3)], Timestamp(60))
        })
        .await
        .unwrap();
    assert_eq!(
        (active(&store).await, archived(&store).await),
        (vec![], vec![])
    );
    let mut back = store
        .write(|w| w.memories_mut().restore(id(1)))
        .await
        .unwrap();
    back.sort();
    assert_eq!(
        (back, active(&store).await),
        (vec![id(1), id(2), id(3)], vec![1])
    );
}
