//! Embeddings of memories, passages and lorebook entries. They are removed with their owners.

use domain::document::{Document, DocumentOwner, Passage};
use domain::memory::{MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::{DocumentId, LorebookId, MemoryId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHARACTER, CHAT, furnished, purge};
use crate::{
    EmbeddingGroup, LoreEntryText, Lorebook, MemoryFilter, QueuedItem, Store, VectorRevision,
};

const MODEL: &str = "encoder";
const BOOK: LorebookId = LorebookId(Uuid::from_u128(70));
const DOCUMENT: DocumentId = DocumentId(Uuid::from_u128(80));

fn memory(text: &str) -> Memory {
    Memory {
        id: MemoryId(Uuid::from_u128(60)),
        kind: MemoryType::Fact,
        scope: MemoryScope::Character(CHARACTER),
        text: text.into(),
        importance: 5,
        pinned: false,
        sources: Vec::new(),
        origin: MemoryOrigin::User,
        confidence: MAX_CONFIDENCE,
        merged_sources: Vec::new(),
        archived: None,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

fn book(json: &str) -> Lorebook {
    Lorebook {
        id: BOOK,
        name: "Sea".into(),
        json: json.into(),
        source: None,
        enabled: true,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

fn entry(uid: &str, text: &str) -> LoreEntryText {
    LoreEntryText {
        uid: uid.into(),
        text: text.into(),
    }
}

async fn with_things() -> Store {
    let store = furnished().await;
    store
        .write(|w| {
            w.memories_mut().insert(&memory("Allergic to nuts."))?;
            let id = DOCUMENT;
            let owner = DocumentOwner::Chat(CHAT);
            let name = "guide.md".into();
            let document = Document {
                id,
                owner,
                name,
                bytes: 9,
                created: Timestamp(1),
            };
            let passages = [("The lamp", "It burns oil."), ("", "Eighty steps.")];
            let passages = passages.map(|(heading, text)| Passage {
                heading: heading.into(),
                text: text.into(),
            });
            w.documents_mut().insert(&document, &passages)?;
            w.lorebooks_mut()
                .insert(&book(r#"{"entries":{},"vectorized":true}"#))?;
            w.item_embeddings_mut()
                .put_entries(BOOK, &[entry("1", "The mill is dark.")])
        })
        .await
        .unwrap();
    store
}

async fn unread(store: &Store) -> Vec<QueuedItem> {
    store
        .read(|r| r.item_embeddings().queued(10))
        .await
        .unwrap()
}

async fn texts(store: &Store) -> Vec<String> {
    unread(store)
        .await
        .into_iter()
        .map(|thing| thing.text)
        .collect()
}

async fn read_all(store: &Store) {
    for thing in unread(store).await {
        store
            .write(move |w| {
                w.item_embeddings_mut()
                    .keep(&thing, MODEL, &[(vec![1, -2], 0.5)])
            })
            .await
            .unwrap();
    }
}

async fn kept(store: &Store) -> [u32; 3] {
    let among = [
        EmbeddingGroup::Memories,
        EmbeddingGroup::Passages(DocumentOwner::Chat(CHAT)),
        EmbeddingGroup::Entries(BOOK),
    ];
    store
        .read(move |r| {
            let [one, two, three] = among.map(|among| {
                r.item_embeddings()
                    .revision(among)
                    .map(|revision| revision.passages)
            });
            Ok([one?, two?, three?])
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn items_are_queued_until_embedded_in_their_group() {
    let store = with_things().await;
    let all = [
        "The mill is dark.",
        "Allergic to nuts.",
        "Eighty steps.",
        "The lamp\nIt burns oil.",
    ];
    assert_eq!(texts(&store).await, all);
    read_all(&store).await;
    assert_eq!(
        (texts(&store).await.len(), kept(&store).await),
        (0, [1, 2, 1])
    );
    let meant = store
        .read(|r| r.item_embeddings().of(EmbeddingGroup::Memories, MODEL))
        .await
        .unwrap();
    assert_eq!(
        (meant[0].vector.as_slice(), meant[0].scale),
        (&[1, -2][..], 0.5)
    );
    assert!(
        store
            .read(|r| r.item_embeddings().of(EmbeddingGroup::Memories, "another"))
            .await
            .unwrap()
            .is_empty()
    );
    let entries = store
        .read(|r| r.item_embeddings().entries(BOOK))
        .await
        .unwrap();
    assert_eq!(entries, [("1".to_owned(), true)]);
    store
        .write(|w| w.item_embeddings_mut().queue_all("another"))
        .await
        .unwrap();
    assert_eq!(
        (texts(&store).await, kept(&store).await),
        (all.map(str::to_owned).to_vec(), [0, 0, 0])
    );
}

#[tokio::test]
async fn a_changed_item_is_queued_again() {
    let store = with_things().await;
    let late = unread(&store).await;
    read_all(&store).await;
    store
        .write(|w| {
            w.memories_mut().update(&Memory {
                pinned: true,
                ..memory("Allergic to nuts.")
            })?;
            w.item_embeddings_mut().put_entries(
                BOOK,
                &[
                    entry("1", "The mill is lit."),
                    entry("2", "The road is long."),
                ],
            )
        })
        .await
        .unwrap();
    let mut again = texts(&store).await;
    again.sort();
    assert_eq!(
        again,
        ["The mill is lit.", "The road is long."],
        "a pin changes no words"
    );
    store
        .write(|w| w.memories_mut().update(&memory("Allergic to eggs.")))
        .await
        .unwrap();
    assert_eq!(kept(&store).await, [0, 2, 0]);
    for thing in late {
        store
            .write(move |w| {
                w.item_embeddings_mut()
                    .keep(&thing, MODEL, &[(vec![9], 1.0)])
            })
            .await
            .unwrap();
    }
    assert_eq!(
        kept(&store).await,
        [0, 2, 0],
        "removed texts have no embeddings"
    );
    store
        .write(|w| w.item_embeddings_mut().put_entries(BOOK, &[]))
        .await
        .unwrap();
    assert_eq!(texts(&store).await, ["Allergic to eggs."]);
}

/// Nothing remains after compaction.
#[tokio::test]
async fn embeddings_are_removed_with_their_owners() {
    let store = with_things().await;
    read_all(&store).await;
    store
        .write(|w| {
            w.memories_mut().soft_delete(memory("").id, Timestamp(9))?;
            w.documents_mut().soft_delete(DOCUMENT, Timestamp(9))?;
            w.lorebooks_mut().soft_delete(BOOK, Timestamp(9))
        })
        .await
        .unwrap();
    purge(&store, 9).await;
    assert_eq!(
        (kept(&store).await, texts(&store).await.len()),
        ([0, 0, 0], 0)
    );
    assert!(
        store
            .read(|r| r.item_embeddings().entries(BOOK))
            .await
            .unwrap()
            .is_empty()
    );
    let revision = store
        .read(|r| r.item_embeddings().revision(EmbeddingGroup::Memories))
        .await
        .unwrap();
    assert_eq!(revision, VectorRevision::default());
    let left = store
        .read(|r| {
            r.memories()
                .of_character(CHARACTER, MemoryFilter::default(), 9)
        })
        .await
        .unwrap();
    assert!(left.is_empty());
}

#[tokio::test]
async fn only_books_with_vectorized_entries_are_queued() {
    let store = furnished().await;
    let books = async || {
        store
            .read(|r| r.item_embeddings().queued_books(9))
            .await
            .unwrap()
    };
    store
        .write(|w| w.lorebooks_mut().insert(&book(r#"{"entries":{}}"#)))
        .await
        .unwrap();
    assert!(books().await.is_empty());
    store
        .write(|w| w.lorebooks_mut().update(&book(r#"{"vectorized":true}"#)))
        .await
        .unwrap();
    assert_eq!(books().await, [BOOK]);
    store
        .write(|w| w.item_embeddings_mut().put_entries(BOOK, &[]))
        .await
        .unwrap();
    assert!(books().await.is_empty());
    store
        .write(|w| w.lorebooks_mut().update(&book(r#"{"entries":{}}"#)))
        .await
        .unwrap();
    assert_eq!(
        books().await,
        [BOOK],
        "its entries may be no such ones any more"
    );
}
