//! Full-text search over notes, memories, lorebook entries, characters and earlier texts.

use domain::memory::MemoryScope;
use domain::overrides::CardText;
use domain::search_query::SearchTerm;
use domain::settings::Owner;
use domain::{CharacterId, LorebookId, MemoryId, Timestamp};
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::memory::memories::memory;
use crate::tests::{CHARACTER, CHAT, character, furnished, message_id, open, purge, say};
use crate::{Character, FoundItem, ItemKind, ItemPlace, Lorebook, SearchFilter, Store, migrate};

const BOOK: LorebookId = LorebookId(Uuid::from_u128(90));

fn words(text: &str) -> Vec<SearchTerm> {
    text.split(' ')
        .map(|word| SearchTerm::Word(word.to_owned()))
        .collect()
}

async fn find(store: &Store, kind: ItemKind, text: &str) -> Vec<FoundItem> {
    let terms = words(text);
    store
        .read(move |r| r.item_search().find(kind, &terms, None, 9))
        .await
        .unwrap()
}

/// The number of hits in each group: notes, memories, entries, characters, earlier texts.
async fn counts(store: &Store, text: &str) -> [usize; 5] {
    let mut counts = [0; 5];
    for (kind, count) in ItemKind::ALL.into_iter().zip(&mut counts) {
        *count = find(store, kind, text).await.len();
    }
    let terms = words(text);
    let earlier = store
        .read(move |r| {
            r.message_search()
                .find_earlier(&terms, &SearchFilter::default(), 9)
        })
        .await;
    counts[4] = earlier.unwrap().len();
    counts
}

