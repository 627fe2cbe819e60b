//! Forgetting everything about a character, a persona or a span of time.

use domain::chat::{Role, Speaker};
use domain::memory::MemoryScope;
use domain::persona::{Persona, PersonaPlace};
use domain::{CharacterId, ChatId, PersonaId, Timestamp};
use rusqlite::Connection;
use uuid::Uuid;

use crate::tests::memory::memories::{PAIR, learn, memory, remember};
use crate::tests::{
    CHARACTER as ADA, CHAT, character, chat, furnished, message, message_id, open, say, shown,
    swipe, swipe_id,
};
use crate::{AssetHash, Draft, DraftPlace, ForgetCounts, ForgetTarget, Store, StoreError};

const BO: CharacterId = CharacterId(Uuid::from_u128(21));
const GROUP: ChatId = ChatId(Uuid::from_u128(70));
const KAI: PersonaId = PersonaId(Uuid::from_u128(30));
const CANARY: &str = "zanzibarquill";
const ALL: ForgetTarget = ForgetTarget::Character {
    id: ADA,
    unreferred_since: Timestamp(i64::MAX),
};

fn persona(id: PersonaId, name: &str) -> Persona {
    Persona {
        id,
        name: name.into(),
        description: format!("{name} sails"),
        instructions: String::new(),
        place: PersonaPlace::default(),
    }
}

fn span(from: i64, until: i64) -> ForgetTarget {
    ForgetTarget::Span {
        from: Timestamp(from),
        until: Timestamp(until),
    }
}

async fn count(store: &Store, sql: &'static str) -> i64 {
    store
        .on_writer(move |conn| conn.query_row(sql, [], |row| row.get(0)))
        .await
        .unwrap()
        .unwrap()
}

/// The tables with a text, a vector or a name, as far as a forgotten chat fills them.
const TABLES: [&str; 12] = [
    "chat",
    "message",
    "swipe",
    "swipe_number",
    "message_text",
    "message_vector",
    "memory",
    "meaning",
    "manifest",
    "revision",
    "search_item",
    "draft",
];

async fn rows(store: &Store) -> Vec<(&'static str, i64)> {
    let read = |conn: &mut Connection| {
        TABLES
            .into_iter()
            .map(|table| {
                let sql = format!("SELECT count(*) FROM {table}");
                (table, conn.query_row(&sql, [], |row| row.get(0)).unwrap())
            })
            .collect::<Vec<(&str, i64)>>()
    };
    store.on_writer(read).await.unwrap()
}

/// A chat with Ada that fills every table: messages, an edit, a memory, a prompt, a vector, a draft.
async fn filled(store: &Store) {
    for number in 1..=4 {
        say(store, number, &format!("{CANARY} {number}")).await;
    }
    learn(store, 50, CANARY, 2).await;
    store
        .write(|w| {
            w.revisions_mut().keep(message_id(1), "new", Timestamp(5))?;
            w.manifests_mut().insert(swipe_id(4), CANARY, "{}")?;
            w.drafts_mut().write(
                &Draft {
                    id: Uuid::from_u128(60),
                    place: DraftPlace {
                        kind: "composer".into(),
                        owner: CHAT.to_string(),
                        target: String::new(),
                    },
                    text: CANARY.into(),
                    base: String::new(),
                    saved: Timestamp(4),
                },
                None,
            )
        })
        .await
        .unwrap();
    for text in store.read(|r| r.vectors().queued(10)).await.unwrap() {
        let passage = crate::NewVector {
            vector: vec![1, 2],
            scale: 0.5,
            token_ids: vec![101],
            token_vectors: vec![1, 2],
        };
        store
            .write(move |w| w.vectors_mut().keep(&text, "encoder", &[passage]))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_forgotten_character_is_in_no_table() {
    let store = furnished().await;
    filled(&store).await;
    let counts = store.forget(ALL, None).await.unwrap().counts;
    assert_eq!(
        counts,
        ForgetCounts {
            characters: 1,
            chats: 1,
            messages: 4,
            versions: 4,
            earlier_texts: 1,
            memories: 1,
            vectors: 4,
            prompts: 1,
            drafts: 1,
            ..ForgetCounts::default()
        }
    );
    for (table, rows) in rows(&store).await {
        assert_eq!(rows, 0, "{table}");
    }
    let hits = "SELECT count(*) FROM swipe_search WHERE swipe_search MATCH 'zanzibarquill'";
    assert_eq!(count(&store, hits).await, 0);
    let hits = "SELECT count(*) FROM memory_words WHERE memory_words MATCH 'zanzibarquill'";
    assert_eq!(count(&store, hits).await, 0);
    store.check().await.unwrap();
    let again = store.forget(ALL, None).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })));
}

#[tokio::test]
async fn a_preview_counts_and_changes_nothing() {
    let store = furnished().await;
    filled(&store).await;
    let before = rows(&store).await;
    let preview = store.preview_forget(ALL).await.unwrap();
    assert_eq!(rows(&store).await, before);
    assert_eq!(store.forget(ALL, None).await.unwrap().counts, preview);
}

