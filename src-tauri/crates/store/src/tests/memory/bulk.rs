//! Filters, bulk deletion and retraction of memories.

use domain::memory::{Memory, MemoryScope, MemoryType};
use domain::{ChatId, Timestamp};
use uuid::Uuid;

use crate::tests::memory::memories::{PAIR, id, learn, memory, remember};
use crate::tests::{CHARACTER, CHAT, furnished, message_id, purge, say};
use crate::{MemoryFilter, MemorySet, Query, Store};

async fn listed(store: &Store, filter: MemoryFilter) -> Vec<String> {
    let all = store
        .read(move |r| r.memories().of_character(CHARACTER, filter, 100))
        .await
        .unwrap();
    all.into_iter().map(|memory| memory.text).collect()
}

/// Lists and searches filter memories by type, scope, and whether they were made from messages.
#[tokio::test]
async fn filters_memories_by_type_scope_and_source() {
    let store = furnished().await;
    say(&store, 1, "I like tea.").await;
    learn(&store, 1, "said tea", 1).await;
    remember(&store, memory(2, MemoryScope::Profile, "wrote tea")).await;
    remember(
        &store,
        Memory {
            kind: MemoryType::Rule,
            ..memory(3, PAIR, "rule of tea")
        },
    )
    .await;
    let all = MemoryFilter::default();
    assert_eq!(listed(&store, all).await.len(), 3);
    let rules = MemoryFilter {
        kind: Some(MemoryType::Rule),
        ..all
    };
    assert_eq!(listed(&store, rules).await, ["rule of tea"]);
    let profile = MemoryFilter {
        scope: Some("profile"),
        ..all
    };
    assert_eq!(listed(&store, profile).await, ["wrote tea"]);
    let said = MemoryFilter {
        from_messages: Some(true),
        ..all
    };
    assert_eq!(listed(&store, said).await, ["said tea"]);
    let written = MemoryFilter {
        from_messages: Some(false),
        scope: Some("pair"),
        ..all
    };
    assert_eq!(listed(&store, written).await, ["rule of tea"]);
    let query = Query::any_word(["tea"]);
    let found = store
        .read(move |r| r.memories().search_of_character(CHARACTER, &query, said, 9))
        .await
        .unwrap();
    assert_eq!(
        found
            .into_iter()
            .map(|found| found.memory.text)
            .collect::<Vec<_>>(),
        ["said tea"]
    );
}

fn quote(number: u128) -> String {
    format!(
        r#"{{"kind":"fact","source":{{"type":"memory","id":"{}"}},"text":"tea"}}"#,
        id(number)
    )
}

