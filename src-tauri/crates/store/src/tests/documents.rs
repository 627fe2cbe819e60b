use domain::document::{Document, DocumentOwner, Passage};
use domain::lorebook::Binding;
use domain::{CharacterId, ChatId, DocumentId, LorebookId, Timestamp};
use uuid::Uuid;

use super::opening::open_with;
use super::{CHARACTER, CHAT, chat, emptied, furnished, message, open};
use crate::{Notice, Purged, Query, Store, StoreError, migrate};

const OTHER: DocumentOwner = DocumentOwner::Chat(ChatId(Uuid::from_u128(70)));
const HERE: DocumentOwner = DocumentOwner::Chat(CHAT);
const HERS: DocumentOwner = DocumentOwner::Character(CHARACTER);
const BOOK: LorebookId = LorebookId(Uuid::from_u128(71));
const WORLD: DocumentOwner = DocumentOwner::Lorebook(BOOK);

fn id(number: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(number))
}

fn document(number: u128, owner: DocumentOwner, name: &str) -> Document {
    Document { id: id(number), owner, name: name.into(), bytes: 9, created: Timestamp(number as i64) }
}

/// Each line is a passage; what stands before a colon is its heading.
async fn attach(store: &Store, number: u128, of: DocumentOwner, text: &str) {
    let passage = |line: &str| {
        let (heading, text) = line.trim().split_once(": ").unwrap_or(("", line.trim()));
        Passage { heading: heading.into(), text: text.into() }
    };
    let passages: Vec<Passage> = text.trim().lines().map(passage).collect();
    let document = document(number, of, &format!("d{number}"));
    store.write(move |w| w.documents_mut().insert(&document, &passages)).await.unwrap();
}

fn world() -> crate::Lorebook {
    let (name, json, time) = ("The coast".into(), r#"{"entries":{}}"#.into(), Timestamp(1));
    crate::Lorebook { id: BOOK, name, json, source: None, enabled: true, created: time, updated: time }
}

async fn with_another_chat() -> Store {
    let store = furnished().await;
    store.write(|w| w.chats_mut().insert(&chat(ChatId(Uuid::from_u128(70)), CHARACTER, 2))).await.unwrap();
    store
}

/// What is found among the documents of one owner, best first, as `document/place heading: text`.
async fn found(store: &Store, of: DocumentOwner, words: &str) -> Vec<String> {
    let query = Query::any_of(words.split(' '));
    let hits = store.read(move |r| r.documents().search(&[of], &query, 9)).await.unwrap();
    hits.iter().map(|hit| format!("{}/{} {}: {}", hit.name, hit.place, hit.passage.heading, hit.passage.text)).collect()
}

#[tokio::test]
async fn passages_are_found_by_their_words_and_headings_in_any_script() {
    let store = furnished().await;
    attach(&store, 1, HERE, "The lamp: It burns whale oil.\nThe stairs: Eighty steps.\n灯塔: 灯塔看守人对花生过敏。")
        .await;
    attach(&store, 2, HERE, "Lamps need trimming every night.").await;
    assert_eq!(found(&store, HERE, "burning").await, ["d1/0 The lamp: It burns whale oil."]);
    assert_eq!(found(&store, HERE, "stair").await, ["d1/1 The stairs: Eighty steps."]);
    assert_eq!(found(&store, HERE, "花生过敏").await, ["d1/2 灯塔: 灯塔看守人对花生过敏。"]);
    let lamps = found(&store, HERE, "lamp oil").await;
    assert_eq!((lamps.len(), lamps[0].as_str()), (2, "d1/0 The lamp: It burns whale oil."));
    assert!(found(&store, HERE, "zebulon").await.is_empty());

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
    attach(&store, 1, HERE, "The lamp burns whale oil.").await;
    attach(&store, 2, OTHER, &"A lamp, and another lamp.\n".repeat(900)).await;
    assert_eq!(found(&store, HERE, "lamp").await, ["d1/0 : The lamp burns whale oil."]);
    assert_eq!(found(&store, OTHER, "whale").await, [""; 0]);
    assert_eq!(store.read(|r| r.documents().of(HERE)).await.unwrap(), [document(1, HERE, "d1")]);
}

#[tokio::test]
async fn what_is_removed_is_hidden_until_it_is_restored_and_purged_for_good() {
    let store = with_another_chat().await;
    attach(&store, 1, HERE, "The lamp burns whale oil.").await;
    attach(&store, 2, HERE, "Another lamp.").await;
    let listed = async || store.read(|r| r.documents().of(HERE)).await.unwrap().len();
    store.write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5))).await.unwrap();
    assert_eq!((found(&store, HERE, "lamp").await.len(), listed().await), (1, 1));
    assert_eq!(store.read(|r| r.documents().get(id(1))).await.unwrap(), None);
    let twice = store.write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5))).await;
    assert!(matches!(twice, Err(StoreError::NotFound { what: "document" })), "{twice:?}");
    store.write(|w| w.documents_mut().restore(id(1))).await.unwrap();
    assert_eq!((found(&store, HERE, "lamp").await.len(), listed().await), (2, 2));

    store.write(|w| w.documents_mut().soft_delete(id(1), Timestamp(5))).await.unwrap();
    assert_eq!(store.purge(crate::Before::all(Timestamp(4)), emptied).await.unwrap(), Purged::default());
    assert_eq!(
        store.purge(crate::Before::all(Timestamp(5)), emptied).await.unwrap(),
        Purged { documents: 1, ..Purged::default() }
    );
    assert!(store.write(|w| w.documents_mut().restore(id(1))).await.is_err());
    assert_eq!(found(&store, HERE, "lamp").await, ["d2/0 : Another lamp."]);
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
    attach(&store, 1, HERE, "The canary sings at dawn.").await;
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
    store.purge(crate::Before::all(Timestamp(5)), emptied).await.unwrap();
    drop(store);
    assert!(!holds("canary"));
}

