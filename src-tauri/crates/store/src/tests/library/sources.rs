use domain::lorebook::Binding;
use domain::{ChatId, LorebookId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHARACTER, CHAT, character, furnished};
use crate::{AssetHash, Character, Lorebook, StoreError};

const BOOK: LorebookId = LorebookId(Uuid::from_u128(60));

fn book() -> Lorebook {
    Lorebook {
        id: BOOK,
        name: "Sea".into(),
        json: r#"{"entries":{}}"#.into(),
        source: None,
        enabled: true,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

#[tokio::test]
async fn each_file_of_a_folder_is_its_own_character() {
    let store = furnished().await;
    let content = AssetHash::of(b"a card");
    store
        .write(move |w| {
            w.assets_mut().put(b"a card", "image/png", Timestamp(1))?;
            let source = Some(content);
            w.characters_mut().update(&Character {
                source,
                ..character(CHARACTER, "Ada")
            })?;
            let found = w.sources().character_like("/tavern", content)?;
            assert_eq!(found, Some(CHARACTER), "brought in some other way");
            w.sources_mut()
                .set_character("/tavern", "Ada.png", CHARACTER)
        })
        .await
        .unwrap();
    let (known, copy, elsewhere) = store
        .read(move |r| {
            let sources = r.sources();
            let copy = sources.character_like("/tavern", content)?;
            Ok((
                sources.character("/tavern", "Ada.png")?,
                copy,
                sources.character_like("/other", content)?,
            ))
        })
        .await
        .unwrap();
    assert_eq!(
        (known, copy, elsewhere),
        (Some(CHARACTER), None, Some(CHARACTER))
    );
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(2)))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.sources().character("/tavern", "Ada.png"))
            .await
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn a_renamed_chat_is_recognized_by_its_file() {
    let store = furnished().await;
    let known = |file: &'static str, title: &'static str| {
        store.read(move |r| r.sources().chat(CHARACTER, file, title))
    };
    assert_eq!(known("night.jsonl", "night").await.unwrap(), None);
    assert_eq!(
        known("night.jsonl", "An evening").await.unwrap(),
        Some(CHAT)
    );
    store
        .write(|w| w.sources_mut().set_chat(CHAT, "night.jsonl"))
        .await
        .unwrap();
    assert_eq!(known("night.jsonl", "night").await.unwrap(), Some(CHAT));
    let from = |file: &'static str| store.read(move |r| r.sources().chat_from(file));
    assert_eq!(
        (
            from("night.jsonl").await.unwrap(),
            from("day.jsonl").await.unwrap()
        ),
        (Some(CHAT), None)
    );
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(2)))
        .await
        .unwrap();
    assert_eq!(known("night.jsonl", "night").await.unwrap(), None);
    assert_eq!(from("night.jsonl").await.unwrap(), None);
}

#[tokio::test]
async fn a_removed_binding_is_not_granted_again() {
    let store = furnished().await;
    let to = Binding::Chat(CHAT);
    let first = store.write(move |w| {
        w.lorebooks_mut().insert(&book())?;
        w.sources_mut().grant(BOOK, to)
    });
    assert!(first.await.unwrap());
    store
        .write(|w| w.lorebooks_mut().bind(BOOK, &[]))
        .await
        .unwrap();
    assert!(
        !store
            .write(move |w| w.sources_mut().grant(BOOK, to))
            .await
            .unwrap()
    );
    assert_eq!(
        store
            .read(|r| r.lorebooks().bindings_of(BOOK))
            .await
            .unwrap(),
        []
    );

    let other = Binding::Chat(ChatId(Uuid::from_u128(9)));
    assert!(
        store
            .write(move |w| w.sources_mut().grant(BOOK, other))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn a_file_written_in_advance_is_stored() {
    let store = furnished().await;
    let hash = store.keep_file(b"pixels").unwrap();
    assert_eq!(
        store.read(move |r| r.assets().get(hash)).await.unwrap(),
        None
    );
    store
        .write(move |w| w.assets_mut().put_kept(hash, "image/png", Timestamp(1)))
        .await
        .unwrap();
    let kept = store
        .read(move |r| r.assets().get(hash))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((kept.bytes, kept.mime.as_str()), (6, "image/png"));
    let missing = AssetHash::of(b"never written");
    let refused = store
        .write(move |w| w.assets_mut().put_kept(missing, "image/png", Timestamp(1)))
        .await;
    assert!(
        matches!(refused, Err(StoreError::NotFound { .. })),
        "{refused:?}"
    );
}
