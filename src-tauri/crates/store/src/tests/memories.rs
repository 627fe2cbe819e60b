//! Memories: storage, search and deletion.

use domain::chat::{Role, SwipeState};
use domain::memory::{MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, MemoryId, PersonaId, Timestamp};
use uuid::Uuid;

use super::{CHARACTER, CHAT, emptied, furnished, message, message_id, say, swipe_id};
use crate::{MemoryFilter, MemorySet, NewSwipe, Query, Store};

const PAIR: MemoryScope = MemoryScope::Pair {
    character: CHARACTER,
    persona: None,
};

fn id(number: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(number))
}

pub(super) fn memory(number: u128, scope: MemoryScope, text: &str) -> Memory {
    Memory {
        id: id(number),
        kind: MemoryType::Fact,
        scope,
        text: text.into(),
        importance: 5,
        origin: MemoryOrigin::Model,
        confidence: MAX_CONFIDENCE,
        merged_sources: Vec::new(),
        archived: None,
        pinned: false,
        sources: Vec::new(),
        created: Timestamp(number as i64),
        updated: Timestamp(number as i64),
    }
}

async fn remember(store: &Store, memory: Memory) {
    store
        .write(move |w| w.memories_mut().insert(&memory))
        .await
        .unwrap();
}

async fn learn(store: &Store, number: u128, text: &str, from: u128) {
    remember(
        store,
        Memory {
            sources: vec![message_id(from)],
            ..memory(number, PAIR, text)
        },
    )
    .await;
}

pub(super) async fn active(store: &Store, scope: MemoryScope) -> Vec<String> {
    let found = store
        .read(move |r| r.memories().active(scope, 100))
        .await
        .unwrap();
    found.into_iter().map(|memory| memory.text).collect()
}

async fn found(store: &Store, scopes: &[MemoryScope], words: &[&str]) -> Vec<String> {
    let (scopes, query) = (scopes.to_vec(), Query::any_word(words.iter().copied()));
    let found = store
        .read(move |r| r.memories().search(&scopes, &query, 10))
        .await
        .unwrap();
    found.into_iter().map(|found| found.memory.text).collect()
}

#[tokio::test]
async fn memories_are_sorted_by_pin_importance_and_age() {
    let store = furnished().await;
    for (number, importance, pinned) in [(1, 5, false), (2, 9, false), (3, 2, true), (4, 5, false)]
    {
        remember(
            &store,
            Memory {
                importance,
                pinned,
                ..memory(number, PAIR, &format!("m{number}"))
            },
        )
        .await;
    }
    assert_eq!(active(&store, PAIR).await, ["m3", "m2", "m4", "m1"]);
    // Importance affects the order.
    store
        .write(|w| {
            w.memories_mut().update(&Memory {
                importance: 10,
                ..memory(1, PAIR, "m1")
            })
        })
        .await
        .unwrap();
    assert_eq!(active(&store, PAIR).await, ["m3", "m1", "m2", "m4"]);
}

#[tokio::test]
async fn a_scope_sees_only_its_own_memories() {
    let store = furnished().await;
    let other = CharacterId(Uuid::from_u128(99));
    let persona = PersonaId(Uuid::from_u128(98));
    store
        .write(move |w| {
            w.characters_mut().insert(&super::character(other, "Bo"))?;
            w.personas_mut().insert(&domain::persona::Persona {
                id: persona,
                name: "P".into(),
                description: "".into(),
                instructions: "".into(),
                place: Default::default(),
            })
        })
        .await
        .unwrap();
    let scopes = [
        MemoryScope::Profile,
        MemoryScope::Character(CHARACTER),
        PAIR,
        MemoryScope::Chat(CHAT),
        MemoryScope::Character(other),
        MemoryScope::Pair {
            character: other,
            persona: None,
        },
        MemoryScope::Pair {
            character: CHARACTER,
            persona: Some(persona),
        },
    ];
    for (number, scope) in (0_u128..).zip(scopes) {
        remember(&store, memory(number, scope, &format!("canary {number}"))).await;
    }
    for (number, scope) in (0..).zip(scopes) {
        assert_eq!(active(&store, scope).await, [format!("canary {number}")]);
    }
    let mut ours = found(&store, &scopes[..4], &["canary"]).await;
    ours.sort();
    assert_eq!(ours, ["canary 0", "canary 1", "canary 2", "canary 3"]);
    let all = store
        .read(|r| {
            r.memories()
                .of_character(CHARACTER, MemoryFilter::default(), 100)
        })
        .await
        .unwrap();
    assert_eq!(all.len(), 5);
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    store
        .purge(crate::Before::all(Timestamp(9)), emptied)
        .await
        .unwrap();
    assert_eq!(active(&store, MemoryScope::Chat(CHAT)).await, [""; 0]);
    assert_eq!(active(&store, PAIR).await, ["canary 2"]);
}

