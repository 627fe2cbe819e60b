//! Lists and search of characters.

use domain::{CharacterId, Timestamp};
use uuid::Uuid;

use crate::table::library::listing;
use crate::tests::{CHARACTER, character, chat, furnished, purge};
use crate::{CharacterListItem, Listing, Store};

fn about(tagline: &str, tags: &[&str]) -> Listing {
    Listing {
        tagline: tagline.into(),
        creator: "Kit".into(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
    }
}

async fn all(store: &Store) -> Vec<CharacterListItem> {
    store.read(|r| r.listings().all()).await.unwrap()
}

async fn found(store: &Store, typed: &str) -> usize {
    let words: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
    store
        .read(move |r| r.listings().find(&words))
        .await
        .unwrap()
        .len()
}

async fn describe(store: &Store, text: &'static str) {
    store
        .write(move |w| {
            w.listings_mut()
                .describe(CHARACTER, &about("keeps lamps", &["cozy", "a \"b\""]), text)
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn list_data_is_dropped_when_the_card_changes() {
    let store = furnished().await;
    assert_eq!(all(&store).await[0].listing, None);
    let undescribed = || store.read(|r| r.listings().undescribed());
    assert_eq!(undescribed().await.unwrap(), [CHARACTER]);
    describe(&store, "Ada keeps lamps").await;
    assert!(undescribed().await.unwrap().is_empty());
    let ada = all(&store).await.remove(0);
    assert_eq!(
        (ada.name.as_str(), ada.last_chat),
        ("Ada", Some(Timestamp(1)))
    );
    assert_eq!(
        ada.listing,
        Some(about("keeps lamps", &["cozy", "a \"b\""]))
    );

    store
        .write(|w| w.characters_mut().update(&character(CHARACTER, "Ada")))
        .await
        .unwrap();
    assert_eq!(all(&store).await[0].listing, None);
    assert_eq!(found(&store, "lamps").await, 0);
}

#[tokio::test]
async fn finds_characters_by_word_prefixes_in_any_order() {
    let store = furnished().await;
    describe(
        &store,
        "Ada keeps the lamps of Évora for Łuk, half-elf. 花生过敏的猫",
    )
    .await;
    for typed in [
        "ada",
        "lam ADA",
        "evora",
        "half-elf",
        "elf",
        "生过敏",
        "ada 花生过",
        "luk",
        "Łuk",
    ] {
        assert_eq!(found(&store, typed).await, 1, "{typed}");
    }
    for typed in [
        "",
        "amps",
        "lamps zoe",
        "\"",
        "* OR",
        "NEAR(",
        "敏的狗狗",
        "猫",
    ] {
        assert_eq!(found(&store, typed).await, 0, "{typed}");
    }
}

#[tokio::test]
async fn deleted_characters_are_not_listed_or_indexed() {
    let store = furnished().await;
    describe(&store, "Ada keeps lamps").await;
    store
        .write(|w| w.favourites_mut().add(CHARACTER))
        .await
        .unwrap();
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(5)))
        .await
        .unwrap();
    assert_eq!(
        (all(&store).await.len(), found(&store, "lamps").await),
        (0, 0)
    );
    store
        .write(|w| w.characters_mut().restore(CHARACTER))
        .await
        .unwrap();
    assert_eq!(
        (all(&store).await[0].favourite, found(&store, "lamps").await),
        (true, 1)
    );

    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(5)))
        .await
        .unwrap();
    purge(&store, 9).await;
    let words = "SELECT count(*) FROM listing_words WHERE listing_words MATCH 'lamps'";
    let left: u32 = store
        .on_writer(move |conn| conn.query_row(words, [], |row| row.get(0)).unwrap())
        .await
        .unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn favourites_are_added_and_removed() {
    let store = furnished().await;
    let has = || store.read(|r| r.favourites().has(CHARACTER));
    assert!(!has().await.unwrap());
    for _ in 0..2 {
        store
            .write(|w| w.favourites_mut().add(CHARACTER))
            .await
            .unwrap();
    }
    assert!(has().await.unwrap() && all(&store).await[0].favourite);
    store
        .write(|w| w.favourites_mut().remove(CHARACTER))
        .await
        .unwrap();
    assert!(!has().await.unwrap());
    let nobody = CharacterId(Uuid::from_u128(99));
    store
        .write(move |w| w.favourites_mut().add(nobody))
        .await
        .unwrap_err();
}

/// Lists must not read cards, which may be megabytes each, so that large libraries stay fast.
#[tokio::test]
async fn lists_do_not_read_cards() {
    let store = furnished().await;
    store
        .write(|w| {
            w.chats_mut()
                .insert(&chat(domain::ChatId(Uuid::from_u128(9)), CHARACTER, 30))
        })
        .await
        .unwrap();
    let plan = store
        .on_writer(|conn| {
            let mut plan = conn
                .prepare(&format!("EXPLAIN QUERY PLAN {}", listing::ALL))
                .unwrap();
            plan.query_map([], |row| row.get::<_, String>(3))
                .unwrap()
                .collect::<Result<Vec<_>, _>>()
                .unwrap()
                .join("\n")
        })
        .await
        .unwrap();
    assert!(
        plan.contains("COVERING INDEX character_listed")
            && plan.contains("COVERING INDEX chat_latest"),
        "{plan}"
    );
    assert_eq!(all(&store).await[0].last_chat, Some(Timestamp(30)));
}
