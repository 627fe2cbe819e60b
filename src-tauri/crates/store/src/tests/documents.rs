use domain::document::{Document, Passage};
use domain::{ChatId, DocumentId, Timestamp};
use uuid::Uuid;

use super::opening::open_with;
use super::{CHARACTER, CHAT, chat, furnished, message, open};
use crate::{Notice, Purged, Query, Store, StoreError, migrate};

const OTHER: ChatId = ChatId(Uuid::from_u128(70));

fn id(number: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(number))
}

fn document(number: u128, of: ChatId, name: &str) -> Document {
    Document { id: id(number), chat: of, name: name.into(), bytes: 9, created: Timestamp(number as i64) }
}

/// Each line is a passage; what stands before a colon is its heading.
async fn attach(store: &Store, number: u128, of: ChatId, text: &str) {
    let passage = |line: &str| {
        let (heading, text) = line.trim().split_once(": ").unwrap_or(("", line.trim()));
        Passage { heading: heading.into(), text: text.into() }
    };
    let passages: Vec<Passage> = text.trim().lines().map(passage).collect();
    let document = document(number, of, &format!("d{number}"));
    store.write(move |w| w.documents_mut().insert(&document, &passages)).await.unwrap();
}

async fn with_another_chat() -> Store {
    let store = furnished().await;
    store.write(|w| w.chats_mut().insert(&chat(OTHER, CHARACTER, 2))).await.unwrap();
    store
}

/// What a chat finds, best first, as `document/place heading: text`.
async fn found(store: &Store, of: ChatId, words: &str) -> Vec<String> {
    let query = Query::any_of(words.split(' '));
    let hits = store.read(move |r| r.documents().search(of, &query, 9)).await.unwrap();
    hits.iter().map(|hit| format!("{}/{} {}: {}", hit.name, hit.place, hit.passage.heading, hit.passage.text)).collect()
}

#[tokio::test]
async fn passages_are_found_by_their_words_and_headings_in_any_script() {
    let store = furnished().await;
    attach(&store, 1, CHAT, "The lamp: It burns whale oil.\nThe stairs: Eighty steps.\n灯塔: 灯塔看守人对花生过敏。")
        .await;
    attach(&store, 2, CHAT, "Lamps need trimming every night.").await;
    assert_eq!(found(&store, CHAT, "burning").await, ["d1/0 The lamp: It burns whale oil."]);
    assert_eq!(found(&store, CHAT, "stair").await, ["d1/1 The stairs: Eighty steps."]);
    assert_eq!(found(&store, CHAT, "花生过敏").await, ["d1/2 灯塔: 灯塔看守人对花生过敏。"]);
    let lamps = found(&store, CHAT, "lamp oil").await;
    assert_eq!((lamps.len(), lamps[0].as_str()), (2, "d1/0 The lamp: It burns whale oil."));
    assert!(found(&store, CHAT, "zebulon").await.is_empty());

    let beginning = store.read(|r| r.documents().beginning(id(1), 2)).await.unwrap();
    assert_eq!(
        beginning.iter().map(|passage| passage.heading.as_str()).collect::<Vec<_>>(),
        ["The lamp", "The stairs"]
    );
    assert_eq!(store.read(|r| r.documents().count_passages(id(1))).await.unwrap(), 3);
}

#[tokio::test]
async fn another_chats_documents_are_not_found_and_hide_nothing() {
    let store = with_another_chat().await;
    attach(&store, 1, CHAT, "The lamp burns whale oil.").await;
    attach(&store, 2, OTHER, &"A lamp, and another lamp.\n".repeat(900)).await;
    assert_eq!(found(&store, CHAT, "lamp").await, ["d1/0 : The lamp burns whale oil."]);
    assert_eq!(found(&store, OTHER, "whale").await, [""; 0]);
    assert_eq!(store.read(|r| r.documents().of(CHAT)).await.unwrap(), [document(1, CHAT, "d1")]);
}