/// A memory is hidden and restored together with its source message, whatever removes that.
#[tokio::test]
async fn a_memory_is_valid_only_while_its_source_is() {
    let store = furnished().await;
    say(&store, 1, "I have a dog.").await;
    learn(&store, 1, "has a dog", 1).await;
    let stands = async || {
        !active(&store, PAIR).await.is_empty() && !found(&store, &[PAIR], &["dog"]).await.is_empty()
    };
    assert!(stands().await);
    store
        .write(|w| w.messages_mut().soft_delete(message_id(1), Timestamp(5)))
        .await
        .unwrap();
    assert!(!stands().await);
    store
        .write(|w| w.messages_mut().restore(&[message_id(1)]))
        .await
        .unwrap();
    assert!(stands().await);
    let other = NewSwipe {
        state: SwipeState::Finished,
        ..super::swipe(50, "I have a cat.")
    };
    store
        .write(move |w| w.swipes_mut().add(message_id(1), &other))
        .await
        .unwrap();
    assert!(!stands().await);
    store
        .write(|w| w.swipes_mut().select(message_id(1), 0))
        .await
        .unwrap();
    assert!(stands().await);
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(5)))
        .await
        .unwrap();
    assert!(!stands().await);
    store.write(|w| w.chats_mut().restore(CHAT)).await.unwrap();
    store
        .write(|w| {
            w.messages_mut()
                .edit(message_id(1), "I have a dog. He is old.")
        })
        .await
        .unwrap();
    assert!(
        stands().await,
        "the continued text still contains the old one"
    );
    store
        .write(|w| w.messages_mut().edit(message_id(1), "I have a parrot."))
        .await
        .unwrap();
    assert!(!stands().await);
    assert!(
        store
            .write(|w| w.memories_mut().restore(id(1)))
            .await
            .is_err(),
        "it is gone for good"
    );
}

#[tokio::test]
async fn finds_text_in_scripts_without_spaces() {
    let store = furnished().await;
    remember(&store, memory(1, PAIR, "彼は東京タワーが好き")).await;
    assert_eq!(found(&store, &[PAIR], &["東京タワー"]).await.len(), 1);
    store
        .write(|w| {
            w.memories_mut()
                .update(&memory(1, PAIR, "He likes towers."))
        })
        .await
        .unwrap();
    assert_eq!(found(&store, &[PAIR], &["東京タワー"]).await.len(), 0);
    assert_eq!(found(&store, &[PAIR], &["tower"]).await.len(), 1);
}

#[tokio::test]
async fn no_word_is_an_operator() {
    let store = furnished().await;
    remember(&store, memory(1, PAIR, "AND OR NOT NEAR")).await;
    for evil in ["NOT", "\"", "a\"*", "NEAR(", "text:", "-", "^", "(("] {
        found(&store, &[PAIR], &[evil]).await;
    }
}

