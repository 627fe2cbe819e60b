//! Embeddings of messages are removed with their texts.

use crate::tests::{
    CHAT, create_library, furnished, message_id, open, say, say_without_checksum, try_open_with,
};
use crate::{NewVector, QueuedText, Store, VectorRevision, migrate};

const MODEL: &str = "encoder";

fn passage(number: i8) -> NewVector {
    NewVector {
        vector: vec![number, -number],
        scale: 0.5,
        token_ids: vec![101, 30_521],
        token_vectors: vec![1, 2, 3, -128],
    }
}

async fn unread(store: &Store) -> Vec<QueuedText> {
    store.read(|r| r.vectors().queued(10)).await.unwrap()
}

async fn read_all(store: &Store) {
    for text in unread(store).await {
        store
            .write(move |w| {
                w.vectors_mut()
                    .keep(&text, MODEL, &[passage(1), passage(2)])
            })
            .await
            .unwrap();
    }
}

async fn revision(store: &Store) -> VectorRevision {
    store.read(|r| r.vectors().revision(CHAT)).await.unwrap()
}

#[tokio::test]
async fn texts_are_queued_until_their_embeddings_are_stored() {
    let store = furnished().await;
    say(&store, 1, "My parrot is called Zebulon.").await;
    say(&store, 2, "What a name.").await;
    let texts: Vec<String> = unread(&store)
        .await
        .into_iter()
        .map(|text| text.content.text)
        .collect();
    assert_eq!(
        texts,
        ["What a name.", "My parrot is called Zebulon."],
        "the newest first"
    );
    read_all(&store).await;
    assert!(unread(&store).await.is_empty());
    let kept = store
        .read(|r| r.vectors().of_chat(CHAT, MODEL, 0))
        .await
        .unwrap();
    assert_eq!(kept.len(), 4);
    assert_eq!(
        (&kept[0].vector, kept[0].scale, &kept[0].token_ids),
        (&vec![1, -1], 0.5, &vec![101, 30_521])
    );
    let first = kept[0].number;
    let last = kept[3].number;
    assert_eq!(
        store
            .read(move |r| r.vectors().pieces(first))
            .await
            .unwrap(),
        Some(vec![1, 2, 3, -128])
    );
    assert_eq!(revision(&store).await, VectorRevision { passages: 4, last });
    assert!(
        store
            .read(|r| r.vectors().of_chat(CHAT, "another", 0))
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn embeddings_are_removed_with_their_texts() {
    let store = furnished().await;
    say(&store, 1, "My parrot is called Zebulon.").await;
    say(&store, 2, "What a name.").await;
    let before = unread(&store).await;
    read_all(&store).await;
    store
        .write(|w| {
            w.messages_mut()
                .soft_delete(message_id(1), domain::Timestamp(9))
        })
        .await
        .unwrap();
    assert_eq!(
        revision(&store).await.passages,
        2,
        "deleted texts have no embeddings"
    );
    let late = before
        .into_iter()
        .find(|text| text.content.message == message_id(1))
        .unwrap();
    store
        .write(move |w| w.vectors_mut().keep(&late, MODEL, &[passage(9)]))
        .await
        .unwrap();
    assert_eq!(
        revision(&store).await.passages,
        2,
        "nor comes it back by a job that was late"
    );
}

/// Covers embeddings from before the counters existed.
#[tokio::test]
async fn upgrade_counts_existing_vectors() {
    let dir = tempfile::tempdir().unwrap();
    let before = try_open_with(dir.path(), &migrate::MIGRATIONS[..19])
        .unwrap()
        .store;
    create_library(&before).await;
    say_without_checksum(&before, 1, "My parrot is called Zebulon.").await;
    let embedded = "INSERT INTO message_vector (text, chat, position, passage, model, scale, vector, pieces)
            SELECT number, chat, position, value, 'encoder', 1.0, x'01', x'6500' FROM message_text, json_each('[0, 1]');
        DELETE FROM message_unread;";
    before
        .on_writer(move |conn| conn.execute_batch(embedded))
        .await
        .unwrap()
        .unwrap();
    drop(before);

    let store = open(dir.path()).store;
    assert_eq!(revision(&store).await.passages, 2);
    say(&store, 2, "What a name.").await;
    read_all(&store).await;
    let last = store
        .read(|r| r.vectors().of_chat(CHAT, MODEL, 0))
        .await
        .unwrap()
        .last()
        .map(|row| row.number);
    assert_eq!(
        revision(&store).await,
        VectorRevision {
            passages: 4,
            last: last.unwrap()
        }
    );
}

/// Embeddings depend on the neighbours of a message.
#[tokio::test]
async fn a_changed_neighbour_queues_a_text_again() {
    let store = furnished().await;
    for (number, text) in [(1, "Look!"), (2, "A parrot."), (3, "It is green.")] {
        say(&store, number, text).await;
    }
    let beside = |text: &QueuedText| {
        [&text.previous, &text.next].map(|beside| {
            beside
                .as_ref()
                .map_or(String::new(), |beside| beside.text.clone())
        })
    };
    let texts = unread(&store).await;
    assert_eq!(
        texts.iter().map(beside).collect::<Vec<_>>(),
        [
            ["A parrot.", ""],
            ["Look!", "It is green."],
            ["", "A parrot."]
        ]
    );
    read_all(&store).await;
    say(&store, 4, "And loud.").await;
    let again = |texts: Vec<QueuedText>| {
        texts
            .into_iter()
            .map(|text| text.content.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(again(unread(&store).await), ["And loud.", "It is green."]);
    read_all(&store).await;
    store
        .write(|w| {
            w.messages_mut()
                .soft_delete(message_id(2), domain::Timestamp(9))
        })
        .await
        .unwrap();
    assert_eq!(again(unread(&store).await), ["It is green.", "Look!"]);
    let late = texts
        .into_iter()
        .find(|text| text.content.message == message_id(1))
        .unwrap();
    store
        .write(move |w| w.vectors_mut().keep(&late, MODEL, &[passage(9)]))
        .await
        .unwrap();
    assert_eq!(
        again(unread(&store).await),
        ["It is green.", "Look!"],
        "its neighbour was deleted"
    );
}

#[tokio::test]
async fn another_model_queues_everything_again() {
    let store = furnished().await;
    say(&store, 1, "My parrot is called Zebulon.").await;
    read_all(&store).await;
    store
        .write(|w| w.vectors_mut().queue_all(MODEL))
        .await
        .unwrap();
    assert!(unread(&store).await.is_empty());
    store
        .write(|w| w.vectors_mut().queue_all("another"))
        .await
        .unwrap();
    assert_eq!(revision(&store).await, VectorRevision::default());
    assert_eq!(unread(&store).await.len(), 1);
    let text = unread(&store).await.remove(0);
    store
        .write(move |w| w.vectors_mut().dequeue(&text))
        .await
        .unwrap();
    assert_eq!(store.read(|r| r.vectors().count_queued()).await.unwrap(), 0);
}
