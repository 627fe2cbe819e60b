//! Documents: search in their passages, removal and purge.

use domain::document::{Document, DocumentOwner, Passage};
use domain::{ChatId, DocumentId, LorebookId, Timestamp};
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::keyed::is_keyed;
use crate::tests::{CHARACTER, CHAT, chat, furnished, message, open, purge};
use crate::{Notice, Purged, Query, Store, StoreError, migrate};

pub(super) const OTHER: DocumentOwner = DocumentOwner::Chat(ChatId(Uuid::from_u128(70)));

pub(super) const HERE: DocumentOwner = DocumentOwner::Chat(CHAT);

pub(super) const HERS: DocumentOwner = DocumentOwner::Character(CHARACTER);

pub(super) const BOOK: LorebookId = LorebookId(Uuid::from_u128(71));

pub(super) const WORLD: DocumentOwner = DocumentOwner::Lorebook(BOOK);

pub(super) fn id(number: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(number))
}

pub(super) fn document(number: u128, owner: DocumentOwner, name: &str) -> Document {
    Document {
        id: id(number),
        owner,
        name: name.into(),
        bytes: 9,
        created: Timestamp(number as i64),
    }
}

/// Attaches a document with one passage per line. The text before a colon is its heading.
pub(super) async fn attach(store: &Store, number: u128, of: DocumentOwner, text: &str) {
    let passage = |line: &str| {
        let (heading, text) = line.trim().split_once(": ").unwrap_or(("", line.trim()));
        Passage {
            heading: heading.into(),
            text: text.into(),
        }
    };
    let passages: Vec<Passage> = text.trim().lines().map(passage).collect();
    let document = document(number, of, &format!("d{number}"));
    store
        .write(move |w| w.documents_mut().insert(&document, &passages))
        .await
        .unwrap();
}

pub(super) fn world() -> crate::Lorebook {
    let name = "The coast".into();
    let json = r#"{"entries":{}}"#.into();
    let time = Timestamp(1);
    crate::Lorebook {
        id: BOOK,
        name,
        json,
        source: None,
        enabled: true,
        created: time,
        updated: time,
    }
}

pub(super) async fn with_another_chat() -> Store {
    let store = furnished().await;
    store
        .write(|w| {
            w.chats_mut()
                .insert(&chat(ChatId(Uuid::from_u128(70)), CHARACTER, 2))
        })
        .await
        .unwrap();
    store
}

/// Searches the documents of one owner. Returns matches as `document/place heading: text`, best
/// first.
pub(super) async fn found(store: &Store, of: DocumentOwner, words: &str) -> Vec<String> {
    let query = Query::any_word(words.split(' '));
    let hits = store
        .read(move |r| r.documents().search(&[of], &query, 9))
        .await
        .unwrap();
    hits.iter()
        .map(|hit| {
            format!(
                "{}/{} {}: {}",
                hit.name, hit.place, hit.passage.heading, hit.passage.text
            )
        })
        .collect()
}

#[tokio::test]
async fn finds_passages_by_text_and_heading_in_any_script() {
    let store = furnished().await;
    attach(
        &store,
        1,
        HERE,
        "The lamp: It burns whale oil.\nThe stairs: Eighty steps.\n灯塔: 灯塔看守人对花生过敏。",
    )
    .await;
    attach(&store, 2, HERE, "Lamps need trimming every night.").await;
    assert_eq!(
        found(&store, HERE, "burning").await,
        ["d1/0 The lamp: It burns whale oil."]
    );
    assert_eq!(
        found(&store, HERE, "stair").await,
        ["d1/1 The stairs: Eighty steps."]
    );
    assert_eq!(
        found(&store, HERE, "花生过敏").await,
        ["d1/2 灯塔: 灯塔看守人对花生过敏。"]
    );
    let lamps = found(&store, HERE, "lamp oil").await;
    assert_eq!(
        (lamps.len(), lamps[0].as_str()),
        (2, "d1/0 The lamp: It burns whale oil.")
    );
    assert!(found(&store, HERE, "zebulon").await.is_empty());

    let beginning = store
        .read(|r| r.documents().beginning(id(1), 2))
        .await
        .unwrap();
    assert_eq!(
        beginning
            .iter()
            .map(|passage| passage.heading.as_str())
            .collect::<Vec<_>>(),
        ["The lamp", "The stairs"]
    );
    assert_eq!(
        store
            .read(|r| r.documents().count_passages(id(1)))
            .await
            .unwrap(),
        3
    );
}

#[tokio::test]
async fn other_chats_documents_do_not_affect_search() {
    let store = with_another_chat().await;
    attach(&store, 1, HERE, "The lamp burns whale oil.").await;
    attach(&store, 2, OTHER, &"A lamp, and another lamp.\n".repeat(900)).await;
    assert_eq!(
        found(&store, HERE, "lamp").await,
        ["d1/0 : The lamp burns whale oil."]
    );
    assert_eq!(found(&store, OTHER, "whale").await, [""; 0]);
    assert_eq!(
        store.read(|r| r.documents().of(HERE)).await.unwrap(),
        [document(1, HERE, "d1")]
    );
}

