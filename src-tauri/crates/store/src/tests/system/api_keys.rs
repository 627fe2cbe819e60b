//! Keys of the local API, and sources of messages.

use domain::chat::MessageSource;
use domain::{ApiKeyId, CharacterId, Timestamp};
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::{CHARACTER, CHAT, create_library, furnished, message_id, open, say};
use crate::{ApiKey, Store, migrate};

fn key(number: u128, characters: Option<Vec<CharacterId>>) -> ApiKey {
    ApiKey {
        id: ApiKeyId(Uuid::from_u128(number)),
        name: format!("key {number}"),
        hash: [number as u8; 32],
        start: "inglenook_abcd".into(),
        characters,
        raw_models: true,
        read_only: false,
        created: Timestamp(number as i64),
        last_used: None,
    }
}

async fn list(store: &Store) -> Vec<ApiKey> {
    store.read(|r| r.api_keys().list()).await.unwrap()
}

#[tokio::test]
async fn keys_are_changed_and_deleted() {
    let store = furnished().await;
    let first = key(1, None);
    let second = key(2, Some(vec![CHARACTER]));
    let rows = [second.clone(), first.clone()];
    store
        .write(move |w| rows.iter().try_for_each(|row| w.api_keys_mut().insert(row)))
        .await
        .unwrap();
    assert_eq!(
        list(&store).await,
        [first.clone(), second.clone()],
        "the oldest first"
    );

    let changed = ApiKey {
        name: "other".into(),
        raw_models: false,
        characters: Some(vec![CHARACTER]),
        ..first
    };
    let row = changed.clone();
    store
        .write(move |w| w.api_keys_mut().update(&row))
        .await
        .unwrap();
    let id = second.id;
    store
        .write(move |w| w.api_keys_mut().set_last_used(id, Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(
        list(&store).await,
        [
            changed.clone(),
            ApiKey {
                last_used: Some(Timestamp(9)),
                ..second
            }
        ]
    );

    store
        .write(move |w| w.api_keys_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(list(&store).await, [changed]);
    assert!(
        store
            .write(move |w| w.api_keys_mut().delete(id))
            .await
            .is_err()
    );
    store
        .write(move |w| w.api_keys_mut().set_last_used(id, Timestamp(9)))
        .await
        .unwrap();
}

#[tokio::test]
async fn key_names_only_existing_characters() {
    let store = furnished().await;
    let row = key(1, Some(vec![CharacterId(Uuid::from_u128(404))]));
    assert!(
        store
            .write(move |w| w.api_keys_mut().insert(&row))
            .await
            .is_err()
    );
    assert!(list(&store).await.is_empty());
}

#[tokio::test]
async fn messages_of_older_versions_were_typed() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("'voice'"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before])
        .unwrap()
        .store;
    create_library(&old).await;
    say(&old, 1, "hello").await;
    drop(old);
    let store = open(dir.path()).store;
    let source = async || {
        store
            .read(|r| r.messages().page(CHAT, None, 1))
            .await
            .unwrap()
            .remove(0)
            .source
    };
    assert_eq!(source().await, MessageSource::Typed);
    store
        .write(|w| {
            w.messages_mut()
                .set_source(message_id(1), MessageSource::Voice)
        })
        .await
        .unwrap();
    assert_eq!(source().await, MessageSource::Voice);
}