/// Quotes memories 1 to 3 in a context block and memory 4 in the digest, and adds another chat.
async fn quote_memories(store: &Store) {
    let blocks = format!(
        r#"[{},{{"kind":"clock"}},{},{}]"#,
        quote(1),
        quote(2),
        quote(3)
    );
    let frozen = format!(r#"{{"digest":[{}],"marks":[]}}"#, quote(4));
    store
        .write(move |w| {
            w.messages_mut()
                .set_context_block(message_id(1), Some(&blocks))?;
            let window = domain::chat::WindowState {
                frozen,
                fingerprint: "f".into(),
                ..Default::default()
            };
            w.chats_mut().insert(&crate::tests::chat(
                ChatId(Uuid::from_u128(90)),
                CHARACTER,
                2,
            ))?;
            w.chats_mut().set_window(CHAT, &window)
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn bulk_retraction_clears_all_context_blocks() {
    let store = furnished().await;
    say(&store, 1, "Hm.").await;
    let persona = MemoryScope::Pair {
        character: CHARACTER,
        persona: None,
    };
    for (number, scope) in (1..).zip([
        MemoryScope::Profile,
        MemoryScope::Character(CHARACTER),
        persona,
        MemoryScope::Chat(CHAT),
    ]) {
        remember(&store, memory(number, scope, "tea")).await;
    }
    let all_of = async |of: MemorySet| store.read(move |r| r.memories().all_of(of)).await.unwrap();
    assert_eq!(
        all_of(MemorySet::Everybody).await,
        [id(1), id(2), id(3), id(4)]
    );
    assert_eq!(
        all_of(MemorySet::Character(CHARACTER)).await,
        [id(2), id(3), id(4)]
    );
    assert_eq!(all_of(MemorySet::Pair(CHARACTER, None)).await, [id(3)]);
    quote_memories(&store).await;
    store
        .write(|w| {
            w.memories_mut()
                .soft_delete_all(&[id(2), id(3), id(3)], Timestamp(9))?;
            w.memories_mut().retract_all(&[id(2).0, id(3).0].into())
        })
        .await
        .unwrap();
    let block = store
        .read(|r| r.messages().get(message_id(1)))
        .await
        .unwrap()
        .unwrap()
        .context_block
        .unwrap();
    let quotes = |number| block.contains(&id(number).to_string());
    assert!(quotes(1) && block.contains("clock"), "{block}");
    assert!(!quotes(2) && !quotes(3), "{block}");
    let chat = store.read(|r| r.chats().get(CHAT)).await.unwrap().unwrap();
    assert_eq!(chat.window.fingerprint, "");
    let stale = store.read(|r| r.stale_caches().all()).await.unwrap();
    assert_eq!(stale.chats, [CHAT], "and no other chat");
    assert_eq!(all_of(MemorySet::Everybody).await, [id(1), id(4)]);
    let storage = store.read(|r| r.memories().storage()).await.unwrap();
    assert_eq!(
        (
            storage.memories,
            storage.memory_bytes,
            storage.vectors,
            storage.queued
        ),
        (2, 6, 0, 5)
    );
}

/// Two memories share a source message. Restoring one does not end the exclusion that the other
/// requires.
#[tokio::test]
async fn exclusion_ends_when_no_memory_is_forgotten() {
    let store = furnished().await;
    say(&store, 1, "My boat is blue, and my dog is old.").await;
    learn(&store, 1, "A blue boat.", 1).await;
    learn(&store, 2, "An old dog.", 1).await;
    learn(&store, 3, "A boat and a dog.", 1).await;
    store
        .write(|w| w.memories_mut().soft_delete(id(3), Timestamp(50)))
        .await
        .unwrap();
    let told = async || {
        !store
            .read(|r| r.message_texts().at(CHAT, [0]))
            .await
            .unwrap()
            .is_empty()
    };
    let forget = async |number: u128, at: i64| {
        let forget = move |w: &mut crate::WriteTransaction<'_>| {
            w.messages_mut().exclude_sources_of(id(number))?;
            w.memories_mut().soft_delete(id(number), Timestamp(at))?;
            w.messages_mut().exclude(message_id(1))
        };
        store.write(forget).await.unwrap();
    };
    let bring_back = async |number: u128| {
        let bring_back = move |w: &mut crate::WriteTransaction<'_>| {
            w.memories_mut().restore(id(number))?;
            w.messages_mut().include_sources_of(id(number))?;
            w.messages_mut().include(message_id(1))
        };
        store.write(bring_back).await.unwrap();
    };
    forget(1, 100).await;
    forget(2, 200).await;
    bring_back(2).await;
    assert!(!told().await, "the boat is forgotten");
    bring_back(1).await;
    assert!(
        told().await,
        "the third was merged into others, and not forgotten"
    );

    forget(1, 100).await;
    purge(&store, 100).await;
    forget(2, 200).await;
    bring_back(2).await;
    assert!(!told().await, "it is forgotten for good");
    store
        .write(|w| w.messages_mut().edit(message_id(1), "My dog is old."))
        .await
        .unwrap();
    assert!(told().await);
    store.check().await.unwrap();
}

/// A retraction during the deletion of older cache files must not be lost.
#[tokio::test]
async fn a_later_stale_mark_survives_settling() {
    let store = furnished().await;
    let other = ChatId(Uuid::from_u128(90));
    store
        .write(move |w| {
            w.chats_mut()
                .insert(&crate::tests::chat(other, CHARACTER, 2))
        })
        .await
        .unwrap();
    let note = async |chat: ChatId| {
        store
            .write(move |w| w.stale_caches_mut().mark(chat))
            .await
            .unwrap()
    };
    let stale = async || store.read(|r| r.stale_caches().all()).await.unwrap();
    note(CHAT).await;
    note(other).await;
    let before = stale().await;
    assert_eq!(before.chats, [CHAT, other]);
    note(CHAT).await;
    store
        .write(move |w| w.stale_caches_mut().unmark(&before))
        .await
        .unwrap();
    let after = stale().await;
    assert_eq!(after.chats, [CHAT]);
    store
        .write(move |w| w.stale_caches_mut().unmark(&after))
        .await
        .unwrap();
    note(CHAT).await;
    assert_eq!(stale().await.chats, [CHAT], "a number is never given twice");
}