#[tokio::test]
async fn removed_documents_can_be_restored_until_purged() {
    let store = with_another_chat().await;
    attach(&store, 1, HERE, "The lamp burns whale oil.").await;
    attach(&store, 2, HERE, "Another lamp.").await;
    let listed = async || store.read(|r| r.documents().of(HERE)).await.unwrap().len();
    store
        .write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5)))
        .await
        .unwrap();
    assert_eq!(
        (found(&store, HERE, "lamp").await.len(), listed().await),
        (1, 1)
    );
    assert_eq!(
        store.read(|r| r.documents().get(id(1))).await.unwrap(),
        None
    );
    let twice = store
        .write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5)))
        .await;
    assert!(
        matches!(twice, Err(StoreError::NotFound { what: "document" })),
        "{twice:?}"
    );
    store
        .write(|w| w.documents_mut().restore(id(1)))
        .await
        .unwrap();
    assert_eq!(
        (found(&store, HERE, "lamp").await.len(), listed().await),
        (2, 2)
    );

    store
        .write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5)))
        .await
        .unwrap();
    assert_eq!(purge(&store, 4).await, Purged::default());
    assert_eq!(
        purge(&store, 5).await,
        Purged {
            documents: 1,
            ..Purged::default()
        }
    );
    assert!(
        store
            .write(|w| w.documents_mut().restore(id(1)))
            .await
            .is_err()
    );
    assert_eq!(found(&store, HERE, "lamp").await, ["d2/0 : Another lamp."]);
}

/// Retraction removes quotes from context blocks immediately; the purge removes them from
/// manifests.
#[tokio::test]
async fn purged_document_text_is_gone_from_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).store;
    crate::tests::create_library(&store).await;
    let holds = |needle: &str| {
        let files = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut bytes = files
            .filter(|path| path.is_file())
            .map(|path| std::fs::read(path).unwrap());
        bytes.any(|bytes| {
            bytes
                .windows(needle.len())
                .any(|window| window == needle.as_bytes())
        })
    };
    attach(&store, 1, HERE, "The canary sings at dawn.").await;
    let quote = format!(
        r#"[{{"kind":"document","source":{{"type":"document","id":"{}","passage":0,"name":"d1"}},"reason":"","text":"The canary sings"}}]"#,
        id(1)
    );
    store
        .write(move |w| {
            let said = crate::NewMessage {
                context_block: Some(quote.clone()),
                ..message(1, domain::chat::Role::User, "Hm?")
            };
            w.messages_mut().append(&said)?;
            w.manifests_mut()
                .insert(crate::tests::swipe_id(1), &quote, "{}")?;
            w.documents_mut().soft_delete(id(1), Timestamp(5))
        })
        .await
        .unwrap();
    assert_ne!(holds("canary"), is_keyed(), "the test can find the canary");
    purge(&store, 5).await;
    drop(store);
    assert!(!holds("canary"));
}

#[tokio::test]
async fn documents_are_purged_with_their_chat() {
    let store = with_another_chat().await;
    attach(&store, 1, OTHER, "The lamp burns whale oil.").await;
    store
        .write(|w| {
            w.chats_mut()
                .soft_delete(ChatId(Uuid::from_u128(70)), Timestamp(5))
        })
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.documents().get(id(1))).await.unwrap(),
        None,
        "it comes back with the chat"
    );
    purge(&store, 5).await;
    let rows = store.on_writer(|conn| {
        ["document", "passage", "passage_words"].map(|table| {
            let sql = format!("SELECT count(*) FROM {table}");
            conn.query_row(&sql, [], |row| row.get::<_, u32>(0))
                .unwrap()
        })
    });
    assert_eq!(rows.await.unwrap(), [0, 0, 0]);
    let stray = document(2, OTHER, "d2");
    let stray = store
        .write(move |w| w.documents_mut().insert(&stray, &[]))
        .await;
    assert!(
        matches!(stray, Err(StoreError::Conflict { .. })),
        "{stray:?}"
    );
}

#[tokio::test]
async fn documents_work_after_upgrading_an_older_file() {
    let dir = tempfile::tempdir().unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..8]).unwrap();
    crate::tests::create_library(&old.store).await;
    drop(old);
    let opened = open(dir.path());
    assert!(
        matches!(opened.notices[..], [Notice::Upgraded { from: 8, .. }]),
        "{:?}",
        opened.notices
    );
    assert_eq!(
        opened.store.read(|r| r.documents().of(HERE)).await.unwrap(),
        []
    );
    attach(&opened.store, 1, HERE, "The lamp burns whale oil.").await;
    assert_eq!(found(&opened.store, HERE, "whales").await.len(), 1);
}
