//! Characters: their order in the list, deletion, and the bytes of their cards.

use domain::{CharacterId, ChatId, Timestamp};

use crate::tests::{CHARACTER, CHAT, character, chat, empty_store, furnished, say, uuid};
use crate::{Store, StoreError};

async fn names(store: &Store) -> Vec<String> {
    let list = store.read(|r| r.characters().list()).await.unwrap();
    list.into_iter()
        .map(|listed| listed.character.name)
        .collect()
}

#[tokio::test]
async fn characters_are_listed_by_last_chat_then_by_name() {
    let store = empty_store();
    store
        .write(|w| {
            for (number, name) in [(1, "zoe"), (2, "Bea"), (3, "Ada"), (4, "Cleo")] {
                w.characters_mut()
                    .insert(&character(CharacterId(uuid(number)), name))?;
            }
            w.chats_mut()
                .insert(&chat(ChatId(uuid(1)), CharacterId(uuid(4)), 10))?;
            w.chats_mut()
                .insert(&chat(ChatId(uuid(2)), CharacterId(uuid(1)), 20))?;
            w.chats_mut()
                .insert(&chat(ChatId(uuid(3)), CharacterId(uuid(1)), 5))
        })
        .await
        .unwrap();

    assert_eq!(names(&store).await, ["zoe", "Cleo", "Ada", "Bea"]);
    let list = store.read(|r| r.characters().list()).await.unwrap();
    assert_eq!((list[0].last_chat, list[0].chats), (Some(Timestamp(20)), 2));
    assert_eq!((list[2].last_chat, list[2].chats), (None, 0));
}

#[tokio::test]
async fn a_deleted_character_hides_her_chats_until_restored() {
    let store = furnished().await;
    say(&store, 1, "hello").await;

    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(9)))
        .await
        .unwrap();
    let (listed, chats, found) = store
        .read(|r| {
            Ok((
                r.characters().list()?,
                r.chats().list()?,
                r.chats().get(CHAT)?,
            ))
        })
        .await
        .unwrap();
    assert!(listed.is_empty() && chats.is_empty() && found.is_none());
    let again = store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(10)))
        .await;
    assert!(matches!(
        again,
        Err(StoreError::NotFound { what: "character" })
    ));

    store
        .write(|w| w.characters_mut().restore(CHARACTER))
        .await
        .unwrap();
    assert_eq!(names(&store).await, ["Ada"]);
    assert_eq!(crate::tests::shown(&store).await, ["hello"]);
}

#[tokio::test]
async fn an_edited_card_keeps_every_byte() {
    let store = furnished().await;
    let mut edited = character(CHARACTER, "Ada \u{1F980}");
    edited.card_json = "{\"extensions\":{\"x\":[1.0,\"\\u0000\"]}}\n".into();
    edited.updated = Timestamp(5);
    let expected = edited.clone();
    store
        .write(move |w| w.characters_mut().update(&edited))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.characters().get(CHARACTER)).await.unwrap(),
        Some(expected)
    );
}
