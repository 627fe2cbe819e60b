//! Visible texts of chats, and detection of their changes.

use domain::Timestamp;
use domain::chat::SwipeState;

use crate::tests::{
    CHAT, create_library, furnished, message_id, open, say, say_without_checksum, swipe, swipe_id,
    try_open_with,
};
use crate::{NewSwipe, Store, TextRevision, migrate};

async fn shown(store: &Store) -> Vec<String> {
    let texts = store
        .read(|r| r.message_texts().changed(CHAT, 0))
        .await
        .unwrap();
    texts.into_iter().map(|text| text.text).collect()
}

async fn revision(store: &Store) -> TextRevision {
    store
        .read(|r| r.message_texts().revision(CHAT))
        .await
        .unwrap()
}

#[tokio::test]
async fn texts_follow_what_is_shown() {
    let store = furnished().await;
    say(&store, 1, "It burns whale oil.").await;
    say(&store, 2, "Nothing of note.").await;
    store
        .write(|w| w.messages_mut().edit(message_id(1), "It runs on kerosene."))
        .await
        .unwrap();
    assert_eq!(
        shown(&store).await,
        ["It runs on kerosene.", "Nothing of note."]
    );
    let streaming = NewSwipe {
        state: SwipeState::Streaming,
        ..swipe(50, "Or on gas")
    };
    store
        .write(move |w| w.swipes_mut().add(message_id(1), &streaming))
        .await
        .unwrap();
    assert_eq!(
        shown(&store).await,
        ["Nothing of note."],
        "another swipe is chosen, and is not written yet"
    );
    store
        .write(|w| {
            w.swipes_mut()
                .set_text(swipe_id(50), "Or on gas.", SwipeState::Finished)
        })
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["Or on gas.", "Nothing of note."]);
    store
        .write(|w| w.swipes_mut().select(message_id(1), 0))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().soft_delete(message_id(2), Timestamp(5)))
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["It runs on kerosene."]);
    store
        .write(|w| w.messages_mut().restore(&[message_id(2)]))
        .await
        .unwrap();
    assert_eq!(
        shown(&store).await,
        ["It runs on kerosene.", "Nothing of note."]
    );
    store.check().await.unwrap();
}

/// Every change is detectable, including a row that replaces the newest one.
#[tokio::test]
async fn every_change_has_its_own_number() {
    let store = furnished().await;
    say(&store, 1, "A lamp.").await;
    say(&store, 2, "A parrot.").await;
    let before = revision(&store).await;
    assert_eq!(before.texts, 2);
    let kept = store
        .read(|r| r.message_texts().changes(CHAT))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().edit(message_id(2), "A gull."))
        .await
        .unwrap();
    let after = revision(&store).await;
    assert!(
        after.texts == 2 && after.last > before.last,
        "{before:?} {after:?}"
    );
    let changed = store
        .read(move |r| r.message_texts().changed(CHAT, before.last))
        .await
        .unwrap();
    assert_eq!(
        changed
            .iter()
            .map(|text| text.text.as_str())
            .collect::<Vec<_>>(),
        ["A gull."]
    );
    assert!(!kept.contains(&changed[0].change));
    store
        .write(|w| w.messages_mut().soft_delete(message_id(2), Timestamp(5)))
        .await
        .unwrap();
    let gone = revision(&store).await;
    assert!(gone.texts == 1 && gone.last > after.last, "{gone:?}");
}

#[tokio::test]
async fn upgrade_counts_existing_texts() {
    let dir = tempfile::tempdir().unwrap();
    let before = try_open_with(dir.path(), &migrate::MIGRATIONS[..20])
        .unwrap()
        .store;
    create_library(&before).await;
    say_without_checksum(&before, 1, "A lamp.").await;
    say_without_checksum(&before, 2, "A parrot.").await;
    drop(before);

    let store = open(dir.path()).store;
    let known = revision(&store).await;
    assert_eq!((known.texts, shown(&store).await.len()), (2, 2));
    say(&store, 3, "A gull.").await;
    let changed = store
        .read(move |r| r.message_texts().changed(CHAT, known.last))
        .await
        .unwrap();
    assert_eq!(
        changed
            .iter()
            .map(|text| text.text.as_str())
            .collect::<Vec<_>>(),
        ["A gull."]
    );
    store.check().await.unwrap();
}

/// Messages from before the memory feature are searchable too.
#[tokio::test]
async fn an_upgrade_creates_texts_of_older_messages() {
    let dir = tempfile::tempdir().unwrap();
    let before = try_open_with(dir.path(), &migrate::MIGRATIONS[..1])
        .unwrap()
        .store;
    create_library(&before).await;
    say_without_checksum(&before, 1, "The lighthouse is dark.").await;
    drop(before);
    assert_eq!(
        shown(&open(dir.path()).store).await,
        ["The lighthouse is dark."]
    );
}

#[tokio::test]
async fn hidden_messages_are_not_in_texts_or_windows() {
    let store = furnished().await;
    say(&store, 1, "A lamp.").await;
    say(&store, 2, "A secret.").await;
    let window = |store: &Store| {
        let read = store.read(|r| r.messages().from(CHAT, None));
        async move {
            read.await
                .unwrap()
                .into_iter()
                .map(|message| message.text)
                .collect::<Vec<_>>()
        }
    };
    store
        .write(|w| w.messages_mut().set_hidden(message_id(2), true))
        .await
        .unwrap();
    assert_eq!(
        (shown(&store).await, window(&store).await),
        (vec!["A lamp.".into()], vec!["A lamp.".to_owned()])
    );
    let page = store
        .read(|r| r.messages().page(CHAT, None, 9))
        .await
        .unwrap();
    assert_eq!(
        page.iter()
            .map(|message| message.hidden)
            .collect::<Vec<_>>(),
        [false, true]
    );
    store
        .write(|w| w.messages_mut().edit(message_id(2), "Another secret."))
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["A lamp."]);
    store
        .write(|w| w.messages_mut().set_hidden(message_id(2), false))
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["A lamp.", "Another secret."]);
    assert_eq!(window(&store).await, ["A lamp.", "Another secret."]);
    store.check().await.unwrap();
}

#[tokio::test]
async fn an_edit_invalidates_what_was_made_from_the_text() {
    let store = furnished().await;
    say(&store, 1, "A lamp.").await;
    let swipe = store
        .read(|r| r.messages().get(message_id(1)))
        .await
        .unwrap()
        .unwrap()
        .swipe()
        .id;
    let json = r#"{"gen_started":"x","extra":{"display_text":"Eine Lampe.","token_count":3,"image":"a.png"}}"#;
    store
        .write(move |w| w.foreign_mut().set_swipe(swipe, json))
        .await
        .unwrap();
    let kept = |store: &Store| {
        let read = store.read(|r| r.foreign().swipes(CHAT));
        async move { read.await.unwrap().remove(&swipe).unwrap() }
    };
    store
        .write(|w| w.messages_mut().edit(message_id(1), "A lamp."))
        .await
        .unwrap();
    assert_eq!(kept(&store).await, json);
    store
        .write(|w| w.messages_mut().edit(message_id(1), "A gull."))
        .await
        .unwrap();
    assert_eq!(
        kept(&store).await,
        r#"{"gen_started":"x","extra":{"image":"a.png"}}"#
    );
}
