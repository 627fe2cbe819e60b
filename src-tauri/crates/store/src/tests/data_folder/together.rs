//! Concurrent reads, writes and backups, and failing closures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::chat::Role;

use crate::tests::{CHAT, furnished, message, message_id, say, shown};
use crate::{Store, StoreError};

/// Each transaction writes two messages, so an odd number would reveal a partial transaction.
async fn write_pairs(store: Store, from: u128, pairs: u128) {
    for pair in 0..pairs {
        let first = from + 2 * pair;
        store
            .write(move |w| {
                w.messages_mut()
                    .append(&message(first, Role::User, "question"))?;
                w.messages_mut()
                    .append(&message(first + 1, Role::Character, "answer"))
            })
            .await
            .unwrap();
    }
}

async fn read_until(store: Store, done: Arc<AtomicBool>) -> u32 {
    let mut reads = 0;
    while !done.load(Ordering::Relaxed) {
        let (count, messages) = store
            .read(|r| {
                Ok((
                    r.messages().count(CHAT)?,
                    r.messages().page(CHAT, None, u32::MAX)?,
                ))
            })
            .await
            .unwrap();
        assert_eq!(count as usize, messages.len());
        assert!(count.is_multiple_of(2));
        reads += 1;
    }
    reads
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_access_never_reports_locked() {
    let store = furnished().await;
    let done = Arc::new(AtomicBool::new(false));
    let readers = [0, 1].map(|_| tokio::spawn(read_until(store.clone(), Arc::clone(&done))));
    let writers = [1_000, 10_000].map(|from| tokio::spawn(write_pairs(store.clone(), from, 100)));
    for now in 0..5 {
        store
            .backup(domain::Timestamp(now), crate::BackupKind::ByHand)
            .await
            .unwrap();
    }
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.unwrap() > 0);
    }
    assert_eq!(shown(&store).await.len(), 400);
    store.check().await.unwrap();
}

#[tokio::test]
async fn a_failed_closure_leaves_nothing_behind() {
    let store = furnished().await;
    let failed: Result<(), _> = store
        .write(|w| {
            w.messages_mut().append(&message(1, Role::User, "half"))?;
            assert_eq!(w.messages().count(CHAT)?, 1);
            Err(StoreError::NotFound { what: "courage" })
        })
        .await;
    assert!(matches!(
        failed,
        Err(StoreError::NotFound { what: "courage" })
    ));
    assert!(shown(&store).await.is_empty());
}

#[tokio::test]
async fn a_panic_in_a_closure_fails_its_caller_only() {
    let store = furnished().await;
    let failed: Result<(), _> = store
        .write(|w| {
            w.messages_mut().append(&message(1, Role::User, "half"))?;
            panic!("a bug");
        })
        .await;
    assert!(matches!(failed, Err(StoreError::Closed)));
    say(&store, 2, "on we go").await;
    assert_eq!(shown(&store).await, ["on we go"]);
}

#[tokio::test]
async fn writes_run_in_call_order_even_if_not_awaited() {
    let store = furnished().await;
    for number in 1..=20 {
        drop(store.write(move |w| {
            w.messages_mut()
                .append(&message(number, Role::User, &number.to_string()))
        }));
    }
    say(&store, 21, "21").await;
    let expected: Vec<_> = (1..=21).map(|number| number.to_string()).collect();
    assert_eq!(shown(&store).await, expected);
}

#[tokio::test]
async fn closing_finishes_queued_work() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::tests::open(dir.path()).store;
    crate::tests::create_library(&store).await;
    let pending = store.write(|w| {
        w.messages_mut()
            .append(&message(1, Role::User, "last words"))
    });
    drop(store);
    assert_eq!(pending.await.unwrap().id, message_id(1));
    let reopened = crate::tests::open(dir.path());
    assert_eq!(shown(&reopened.store).await, ["last words"]);
    assert!(reopened.notices.is_empty());
}