#[tokio::test]
async fn documents_go_with_their_chat() {
    let store = with_another_chat().await;
    attach(&store, 1, OTHER, "The lamp burns whale oil.").await;
    store.write(|w| w.chats_mut().soft_delete(ChatId(Uuid::from_u128(70)), Timestamp(5))).await.unwrap();
    assert_eq!(store.read(|r| r.documents().get(id(1))).await.unwrap(), None, "it comes back with the chat");
    store.purge(crate::Before::all(Timestamp(5)), emptied).await.unwrap();
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
    assert_eq!(opened.store.read(|r| r.documents().of(HERE)).await.unwrap(), []);
    attach(&opened.store, 1, HERE, "The lamp burns whale oil.").await;
    assert_eq!(found(&opened.store, HERE, "whales").await.len(), 1);
}

/// A character's and a book's texts are found where they are asked for, and each by itself.
#[tokio::test]
async fn every_owner_has_its_own() {
    let store = with_another_chat().await;
    store.write(|w| w.lorebooks_mut().insert(&world())).await.unwrap();
    for (number, owner) in (1..).zip([HERE, HERS, WORLD]) {
        attach(&store, number, owner, "The lamp burns whale oil.").await;
    }
    for (owner, shown) in [(HERE, "d1"), (HERS, "d2"), (WORLD, "d3")] {
        assert_eq!(found(&store, owner, "lamp").await, [format!("{shown}/0 : The lamp burns whale oil.")]);
        let all = store.read(move |r| r.documents().of(owner)).await.unwrap();
        assert_eq!(all.iter().map(|one| (one.name.as_str(), one.owner)).collect::<Vec<_>>(), [(shown, owner)]);
    }
    assert!(found(&store, OTHER, "lamp").await.is_empty());
    let both = store.read(|r| r.documents().search(&[HERS, WORLD], &Query::any_of(["lamp"]), 9)).await.unwrap();
    assert_eq!(both.iter().map(|hit| hit.name.as_str()).collect::<Vec<_>>(), ["d2", "d3"]);
    let numbered =
        async |owners: Vec<DocumentOwner>| store.read(move |r| r.documents().numbered(&owners, 2)).await.unwrap();
    assert!(numbered(vec![HERE, OTHER, WORLD]).await.is_none(), "a number of another's passage tells nothing");
    assert_eq!(numbered(vec![HERS]).await.unwrap().name, "d2");
}