/// Forgotten text must be gone from the file and its indexes. The canary is a single word, so an
/// index would contain it whole.
#[tokio::test]
async fn a_forgotten_memory_is_gone_from_the_files() {
    const CANARY: &str = "zanzibarcanary";
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path()).store;
    super::create_library(&store).await;
    say(&store, 2, "plain").await;
    for number in 0..40_u128 {
        remember(
            &store,
            memory(
                number,
                PAIR,
                &format!("filler {number} {}", "q ".repeat(20)),
            ),
        )
        .await;
    }
    remember(&store, memory(77, PAIR, &format!("the {CANARY} sings"))).await;
    let quote = format!(
        r#"[{{"kind":"fact","source":{{"type":"memory","id":"{}"}},"text":"{CANARY}"}},{{"kind":"clock"}}]"#,
        id(77)
    );
    let frozen = format!(r#"{{"digest":{quote},"marks":[]}}"#);
    store
        .write(move |w| {
            w.messages_mut().append(&message(1, Role::User, "hm"))?;
            w.messages_mut()
                .set_context_block(message_id(1), Some(&quote))?;
            w.manifests_mut().insert(swipe_id(1), &quote, "{}")?;
            let window = domain::chat::WindowState {
                frozen,
                fingerprint: "f".into(),
                ..Default::default()
            };
            w.chats_mut().set_window(CHAT, &window)
        })
        .await
        .unwrap();
    let holds = || {
        let file = |name: &str| std::fs::read(dir.path().join(name)).unwrap_or_default();
        [file("inglenook.db"), file("inglenook.db-wal")]
            .concat()
            .windows(CANARY.len())
            .any(|at| at == CANARY.as_bytes())
    };
    assert!(holds(), "the test must be able to find the canary");
    store
        .write(|w| {
            w.memories_mut().soft_delete(id(77), Timestamp(100))?;
            w.memories_mut().retract(id(77).0)
        })
        .await
        .unwrap();
    let chat = store.read(|r| r.chats().get(CHAT)).await.unwrap().unwrap();
    assert_eq!(
        (
            chat.window.fingerprint.as_str(),
            chat.window.frozen.as_str()
        ),
        ("", "")
    );
    assert_eq!(
        store.read(|r| r.stale_caches().all()).await.unwrap().chats,
        [CHAT]
    );
    let block = store
        .read(|r| r.messages().get(message_id(1)))
        .await
        .unwrap()
        .unwrap()
        .context_block;
    assert_eq!(block.as_deref(), Some(r#"[{"kind":"clock"}]"#));
    assert_eq!(
        store
            .purge(crate::Before::all(Timestamp(100)), emptied)
            .await
            .unwrap()
            .memories,
        1
    );
    assert!(!holds());
    assert_eq!(found(&store, &[PAIR], &["filler"]).await.len(), 10);
}

/// The same for a message, and for memories made from it in another chat.
#[tokio::test]
async fn purge_of_a_message_erases_its_memories() {
    const CANARY: &str = "zanzibarcanary";
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path()).store;
    super::create_library(&store).await;
    for number in 0..60 {
        say(
            &store,
            number,
            &format!("filler {number} {}", "q ".repeat(30)),
        )
        .await;
    }
    let other = ChatId(Uuid::from_u128(90));
    say(&store, 77, &format!("I named her {CANARY}.")).await;
    learn(&store, 77, &format!("named her {CANARY}"), 77).await;
    let quote = format!(
        r#"[{{"kind":"fact","source":{{"type":"memory","id":"{}"}},"text":"{CANARY}"}}]"#,
        id(77)
    );
    store
        .write(move |w| {
            w.chats_mut().insert(&super::chat(other, CHARACTER, 2))?;
            w.messages_mut().append(&crate::NewMessage {
                chat: other,
                ..message(91, Role::User, "x")
            })?;
            w.messages_mut()
                .set_context_block(message_id(91), Some(&quote))?;
            w.manifests_mut().insert(swipe_id(91), &quote, "{}")?;
            w.messages_mut().soft_delete(message_id(77), Timestamp(100))
        })
        .await
        .unwrap();
    store
        .purge(crate::Before::all(Timestamp(100)), emptied)
        .await
        .unwrap();
    drop(store);
    let bytes = std::fs::read(dir.path().join("inglenook.db")).unwrap();
    assert!(
        !bytes
            .windows(CANARY.len())
            .any(|at| at == CANARY.as_bytes())
    );
}

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
    assert_eq!(
        listed(
            &store,
            MemoryFilter {
                kind: Some(MemoryType::Rule),
                ..all
            }
        )
        .await,
        ["rule of tea"]
    );
    assert_eq!(
        listed(
            &store,
            MemoryFilter {
                scope: Some("profile"),
                ..all
            }
        )
        .await,
        ["wrote tea"]
    );
    let said = MemoryFilter {
        from_messages: Some(true),
        ..all
    };
    assert_eq!(listed(&store, said).await, ["said tea"]);
    assert_eq!(
        listed(
            &store,
            MemoryFilter {
                from_messages: Some(false),
                scope: Some("pair"),
                ..all
            }
        )
        .await,
        ["rule of tea"]
    );
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
    let quote = |number| {
        format!(
            r#"{{"kind":"fact","source":{{"type":"memory","id":"{}"}},"text":"tea"}}"#,
            id(number)
        )
    };
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
            w.chats_mut()
                .insert(&super::chat(ChatId(Uuid::from_u128(90)), CHARACTER, 2))?;
            w.chats_mut().set_window(CHAT, &window)?;
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
    assert!(
        block.contains(&id(1).to_string()) && block.contains("clock"),
        "{block}"
    );
    assert!(
        !block.contains(&id(2).to_string()) && !block.contains(&id(3).to_string()),
        "{block}"
    );
    assert_eq!(
        store
            .read(|r| r.chats().get(CHAT))
            .await
            .unwrap()
            .unwrap()
            .window
            .fingerprint,
        ""
    );
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
    store
        .purge(crate::Before::all(Timestamp(100)), emptied)
        .await
        .unwrap();
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
        .write(move |w| w.chats_mut().insert(&super::chat(other, CHARACTER, 2)))
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