#[tokio::test]
async fn forgotten_text_is_gone_from_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    crate::tests::create_library(&store).await;
    filled(&store).await;
    store.forget(ALL, None).await.unwrap();
    drop(store);
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let holds = bytes
                .windows(CANARY.len())
                .any(|text| text == CANARY.as_bytes());
            assert!(!holds, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn assets_of_other_items_stay() {
    let store = furnished().await;
    let put = store.write(|w| {
        let [own, shared] = [b"own".as_slice(), b"shared"].map(|bytes| {
            w.assets_mut()
                .put(bytes, "image/png", Timestamp(1))
                .unwrap()
        });
        let mut ada = w.characters().get(ADA)?.unwrap();
        (ada.picture, ada.source) = (Some(own), Some(shared));
        w.characters_mut().update(&ada)?;
        let mut bo = character(BO, "Bo");
        bo.picture = Some(shared);
        w.characters_mut().insert(&bo)?;
        Ok([own, shared])
    });
    let [own, shared]: [AssetHash; 2] = put.await.unwrap();
    store.keep_thumbnail(own, b"small").unwrap();
    let forgotten = store.forget(ALL, None).await.unwrap();
    assert_eq!((forgotten.counts.files, forgotten.files_left), (1, None));
    assert!(!store.assets().file(own).exists() && !store.thumbnails().file(own).exists());
    assert!(store.assets().file(shared).exists());
}

/// Ada leads a group with Bo.
async fn group(store: &Store) {
    store
        .write(|w| {
            w.characters_mut().insert(&character(BO, "Bo"))?;
            w.chats_mut().insert(&chat(GROUP, ADA, 2))?;
            w.groups_mut().set_members(GROUP, &[BO])?;
            for (number, role, text) in [
                (101, Role::User, "Who rows?"),
                (102, Role::Character, CANARY),
                (103, Role::Character, "Bo rows."),
            ] {
                w.messages_mut().append(&crate::NewMessage {
                    chat: GROUP,
                    ..message(number, role, text)
                })?;
            }
            let speaker = Speaker {
                character: Some(BO),
                name: "Bo".into(),
            };
            w.groups_mut().set_speaker(message_id(103), &speaker)?;
            w.manifests_mut().insert(swipe_id(103), "card of Ada", "{}")
        })
        .await
        .unwrap();
}

#[test]
fn nothing_is_forgotten_while_a_backup_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let store = runtime.block_on(furnished());
    let backup = store.hold_backups();
    assert!(store.is_backing_up());
    let refused = runtime.block_on(store.forget(ALL, None));
    assert!(matches!(refused, Err(StoreError::BackupRunning)));
    drop(backup);
    assert!(!store.is_backing_up());
    let forgotten = runtime.block_on(store.forget(ALL, None)).unwrap();
    assert_eq!(forgotten.counts.characters, 1);
}

#[tokio::test]
async fn a_group_goes_on_without_the_forgotten() {
    for (gone, left) in [(ADA, "Bo rows."), (BO, CANARY)] {
        let store = furnished().await;
        group(&store).await;
        let counts = store
            .forget(
                ForgetTarget::Character {
                    id: gone,
                    unreferred_since: Timestamp(i64::MAX),
                },
                None,
            )
            .await
            .unwrap()
            .counts;
        assert_eq!((counts.characters, counts.messages), (1, 1));
        assert_eq!(
            counts.prompts, 1,
            "the prompts of the group contain the card"
        );
        let page = store
            .read(|r| r.messages().page(GROUP, None, 10))
            .await
            .unwrap();
        let texts: Vec<_> = page.iter().map(|message| message.text()).collect();
        assert_eq!(texts, ["Who rows?", left]);
        let other = if gone == ADA { BO } else { ADA };
        let lead = store.read(|r| r.chats().get(GROUP)).await.unwrap();
        assert_eq!(lead.unwrap().character, other);
        assert!(
            store
                .read(|r| r.groups().members(GROUP))
                .await
                .unwrap()
                .is_empty()
        );
    }
}