fn lorebook(entries: &str) -> Lorebook {
    Lorebook {
        id: BOOK,
        name: "World".into(),
        json: format!(r#"{{"entries":{{{entries}}}}}"#),
        source: None,
        enabled: true,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

fn card(json: &str) -> Character {
    let card_json =
        format!(r#"{{"spec":"chara_card_v3","spec_version":"3.0","data":{{"name":"Bo",{json}}}}}"#);
    Character {
        card_json,
        ..character(CharacterId(Uuid::from_u128(91)), "Bo")
    }
}

/// Stores notes, a memory, entries and a character with the word "lantern". Returns the character.
async fn store_lanterns(store: &Store) -> CharacterId {
    let bo = card(
        r#""description":"Keeps a lantern.","character_book":{"entries":[{"id":4,"keys":["quay"],"content":"A lantern hangs there."}]}"#,
    );
    let bo_id = bo.id;
    store
        .write(move |w| {
            w.memories_mut().insert(&memory(1, MemoryScope::Character(CHARACTER), "Owns a lantern."))?;
            w.scoped_settings_mut().set(Owner::Chat(CHAT), "author_note", r#""Mention the \u00c9lan lantern.""#)?;
            w.scoped_settings_mut().set(Owner::Global, "author_note", r#""No lantern.""#)?;
            w.scoped_settings_mut().set(Owner::Global, "history_cap", "7")?;
            w.chat_texts_mut().set(CHAT, CardText::Scenario, Some("A lantern shop."))?;
            w.characters_mut().insert(&bo)?;
            w.lorebooks_mut().insert(&lorebook(
                r#""0":{"uid":0,"comment":"The mill","key":["mill"],"content":"Its lantern is red."}"#,
            ))
        })
        .await
        .unwrap();
    bo_id
}

fn places(found: Vec<FoundItem>) -> Vec<ItemPlace> {
    found.into_iter().map(|item| item.place).collect()
}

#[tokio::test]
async fn finds_items_and_says_where_they_are() {
    let store = furnished().await;
    let bo = store_lanterns(&store).await;
    assert_eq!(counts(&store, "lantern").await, [3, 1, 2, 1, 0]);
    assert_eq!(
        places(find(&store, ItemKind::Note, "lantern").await),
        [
            ItemPlace::Override {
                chat: CHAT,
                field: "scenario".into()
            },
            ItemPlace::Note,
            ItemPlace::ChatNote(CHAT),
        ]
    );
    assert_eq!(
        places(find(&store, ItemKind::Note, "elan").await),
        [ItemPlace::ChatNote(CHAT)]
    );
    let owned = ItemPlace::Memory {
        memory: MemoryId(Uuid::from_u128(1)),
        chat: Some(CHAT),
        character: Some(CHARACTER),
    };
    let memories = find(&store, ItemKind::Memory, "lantern").await;
    assert_eq!(places(memories), [owned]);
    let entries = find(&store, ItemKind::Entry, "lantern").await;
    assert_eq!(
        (entries[0].title.as_str(), entries[0].context.as_str()),
        ("The mill", "World")
    );
    assert_eq!(
        places(entries),
        [
            ItemPlace::Entry {
                book: BOOK,
                uid: "0".into()
            },
            ItemPlace::CardEntry {
                character: bo,
                uid: "4".into()
            }
        ]
    );
    let found = |text| find(&store, ItemKind::Character, text);
    assert_eq!(
        places(found("bo lantern").await),
        [ItemPlace::Character {
            character: bo,
            field: "description"
        }]
    );
    assert_eq!(
        places(found("bo").await),
        [ItemPlace::Character {
            character: bo,
            field: ""
        }]
    );
}

/// Stores one item of each kind with the words "red door".
async fn store_red_doors(store: &Store) {
    store
        .write(|w| {
            w.memories_mut()
                .insert(&memory(1, MemoryScope::Profile, "The red door."))?;
            w.chat_texts_mut()
                .set(CHAT, CardText::Scenario, Some("A red door."))?;
            w.scoped_settings_mut()
                .set(Owner::Chat(CHAT), "author_note", r#""The red door.""#)?;
            w.lorebooks_mut()
                .insert(&lorebook(r#""0":{"uid":0,"content":"A red door."}"#))?;
            w.characters_mut()
                .insert(&card(r#""scenario":"Behind a red door.""#))
        })
        .await
        .unwrap();
    say(store, 1, "The red door.").await;
    store
        .write(|w| {
            w.revisions_mut()
                .keep(message_id(1), "The gate.", Timestamp(2))
        })
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().edit(message_id(1), "The gate."))
        .await
        .unwrap();
}

#[tokio::test]
async fn forgotten_and_deleted_words_are_not_found() {
    let store = furnished().await;
    store_red_doors(&store).await;
    assert_eq!(counts(&store, "red door").await, [2, 1, 1, 1, 1]);

    store
        .write(|w| {
            w.memories_mut()
                .soft_delete(MemoryId(Uuid::from_u128(1)), Timestamp(9))
        })
        .await
        .unwrap();
    store
        .write(|w| w.lorebooks_mut().soft_delete(BOOK, Timestamp(9)))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().soft_delete(message_id(1), Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(counts(&store, "red door").await, [2, 0, 0, 1, 0]);
    store
        .write(|w| w.lorebooks_mut().restore(BOOK))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().restore(&[message_id(1)]))
        .await
        .unwrap();
    assert_eq!(counts(&store, "red door").await, [2, 0, 1, 1, 1]);
    store
        .write(|w| {
            w.chat_texts_mut().set(CHAT, CardText::Scenario, None)?;
            w.scoped_settings_mut()
                .remove(Owner::Chat(CHAT), "author_note")?;
            w.characters_mut().soft_delete(card("").id, Timestamp(9))?;
            w.revisions_mut().remove(message_id(1))
        })
        .await
        .unwrap();
    assert_eq!(counts(&store, "red door").await, [0, 0, 1, 0, 0]);
}

#[tokio::test]
async fn edits_reach_the_index() {
    let store = furnished().await;
    store
        .write(|w| {
            w.memories_mut()
                .insert(&memory(1, MemoryScope::Profile, "A red door."))?;
            w.chat_texts_mut()
                .set(CHAT, CardText::Scenario, Some("A red door."))?;
            w.scoped_settings_mut()
                .set(Owner::Global, "author_note", r#""A red door.""#)?;
            w.lorebooks_mut().insert(&lorebook(
                r#""0":{"uid":0,"content":"A red door."},"1":{"uid":1,"content":"A red door."}"#,
            ))?;
            w.characters_mut()
                .insert(&card(r#""scenario":"A red door.""#))
        })
        .await
        .unwrap();
    assert_eq!(counts(&store, "red door").await, [2, 1, 2, 1, 0]);
    store
        .write(|w| {
            w.memories_mut()
                .update(&memory(1, MemoryScope::Profile, "A blue gate."))?;
            w.chat_texts_mut()
                .set(CHAT, CardText::Scenario, Some("A blue gate."))?;
            w.scoped_settings_mut()
                .set(Owner::Global, "author_note", r#""A blue gate.""#)?;
            w.lorebooks_mut()
                .update(&lorebook(r#""0":{"uid":0,"content":"A blue gate."}"#))?;
            w.characters_mut()
                .update(&card(r#""scenario":"A blue gate.""#))
        })
        .await
        .unwrap();
    assert_eq!(counts(&store, "red door").await, [0; 5]);
    assert_eq!(counts(&store, "blue gate").await, [2, 1, 1, 1, 0]);
    store
        .write(|w| w.chat_texts_mut().set(CHAT, CardText::Scenario, Some("")))
        .await
        .unwrap();
    store
        .write(|w| {
            w.scoped_settings_mut()
                .set(Owner::Global, "author_note", "7")
        })
        .await
        .unwrap();
    assert_eq!(counts(&store, "blue gate").await, [0, 1, 1, 1, 0]);
}

/// Rows of the index with this word, whether or not a search shows them.
async fn indexed(store: &Store, word: &'static str) -> u32 {
    let sql = "SELECT count(*) FROM search_item_words WHERE search_item_words MATCH ?1";
    store
        .on_writer(move |conn| conn.query_row(sql, [word], |row| row.get(0)))
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn purge_of_the_trash_removes_words_from_the_index() {
    let store = furnished().await;
    say(&store, 1, "An obsidian door.").await;
    store
        .write(|w| {
            w.revisions_mut()
                .keep(message_id(1), "A gate.", Timestamp(2))?;
            w.messages_mut().edit(message_id(1), "A gate.")?;
            w.memories_mut()
                .insert(&memory(1, MemoryScope::Profile, "Obsidian."))?;
            w.memories_mut()
                .soft_delete(MemoryId(Uuid::from_u128(1)), Timestamp(9))?;
            w.chat_texts_mut()
                .set(CHAT, CardText::Scenario, Some("Obsidian."))?;
            w.scoped_settings_mut()
                .set(Owner::Chat(CHAT), "author_note", r#""Obsidian.""#)?;
            w.chats_mut().soft_delete(CHAT, Timestamp(9))?;
            w.lorebooks_mut()
                .insert(&lorebook(r#""0":{"uid":0,"content":"Obsidian."}"#))?;
            w.lorebooks_mut().soft_delete(BOOK, Timestamp(9))?;
            w.characters_mut()
                .insert(&card(r#""scenario":"Obsidian.""#))?;
            w.characters_mut().soft_delete(card("").id, Timestamp(9))
        })
        .await
        .unwrap();
    assert_eq!(indexed(&store, "obsidian").await, 6);
    purge(&store, 9).await;
    assert_eq!(indexed(&store, "obsidian").await, 0);
}

#[tokio::test]
async fn upgrade_indexes_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|sql| sql.contains("CREATE TABLE search_item"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before])
        .unwrap()
        .store;
    crate::tests::create_library(&old).await;
    old.write(|w| {
        w.memories_mut()
            .insert(&memory(1, MemoryScope::Profile, "An obsidian door."))?;
        w.chat_texts_mut()
            .set(CHAT, CardText::Scenario, Some("Obsidian."))?;
        w.scoped_settings_mut()
            .set(Owner::Global, "author_note", r#""Obsidian.""#)?;
        w.lorebooks_mut()
            .insert(&lorebook(r#""0":{"uid":0,"content":"Obsidian."}"#))?;
        w.characters_mut()
            .insert(&card(r#""scenario":"Obsidian.""#))
    })
    .await
    .unwrap();
    drop(old);
    let store = open(dir.path()).store;
    assert_eq!(counts(&store, "obsidian").await, [2, 1, 1, 1, 0]);
}

#[tokio::test]
async fn one_chat_finds_only_what_applies_in_it() {
    let store = furnished().await;
    store
        .write(|w| {
            w.memories_mut()
                .insert(&memory(1, MemoryScope::Profile, "A lantern."))?;
            w.memories_mut()
                .insert(&memory(2, MemoryScope::Character(CHARACTER), "A lantern."))?;
            w.characters_mut()
                .insert(&card(r#""scenario":"A lantern.""#))?;
            w.memories_mut().insert(&memory(
                3,
                MemoryScope::Character(card("").id),
                "A lantern.",
            ))?;
            w.lorebooks_mut()
                .insert(&lorebook(r#""0":{"uid":0,"content":"A lantern."}"#))
        })
        .await
        .unwrap();
    let here = async |kind| {
        let terms = words("lantern");
        store
            .read(move |r| r.item_search().find(kind, &terms, Some(CHAT), 9))
            .await
            .unwrap()
            .len()
    };
    assert_eq!(
        (
            here(ItemKind::Memory).await,
            here(ItemKind::Entry).await,
            here(ItemKind::Character).await
        ),
        (2, 0, 0)
    );
    store
        .write(|w| {
            w.lorebooks_mut()
                .bind(BOOK, &[domain::lorebook::Binding::Character(CHARACTER)])
        })
        .await
        .unwrap();
    assert_eq!(here(ItemKind::Entry).await, 1);
}
