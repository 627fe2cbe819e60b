//! Memories: storage, search and deletion.

use domain::chat::{Role, SwipeState};
use domain::memory::{MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{CharacterId, ChatId, MemoryId, PersonaId, Timestamp};
use uuid::Uuid;

use crate::tests::keyed::is_keyed;
use crate::tests::{CHARACTER, CHAT, furnished, message, message_id, purge, say, swipe_id};
use crate::{MemoryFilter, NewSwipe, Query, Store};

pub(crate) const PAIR: MemoryScope = MemoryScope::Pair {
    character: CHARACTER,
    persona: None,
};

pub(crate) fn id(number: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(number))
}

pub(crate) fn memory(number: u128, scope: MemoryScope, text: &str) -> Memory {
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

pub(crate) async fn remember(store: &Store, memory: Memory) {
    store
        .write(move |w| w.memories_mut().insert(&memory))
        .await
        .unwrap();
}

pub(crate) async fn learn(store: &Store, number: u128, text: &str, from: u128) {
    remember(
        store,
        Memory {
            sources: vec![message_id(from)],
            ..memory(number, PAIR, text)
        },
    )
    .await;
}

pub(crate) async fn active(store: &Store, scope: MemoryScope) -> Vec<String> {
    let found = store
        .read(move |r| r.memories().active(scope, 100))
        .await
        .unwrap();
    found.into_iter().map(|memory| memory.text).collect()
}

pub(crate) async fn found(store: &Store, scopes: &[MemoryScope], words: &[&str]) -> Vec<String> {
    let scopes = scopes.to_vec();
    let query = Query::any_word(words.iter().copied());
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
            w.characters_mut()
                .insert(&crate::tests::character(other, "Bo"))?;
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
    purge(&store, 9).await;
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
    let edit =
        |text: &'static str| store.write(move |w| w.messages_mut().edit(message_id(1), text));
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
        ..crate::tests::swipe(50, "I have a cat.")
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
    edit("I have a dog. He is old.").await.unwrap();
    assert!(
        stands().await,
        "the continued text still contains the old one"
    );
    edit("I have a parrot.").await.unwrap();
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

const CANARY: &str = "zanzibarcanary";

/// Quotes memory 77 in a context block, a manifest and a digest.
async fn quote_canary(store: &Store) {
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
}

/// Whether the database or its log contains the canary.
fn holds_canary(dir: &std::path::Path) -> bool {
    let file = |name: &str| std::fs::read(dir.join(name)).unwrap_or_default();
    [file("inglenook.db"), file("inglenook.db-wal")]
        .concat()
        .windows(CANARY.len())
        .any(|at| at == CANARY.as_bytes())
}

/// Forgotten text must be gone from the file and its indexes. The canary is a single word, so an
/// index would contain it whole.
#[tokio::test]
async fn a_forgotten_memory_is_gone_from_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::tests::open(dir.path()).store;
    crate::tests::create_library(&store).await;
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
    quote_canary(&store).await;
    assert_ne!(
        holds_canary(dir.path()),
        is_keyed(),
        "the test can find the canary"
    );
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
    assert_eq!(purge(&store, 100).await.memories, 1);
    assert!(!holds_canary(dir.path()));
    assert_eq!(found(&store, &[PAIR], &["filler"]).await.len(), 10);
}

/// The same for a message, and for memories made from it in another chat.
#[tokio::test]
async fn purge_of_a_message_erases_its_memories() {
    const CANARY: &str = "zanzibarcanary";
    let dir = tempfile::tempdir().unwrap();
    let store = crate::tests::open(dir.path()).store;
    crate::tests::create_library(&store).await;
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
            w.chats_mut()
                .insert(&crate::tests::chat(other, CHARACTER, 2))?;
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
    purge(&store, 100).await;
    drop(store);
    let bytes = std::fs::read(dir.path().join("inglenook.db")).unwrap();
    assert!(
        !bytes
            .windows(CANARY.len())
            .any(|at| at == CANARY.as_bytes())
    );
}
