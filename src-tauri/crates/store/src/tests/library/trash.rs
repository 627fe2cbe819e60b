//! Deleted items stay in the trash until they expire. On request, their text is erased from the
//! files at once.

use domain::{ChatId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHARACTER, CHAT, chat, emptied, furnished, say};
use crate::{Before, TrashId};

#[tokio::test]
async fn a_deleted_chat_waits_in_the_trash() {
    let store = furnished().await;
    say(&store, 1, "hello").await;
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(50)))
        .await
        .unwrap();
    store
        .purge(
            Before {
                trash: Timestamp(49),
                ..Before::all(Timestamp(60))
            },
            emptied,
        )
        .await
        .unwrap();
    let trash = store.read(|r| r.trash().list()).await.unwrap();
    assert_eq!(trash.len(), 1);
    assert_eq!(
        (trash[0].id, trash[0].messages, trash[0].with.as_deref()),
        (TrashId::Chat(CHAT), 1, Some("Ada"))
    );
    store
        .purge(
            Before {
                trash: Timestamp(50),
                ..Before::all(Timestamp(60))
            },
            emptied,
        )
        .await
        .unwrap();
    assert!(store.read(|r| r.trash().list()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_single_message_is_purged_before_the_trash() {
    let store = furnished().await;
    for number in 1..=2 {
        say(&store, number, "m").await;
    }
    store
        .write(|w| {
            w.messages_mut()
                .soft_delete(crate::tests::message_id(1), Timestamp(50))
        })
        .await
        .unwrap();
    let purged = store
        .purge(
            Before {
                trash: Timestamp(0),
                ..Before::all(Timestamp(50))
            },
            emptied,
        )
        .await
        .unwrap();
    assert_eq!(purged.messages, 1);
}

#[tokio::test]
async fn condemned_items_are_purged_with_their_pictures() {
    let store = furnished().await;
    let other = ChatId(Uuid::from_u128(90));
    let face = b"face";
    let kept = b"kept";
    let (face, kept) = store
        .write(move |w| {
            w.chats_mut().insert(&chat(other, CHARACTER, 2))?;
            let kept = w.assets_mut().put(kept, "image/png", Timestamp(9))?;
            let face = w.assets_mut().put(face, "image/png", Timestamp(9))?;
            let mut second =
                crate::tests::character(domain::CharacterId(Uuid::from_u128(91)), "Bo");
            second.picture = Some(face);
            w.characters_mut().insert(&second)?;
            w.characters_mut().soft_delete(second.id, Timestamp(10))?;
            w.chats_mut().soft_delete(other, Timestamp(10))?;
            w.trash_mut()
                .mark_for_purge(TrashId::Character(second.id))?;
            Ok((face, kept))
        })
        .await
        .unwrap();
    let purged = store.purge(Before::ONLY_CONDEMNED, emptied).await.unwrap();
    assert_eq!((purged.characters, purged.chats, purged.assets), (1, 0, 1));
    assert!(!store.assets().file(face).exists());
    assert!(
        store.assets().file(kept).exists(),
        "nothing refers to it yet"
    );
    assert_eq!(store.read(|r| r.trash().list()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn only_items_in_the_trash_can_be_condemned() {
    let store = furnished().await;
    store
        .write(|w| w.trash_mut().mark_for_purge(TrashId::Chat(CHAT)))
        .await
        .unwrap_err();
}
