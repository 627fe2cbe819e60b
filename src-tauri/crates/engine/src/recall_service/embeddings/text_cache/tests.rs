use std::sync::mpsc;

use domain::chat::{Role, SwipeState};
use domain::{CharacterId, MessageId, SwipeId, Timestamp};
use recall::full_text::{Searched, search};
use store::{NewMessage, NewSwipe, Store};
use uuid::Uuid;

use super::*;
use crate::evaluation::corpus::{empty, nobody};

const CHAT: ChatId = ChatId(Uuid::from_u128(1));
const SAID: [&str; 4] = [
    "A lamp.",
    "A parrot.",
    "What a green parrot!",
    "It rained on the lamp.",
];

fn message_id(number: u128) -> MessageId {
    MessageId(Uuid::from_u128(number))
}

async fn say(store: &Store, number: u128, text: &str) {
    let id = SwipeId(Uuid::from_u128(number));
    let created = Timestamp(number as i64);
    let swipe = NewSwipe {
        id,
        text: text.to_owned(),
        state: SwipeState::Finished,
        created,
        model: None,
    };
    let (id, swipes) = (message_id(number), vec![swipe]);
    let new = NewMessage {
        id,
        chat: CHAT,
        role: Role::User,
        created,
        swipes,
        selected: 0,
        context_block: None,
    };
    store
        .write(move |w| w.messages_mut().append(&new))
        .await
        .unwrap();
}

/// Fills a chat with the messages of [`SAID`], numbered from 0.
async fn create_library(store: &Store) {
    let character = CharacterId(Uuid::from_u128(2));
    let begin = move |w: &mut store::WriteTransaction<'_>| {
        w.characters_mut().insert(&nobody(character))?;
        w.chats_mut().insert(&empty(CHAT, character))
    };
    store.write(begin).await.unwrap();
    for (number, text) in (0..).zip(SAID) {
        say(store, number, text).await;
    }
}

/// The results of a search in the chat, and the positions of its messages.
#[derive(Debug, PartialEq)]
struct Seen {
    positions: Vec<i64>,
    searched: Searched,
    /// The data of each message besides its words.
    asking: BTreeMap<i64, f32>,
    naming: Naming,
    news: BTreeMap<i64, Update>,
}

fn seen(texts: &IndexedChat) -> Seen {
    let searched = search(
        &[(&texts.index, i64::MAX)],
        ["lamp", "parrot", "gull", "rain"],
    );
    Seen {
        positions: texts
            .messages(i64::MAX)
            .map(|message| message.position)
            .collect(),
        searched,
        asking: texts.asking.clone(),
        naming: texts.naming.clone(),
        news: texts.news.clone(),
    }
}

/// Whether the cache has what a new one reads.
async fn is_current(store: &Store, cache: &Arc<TextCache>) -> bool {
    let cache = Arc::clone(cache);
    let both = move |read: &ReadTransaction<'_>| {
        Ok((cache.of(read, CHAT)?, TextCache::default().of(read, CHAT)?))
    };
    let (known, anew) = store.read(both).await.unwrap();
    seen(&known) == seen(&anew) && known.index.len() == anew.index.len()
}

#[tokio::test]
async fn index_follows_all_changes_of_a_chat() {
    let (store, cache) = (Store::in_memory().unwrap(), Arc::new(TextCache::default()));
    assert!(
        is_current(&store, &cache).await,
        "an unknown chat has no texts"
    );
    create_library(&store).await;
    assert!(is_current(&store, &cache).await);
    store
        .write(|w| {
            w.messages_mut().edit(
                message_id(3),
                "Is it your gull? My gull lives. I live in Oak Lane now.",
            )
        })
        .await
        .unwrap();
    assert!(is_current(&store, &cache).await, "edited");
    let known = store
        .read({
            let cache = Arc::clone(&cache);
            move |read| cache.of(read, CHAT)
        })
        .await
        .unwrap();
    let Seen { asking, news, .. } = seen(&known);
    let gulls = known
        .naming(&possessions("my gull", Role::User), i64::MAX)
        .count();
    assert_eq!(
        (asking.len(), gulls, news.len()),
        (1, 1, 1),
        "it asks, names a possession and is an update"
    );
    store
        .write(|w| w.messages_mut().edit(message_id(3), "A gull."))
        .await
        .unwrap();
    assert!(is_current(&store, &cache).await, "edited again");
    store
        .write(|w| w.messages_mut().soft_delete(message_id(1), Timestamp(9)))
        .await
        .unwrap();
    assert!(is_current(&store, &cache).await, "deleted");
    say(&store, 4, "Another lamp.").await;
    store
        .write(|w| w.messages_mut().restore(&[message_id(1)]))
        .await
        .unwrap();
    assert!(
        is_current(&store, &cache).await,
        "restored, and a message added"
    );
    store
        .write(|w| w.messages_mut().exclude(message_id(2)))
        .await
        .unwrap();
    assert!(is_current(&store, &cache).await, "excluded from recall");
    store
        .write(|w| w.messages_mut().include(message_id(2)))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().soft_delete(message_id(4), Timestamp(9)))
        .await
        .unwrap();
    assert!(
        is_current(&store, &cache).await,
        "one added and one deleted"
    );
}

/// A reader that searches many chats may have an older snapshot than another reader.
#[tokio::test(flavor = "multi_thread")]
async fn older_snapshot_leaves_the_cache_intact() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(
        dir.path(),
        store::Options {
            now: Timestamp(0),
            keys: None,
        },
    )
    .unwrap()
    .store;
    let cache = Arc::new(TextCache::default());
    create_library(&store).await;
    assert!(is_current(&store, &cache).await);

    let ((begun, begins), (changed, changes)) = (mpsc::channel(), mpsc::channel());
    let (late_store, late_cache) = (store.clone(), Arc::clone(&cache));
    let late = tokio::spawn(async move {
        let look = move |read: &ReadTransaction<'_>| {
            read.message_texts().revision(CHAT)?;
            begun.send(()).unwrap();
            changes.recv().unwrap();
            late_cache.of(read, CHAT)
        };
        late_store.read(look).await.unwrap()
    });
    tokio::task::spawn_blocking(move || begins.recv().unwrap())
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().edit(message_id(3), "A gull."))
        .await
        .unwrap();
    say(&store, 4, "Another lamp.").await;
    assert!(is_current(&store, &cache).await);
    changed.send(()).unwrap();
    assert_eq!(
        late.await.unwrap().end(),
        SAID.len() as i64,
        "it sees its own snapshot"
    );
    assert!(is_current(&store, &cache).await);
}

#[tokio::test]
async fn evicted_chat_is_read_again() {
    let (store, cache) = (Store::in_memory().unwrap(), Arc::new(TextCache::default()));
    create_library(&store).await;
    let others = Arc::clone(&cache);
    let look = move |read: &ReadTransaction<'_>| {
        let before = others.of(read, CHAT)?;
        assert!(Arc::ptr_eq(&before, &others.of(read, CHAT)?));
        for other in 0..CHATS as u128 {
            others.of(read, ChatId(Uuid::from_u128(100 + other)))?;
        }
        let after = others.of(read, CHAT)?;
        Ok((Arc::ptr_eq(&before, &after), seen(&before) == seen(&after)))
    };
    assert_eq!(store.read(look).await.unwrap(), (false, true));
}