#[tokio::test]
async fn documents_go_with_their_character_or_book_and_what_quotes_them_too() {
    let store = with_another_chat().await;
    store
        .write(|w| {
            w.lorebooks_mut().insert(&world())?;
            w.lorebooks_mut().bind(BOOK, &[Binding::Global])
        })
        .await
        .unwrap();
    attach(&store, 1, WORLD, "The lamp burns whale oil.").await;
    attach(&store, 2, HERS, "Her lamp.").await;
    let quote = format!(r#"[{{"source":{{"type":"document","id":"{}"}},"text":"whale oil"}}]"#, id(1));
    let said = crate::NewMessage { context_block: Some(quote.clone()), ..message(1, domain::chat::Role::User, "Hm?") };
    store
        .write(move |w| {
            w.messages_mut().append(&said)?;
            w.manifests_mut().insert(super::swipe_id(1), &quote, "{}")?;
            w.lorebooks_mut().soft_delete(BOOK, Timestamp(5))
        })
        .await
        .unwrap();
    assert_eq!(store.read(|r| r.documents().get(id(1))).await.unwrap(), None, "it comes back with the book");
    let purged = store.purge(crate::Before::all(Timestamp(5)), emptied).await.unwrap();
    assert_eq!(purged, Purged { documents: 1, lorebooks: 1, ..Purged::default() });
    let quoting = store.on_writer(|conn| {
        let sql = "SELECT (SELECT count(*) FROM message WHERE instr(context_block, 'whale')), (SELECT count(*) FROM manifest WHERE instr(json, 'whale'))";
        conn.query_row(sql, [], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?))).unwrap()
    });
    assert_eq!(quoting.await.unwrap(), (0, 0));
    store.write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(6))).await.unwrap();
    assert_eq!(store.read(|r| r.documents().get(id(2))).await.unwrap(), None);
    store.purge(crate::Before::all(Timestamp(6)), emptied).await.unwrap();
    let left =
        store.on_writer(|conn| conn.query_row("SELECT count(*) FROM passage", [], |row| row.get::<_, u32>(0)).unwrap());
    assert_eq!(left.await.unwrap(), 0);
    let nobody = DocumentOwner::Character(CharacterId(Uuid::from_u128(99)));
    let stray = store.write(move |w| w.documents_mut().insert(&document(3, nobody, "d3"), &[])).await;
    assert!(matches!(stray, Err(StoreError::Conflict { .. })), "{stray:?}");
}

/// The tables are written anew: nothing of theirs, and nothing that knows them by their numbers, may be lost.
#[tokio::test]
async fn a_file_from_before_owners_keeps_its_documents_with_their_chats() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS.iter().position(|sql| sql.contains("CREATE TABLE document_kept")).unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    super::furnish(&old.store).await;
    attach(&old.store, 1, HERE, "The lamp: It burns whale oil.\nThe stairs: 灯塔看守人对花生过敏。").await;
    attach(&old.store, 2, HERE, "Gone.").await;
    old.store.write(|w| w.documents_mut().soft_delete(id(2), Timestamp(5))).await.unwrap();
    for thing in old.store.read(|r| r.meanings().unread(9)).await.unwrap() {
        old.store.write(move |w| w.meanings_mut().keep(&thing, "encoder", &[(vec![1], 1.0)])).await.unwrap();
    }
    drop(old);
    let store = open(dir.path()).store;
    assert_eq!(store.read(|r| r.documents().of(HERE)).await.unwrap(), [document(1, HERE, "d1")]);
    assert_eq!(found(&store, HERE, "whales").await, ["d1/0 The lamp: It burns whale oil."]);
    assert_eq!(found(&store, HERE, "花生过敏").await, ["d1/1 The stairs: 灯塔看守人对花生过敏。"]);
    let read = store.read(|r| r.meanings().revision(crate::Among::Passages(HERE))).await.unwrap();
    assert_eq!(read.passages, 3, "what was read stays read");
    attach(&store, 3, HERS, "Her lamp.").await;
    let unread = store.read(|r| r.meanings().unread(9)).await.unwrap();
    assert_eq!(unread.iter().map(|thing| thing.text.as_str()).collect::<Vec<_>>(), ["Her lamp."]);
    store.purge(crate::Before::all(Timestamp(9)), emptied).await.unwrap();
    assert!(store.write(|w| w.documents_mut().restore(id(2))).await.is_err());
    assert_eq!(found(&store, HERE, "whales").await.len(), 1);
}