#[tokio::test]
async fn quotes_in_other_chats_are_removed() {
    let store = furnished().await;
    filled(&store).await;
    group(&store).await;
    let block = format!(
        r#"[{{"source":{{"type":"message","id":"{0}"}}}},{{"source":{{"type":"message","id":"{1}"}}}}]"#,
        message_id(2),
        Uuid::from_u128(99)
    );
    let other = ChatId(Uuid::from_u128(71));
    store
        .write(move |w| {
            w.chats_mut().insert(&chat(other, BO, 3))?;
            for number in [80, 81] {
                w.messages_mut().append(&crate::NewMessage {
                    chat: other,
                    context_block: Some(block.clone()),
                    ..message(number, Role::User, "hi")
                })?;
            }
            w.manifests_mut().insert(swipe_id(80), "other", "{}")?;
            let quote = format!(r#"{{"key":"message:{}"}}"#, message_id(2));
            w.manifests_mut().insert(swipe_id(81), &quote, "{}")
        })
        .await
        .unwrap();
    store.forget(ALL, None).await.unwrap();
    let prompts = "SELECT count(*) FROM manifest WHERE json <> ''";
    assert_eq!(count(&store, prompts).await, 1, "the earlier prompt stays");
    let page = store
        .read(move |r| r.messages().page(other, None, 10))
        .await
        .unwrap();
    for message in page {
        let block = message.context_block.unwrap();
        assert!(!block.contains(&message_id(2).to_string()), "{block}");
        assert!(block.contains(&Uuid::from_u128(99).to_string()), "{block}");
    }
}

#[tokio::test]
async fn memories_kept_from_a_deleted_chat_go_too() {
    let store = furnished().await;
    say(&store, 1, CANARY).await;
    let everybody = memory(51, MemoryScope::Profile, "Lives at sea.");
    remember(
        &store,
        domain::memory::Memory {
            sources: vec![message_id(1)],
            ..everybody
        },
    )
    .await;
    remember(&store, memory(52, MemoryScope::Profile, "Typed.")).await;
    store
        .write(|w| {
            w.memories_mut().detach_from_chat(CHAT)?;
            w.chats_mut().soft_delete(CHAT, Timestamp(9))
        })
        .await
        .unwrap();
    assert_eq!(store.forget(ALL, None).await.unwrap().counts.memories, 1);
    assert_eq!(count(&store, "SELECT count(*) FROM memory").await, 1);
}

#[tokio::test]
async fn a_forgotten_persona_leaves_the_texts() {
    let store = furnished().await;
    let other = PersonaId(Uuid::from_u128(31));
    store
        .write(move |w| {
            w.personas_mut().insert(&persona(KAI, "Kai"))?;
            w.personas_mut().insert(&persona(other, "Lou"))?;
            w.chats_mut().set_persona(CHAT, Some(KAI))
        })
        .await
        .unwrap();
    for number in 1..=2 {
        say(&store, number, "Ahoy.").await;
    }
    let pair = MemoryScope::Pair {
        character: ADA,
        persona: Some(KAI),
    };
    remember(&store, memory(50, pair, "Kai sails.")).await;
    remember(&store, memory(51, PAIR, "Ada waits.")).await;
    store
        .write(|w| {
            w.groups_mut().keep_user_name(CHAT, "Kai")?;
            w.manifests_mut().insert(swipe_id(2), "Kai sails", "{}")
        })
        .await
        .unwrap();
    let target = ForgetTarget::Persona {
        id: KAI,
        by_default: false,
    };
    let counts = store.forget(target, None).await.unwrap().counts;
    assert_eq!(
        counts,
        ForgetCounts {
            personas: 1,
            memories: 1,
            prompts: 1,
            ..ForgetCounts::default()
        }
    );
    assert_eq!(shown(&store).await, ["Ahoy.", "Ahoy."]);
    let names = "SELECT count(*) FROM message_speaker WHERE name = 'You'";
    assert_eq!(count(&store, names).await, 2);
}

#[tokio::test]
async fn a_span_removes_the_messages_of_its_days() {
    let store = furnished().await;
    for number in [10, 20, 29, 30] {
        say(&store, number, &format!("at {number}")).await;
    }
    learn(&store, 50, "made from 20", 20).await;
    store
        .write(|w| {
            w.swipes_mut().add(message_id(10), &swipe(25, "later"))?;
            for number in [10, 30] {
                w.manifests_mut().insert(swipe_id(number), "prompt", "{}")?;
            }
            Ok(())
        })
        .await
        .unwrap();
    let counts = store.forget(span(20, 30), None).await.unwrap().counts;
    assert_eq!(
        (
            counts.messages,
            counts.versions,
            counts.memories,
            counts.chats
        ),
        (2, 3, 1, 0)
    );
    assert_eq!(shown(&store).await, ["at 10", "at 30"]);
    assert_eq!(
        store.forget(span(20, 30), None).await.unwrap().counts,
        ForgetCounts::default()
    );
    store.check().await.unwrap();
}

#[tokio::test]
async fn a_chat_that_a_span_empties_goes() {
    let store = furnished().await;
    say(&store, 10, "hi").await;
    let empty = ChatId(Uuid::from_u128(72));
    store
        .write(move |w| w.chats_mut().insert(&chat(empty, ADA, 1)))
        .await
        .unwrap();
    let counts = store.forget(span(0, 100), None).await.unwrap().counts;
    assert_eq!((counts.chats, counts.messages), (1, 1));
    let left = store.read(|r| r.chats().ids(None)).await.unwrap();
    assert_eq!(left, [empty], "it was empty before");
}