#[tokio::test]
async fn what_is_removed_is_hidden_until_it_is_restored_and_purged_for_good() {
    let store = with_another_chat().await;
    attach(&store, 1, CHAT, "The lamp burns whale oil.").await;
    attach(&store, 2, CHAT, "Another lamp.").await;
    let listed = async || store.read(|r| r.documents().of(CHAT)).await.unwrap().len();
    store.write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5))).await.unwrap();
    assert_eq!((found(&store, CHAT, "lamp").await.len(), listed().await), (1, 1));
    assert_eq!(store.read(|r| r.documents().get(id(1))).await.unwrap(), None);
    let twice = store.write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5))).await;
    assert!(matches!(twice, Err(StoreError::NotFound { what: "document" })), "{twice:?}");
    store.write(|w| w.documents_mut().restore(id(1))).await.unwrap();
    assert_eq!((found(&store, CHAT, "lamp").await.len(), listed().await), (2, 2));

    store.write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5))).await.unwrap();
    assert_eq!(store.purge(Timestamp(4)).await.unwrap(), Purged::default());
    assert_eq!(store.purge(Timestamp(5)).await.unwrap(), Purged { documents: 1, ..Purged::default() });
    assert!(store.write(|w| w.documents_mut().restore(id(1))).await.is_err());
    assert_eq!(found(&store, CHAT, "lamp").await, ["d2/0 : Another lamp."]);
}

/// What quoted it goes as well: context blocks at once where it is withdrawn, and manifests with the purge.
#[tokio::test]
async fn what_a_purged_document_said_is_gone_from_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    super::furnish(&store).await;
    let holds = |needle: &str| {
        let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut bytes = files.filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap());
        bytes.any(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
    };
    attach(&store, 1, CHAT, "The canary sings at dawn.").await;
    let quote = format!(
        r#"[{{"kind":"document","source":{{"type":"document","id":"{}","passage":0,"name":"d1"}},"reason":"","text":"The canary sings"}}]"#,
        id(1)
    );
    store
        .write(move |w| {
            let said =
                crate::NewMessage { context_block: Some(quote.clone()), ..message(1, domain::chat::Role::User, "Hm?") };
            w.messages_mut().append(&said)?;
            w.manifests_mut().insert(super::swipe_id(1), &quote, "{}")?;
            w.documents_mut().soft_delete(id(1), Timestamp(5))
        })
        .await
        .unwrap();
    assert!(holds("canary"), "the test must see what it looks for");
    store.purge(Timestamp(5)).await.unwrap();
    drop(store);
    assert!(!holds("canary"));
}

#[tokio::test]
async fn documents_go_with_their_chat() {
    let store = with_another_chat().await;
    attach(&store, 1, OTHER, "The lamp burns whale oil.").await;
    store.write(|w| w.chats_mut().soft_delete(OTHER, Timestamp(5))).await.unwrap();
    assert_eq!(store.read(|r| r.documents().get(id(1))).await.unwrap(), None, "it comes back with the chat");
    store.purge(Timestamp(5)).await.unwrap();
    let rows = store.on_writer(|conn| {
        ["document", "passage", "passage_words"].map(|table| {
            let sql = format!("SELECT count(*) FROM {table}");
            conn.query_row(&sql, [], |row| row.get::<_, u32>(0)).unwrap()
        })
    });
    assert_eq!(rows.await.unwrap(), [0, 0, 0]);
    let stray = document(2, OTHER, "d2");
    let stray = store.write(move |w| w.documents_mut().insert(&stray, &[])).await;
    assert!(matches!(stray, Err(StoreError::Conflict { .. })), "{stray:?}");
}

#[tokio::test]
async fn a_file_from_before_documents_is_upgraded_and_its_chats_take_some() {
    let dir = tempfile::tempdir().unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..8]).unwrap();
    super::furnish(&old.store).await;
    drop(old);
    let opened = open(dir.path());
    assert!(matches!(opened.notices[..], [Notice::Upgraded { from: 8, .. }]), "{:?}", opened.notices);
    assert_eq!(opened.store.read(|r| r.documents().of(CHAT)).await.unwrap(), []);
    attach(&opened.store, 1, CHAT, "The lamp burns whale oil.").await;
    assert_eq!(found(&opened.store, CHAT, "whales").await.len(), 1);
}
