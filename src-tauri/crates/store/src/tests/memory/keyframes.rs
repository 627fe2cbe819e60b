//! Keyframes are deleted when one of their messages changes.

use domain::keyframe::Keyframe;
use domain::{KeyframeId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHAT, furnished, message_id, say};
use crate::{SourceText, Store};

const ID: KeyframeId = KeyframeId(Uuid::from_u128(0x00c0_ffee_0000_4000_8000_0000_0000_0001));

async fn told(store: &Store) -> Vec<SourceText> {
    store
        .read(|r| r.message_texts().texts_after(CHAT, -1, 100))
        .await
        .unwrap()
}

fn keyframe(told: &[SourceText]) -> Keyframe {
    Keyframe {
        id: ID,
        chat: CHAT,
        messages: told.iter().map(|text| text.message).collect(),
        first: told[0].position,
        last: told[told.len() - 1].position,
        summary: "They talked of a boat.".into(),
        analysis: "It is for sale.".into(),
        rating: 6,
        characters: vec!["Ada".into(), "Tom".into()],
        fallback: true,
        created: Timestamp(5),
    }
}

async fn keep(store: &Store, told: Vec<SourceText>) -> bool {
    store
        .write(move |w| w.keyframes_mut().put(&keyframe(&told), &told))
        .await
        .unwrap()
}

async fn kept(store: &Store) -> Vec<Keyframe> {
    store.read(|r| r.keyframes().of_chat(CHAT)).await.unwrap()
}

/// A chat of three messages with a keyframe of all of them, which its digest quotes.
async fn covered() -> Store {
    let store = furnished().await;
    for (number, text) in [(1, "I own a boat."), (2, "Is it for sale?"), (3, "It is.")] {
        say(&store, number, text).await;
    }
    let texts = told(&store).await;
    assert!(keep(&store, texts).await);
    let quoted = domain::chat::WindowState {
        fingerprint: "f".into(),
        frozen: format!("{{\"digest\":\"{ID}\"}}"),
        ..domain::chat::WindowState::default()
    };
    store
        .write(move |w| w.chats_mut().set_window(CHAT, &quoted))
        .await
        .unwrap();
    store
}

async fn frozen(store: &Store) -> String {
    store
        .read(|r| r.chats().get(CHAT))
        .await
        .unwrap()
        .unwrap()
        .window
        .frozen
}

#[tokio::test]
async fn a_keyframe_is_kept_with_its_messages() {
    let store = covered().await;
    let expected = keyframe(&told(&store).await);
    assert_eq!(kept(&store).await, [expected]);
    assert!(told(&store).await.iter().all(|text| text.covered));
    let another = Keyframe {
        id: KeyframeId(Uuid::from_u128(9)),
        ..keyframe(&told(&store).await)
    };
    let texts = told(&store).await;
    let kept_too = store
        .write(move |w| w.keyframes_mut().put(&another, &texts))
        .await
        .unwrap();
    assert!(!kept_too, "no message has two");
    let later = store
        .read(|r| r.keyframes().around(CHAT, 100, 0))
        .await
        .unwrap();
    assert!(later.is_empty());
    assert_eq!(
        store
            .read(|r| r.keyframes().around(CHAT, 100, 1))
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_changed_message_deletes_its_keyframe() {
    for change in 0..4 {
        let store = covered().await;
        assert!(!frozen(&store).await.is_empty());
        store
            .write(move |w| match change {
                0 => w.messages_mut().edit(message_id(1), "I own a horse."),
                1 => w.messages_mut().soft_delete(message_id(2), Timestamp(9)),
                2 => w.messages_mut().exclude(message_id(3)),
                _ => w
                    .swipes_mut()
                    .add(message_id(3), &crate::tests::swipe(33, "No."))
                    .map(|_| ()),
            })
            .await
            .unwrap();
        assert!(kept(&store).await.is_empty(), "change {change}");
        assert_eq!(
            frozen(&store).await,
            "",
            "the digest that quotes it is not sent again: change {change}"
        );
    }
}

#[tokio::test]
async fn a_keyframe_can_grow() {
    let store = covered().await;
    say(&store, 4, "Sold!").await;
    assert!(!told(&store).await[3].covered);
    assert!(keep(&store, told(&store).await).await);
    let [grown] = &kept(&store).await[..] else {
        panic!("not one keyframe")
    };
    assert_eq!((grown.messages.len(), grown.last), (4, 3));
    assert!(
        !frozen(&store).await.is_empty(),
        "text that was sent is unchanged"
    );
    let unread = |whole| store.read(move |r| r.keyframes().next_to_summarize(CHAT, 0, whole));
    assert!(unread(4).await.unwrap().is_some());
    assert!(unread(5).await.unwrap().is_none(), "it may grow still");
}

#[tokio::test]
async fn a_keyframe_of_changed_texts_is_not_stored() {
    let store = furnished().await;
    say(&store, 1, "I own a boat.").await;
    let before = told(&store).await;
    store
        .write(|w| w.messages_mut().edit(message_id(1), "I own a horse."))
        .await
        .unwrap();
    assert!(!keep(&store, before).await);
    assert!(kept(&store).await.is_empty());
}

#[tokio::test]
async fn a_model_replaces_first_sentences_once() {
    let store = covered().await;
    let unread = store
        .read(|r| r.keyframes().next_to_summarize(CHAT, 0, 3))
        .await
        .unwrap()
        .unwrap();
    store
        .write(move |w| w.keyframes_mut().mark_failed(unread.id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.keyframes().next_to_summarize(CHAT, 0, 3))
            .await
            .unwrap(),
        None
    );
    let better = Keyframe {
        summary: "A boat is sold.".into(),
        fallback: false,
        ..kept(&store).await.remove(0)
    };
    let written = better.clone();
    store
        .write(move |w| w.keyframes_mut().rewrite(&written))
        .await
        .unwrap();
    assert_eq!(kept(&store).await, [better]);
    assert!(
        !frozen(&store).await.is_empty(),
        "text that was sent is unchanged"
    );
}
