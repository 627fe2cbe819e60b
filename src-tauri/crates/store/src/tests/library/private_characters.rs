//! Private characters: while they are hidden, no list, search or single read finds them.

use domain::lorebook::Binding;
use domain::memory::{Memory, MemoryScope};
use domain::search_query::SearchTerm;
use domain::{CharacterId, ChatId, LorebookId, Timestamp};
use uuid::Uuid;

use crate::tests::keyed::is_keyed;
use crate::tests::memory::memories::{id, memory};
use crate::tests::{CHARACTER, CHAT, character, chat, furnished, message_id, purge, say};
use crate::{ItemKind, Lorebook, MemoryFilter, Query, SearchFilter, Store, TrashId};

const BO: CharacterId = CharacterId(Uuid::from_u128(21));
const HERS: ChatId = ChatId(Uuid::from_u128(22));
const BOOK: LorebookId = LorebookId(Uuid::from_u128(23));

/// Ada is private; Bo is not, and has a chat of his own.
async fn with_private_ada() -> Store {
    let store = furnished().await;
    say(&store, 1, "A lantern burns.").await;
    store
        .write(|w| {
            w.private_characters_mut().add(CHARACTER)?;
            w.characters_mut().insert(&character(BO, "Bo"))?;
            w.chats_mut().insert(&chat(HERS, BO, 5))
        })
        .await
        .unwrap();
    store.show_private(true);
    store
}

async fn names(store: &Store) -> Vec<String> {
    let list = store.read(|r| r.characters().list()).await.unwrap();
    list.into_iter()
        .map(|listed| listed.character.name)
        .collect()
}

async fn chats(store: &Store) -> Vec<ChatId> {
    let list = store.read(|r| r.chats().list()).await.unwrap();
    list.into_iter().map(|chat| chat.id).collect()
}

fn terms(text: &str) -> Vec<SearchTerm> {
    vec![SearchTerm::Word(text.to_owned())]
}

async fn message_hits(store: &Store, text: &str) -> usize {
    let terms = terms(text);
    store
        .read(move |r| {
            r.message_search()
                .find(&terms, &SearchFilter::default(), 0, 9)
        })
        .await
        .unwrap()
        .len()
}

async fn item_hits(store: &Store, kind: ItemKind, text: &str) -> usize {
    let terms = terms(text);
    store
        .read(move |r| r.item_search().find(kind, &terms, None, 9))
        .await
        .unwrap()
        .len()
}

async fn remember(store: &Store, memories: Vec<Memory>) {
    store
        .write(move |w| {
            memories
                .iter()
                .try_for_each(|memory| w.memories_mut().insert(memory))
        })
        .await
        .unwrap();
}

fn lorebook() -> Lorebook {
    Lorebook {
        id: BOOK,
        name: "Harbour".into(),
        json: r#"{"entries":{"0":{"uid":0,"content":"A lantern."}}}"#.into(),
        source: None,
        enabled: true,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

#[tokio::test]
async fn folders_with_keys_hide_when_they_are_opened() {
    assert_eq!(furnished().await.shows_private(), !is_keyed());
}

#[tokio::test]
async fn hidden_characters_are_in_no_list() {
    let store = with_private_ada().await;
    assert_eq!(names(&store).await, ["Bo", "Ada"]);
    assert_eq!(chats(&store).await, [HERS, CHAT]);
    let all = store.read(|r| r.listings().all()).await.unwrap();
    let private: Vec<bool> = all.iter().map(|listed| listed.private).collect();
    assert_eq!(private, [false, true]);

    store.show_private(false);
    assert_eq!(names(&store).await, ["Bo"]);
    assert_eq!(chats(&store).await, [HERS]);
    let (listed, named, undescribed) = store
        .read(|r| {
            Ok((
                r.listings().all()?.len(),
                r.characters().names()?.len(),
                r.listings().undescribed()?,
            ))
        })
        .await
        .unwrap();
    assert_eq!((listed, named, undescribed), (1, 1, vec![BO]));

    store.show_private(true);
    assert_eq!(names(&store).await, ["Bo", "Ada"]);
}

#[tokio::test]
async fn hidden_items_are_not_read_by_their_ids() {
    let store = with_private_ada().await;
    store.show_private(false);
    let (character, chat, message) = store
        .read(|r| {
            Ok((
                r.characters().get(CHARACTER)?,
                r.chats().get(CHAT)?,
                r.messages().get(message_id(1))?,
            ))
        })
        .await
        .unwrap();
    assert!(character.is_none() && chat.is_none() && message.is_none());
    let deleted = store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(9)))
        .await;
    assert!(deleted.is_err());
    let deleted = store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await;
    assert!(deleted.is_err());
    store.show_private(true);
    assert!(store.read(|r| r.chats().get(CHAT)).await.unwrap().is_some());
}

#[tokio::test]
async fn groups_with_a_hidden_member_are_hidden() {
    let store = with_private_ada().await;
    store
        .write(|w| w.groups_mut().set_members(HERS, &[CHARACTER]))
        .await
        .unwrap();
    store.show_private(false);
    assert_eq!(chats(&store).await, []);
    let (latest, listed) = store
        .read(|r| Ok((r.chats().latest_of_character(BO)?, r.listings().all()?)))
        .await
        .unwrap();
    assert!(latest.is_none());
    assert_eq!(listed[0].last_chat, None);
}

#[tokio::test]
async fn searches_find_nothing_hidden() {
    let store = with_private_ada().await;
    let of_ada = memory(1, MemoryScope::Character(CHARACTER), "Owns a lantern.");
    let learned = Memory {
        sources: vec![message_id(1)],
        ..memory(2, MemoryScope::Profile, "Saw a lantern.")
    };
    remember(&store, vec![of_ada, learned]).await;
    store
        .write(|w| {
            w.lorebooks_mut().insert(&lorebook())?;
            w.lorebooks_mut().bind(BOOK, &[Binding::Chat(CHAT)])
        })
        .await
        .unwrap();
    let hits = async || {
        [
            message_hits(&store, "lantern").await,
            item_hits(&store, ItemKind::Memory, "lantern").await,
            item_hits(&store, ItemKind::Entry, "lantern").await,
            item_hits(&store, ItemKind::Character, "Ada").await,
        ]
    };
    assert_eq!(hits().await, [1, 2, 1, 1]);
    store.show_private(false);
    assert_eq!(hits().await, [0; 4]);
}

#[tokio::test]
async fn memories_from_hidden_chats_are_not_recalled() {
    let store = with_private_ada().await;
    let learned = Memory {
        sources: vec![message_id(1)],
        ..memory(1, MemoryScope::Profile, "Saw a lantern.")
    };
    let typed = memory(2, MemoryScope::Profile, "Has a lantern.");
    remember(&store, vec![learned, typed]).await;
    let recalled = async || {
        let (active, found, of_bo) = store
            .read(|r| {
                let query = Query::any_word(["lantern"]);
                let memories = r.memories();
                Ok((
                    memories.active(MemoryScope::Profile, 9)?.len(),
                    memories.search(&[MemoryScope::Profile], &query, 9)?.len(),
                    memories.of_character(BO, MemoryFilter::default(), 9)?.len(),
                ))
            })
            .await
            .unwrap();
        [active, found, of_bo]
    };
    assert_eq!(recalled().await, [2; 3]);
    store.show_private(false);
    assert_eq!(recalled().await, [1; 3]);
    let hidden = store.read(|r| r.memories().get(id(1))).await.unwrap();
    assert!(hidden.is_none());
}

#[tokio::test]
async fn bindings_to_hidden_characters_survive_a_change() {
    let store = with_private_ada().await;
    let bind =
        |bindings: &'static [Binding]| store.write(move |w| w.lorebooks_mut().bind(BOOK, bindings));
    store
        .write(|w| w.lorebooks_mut().insert(&lorebook()))
        .await
        .unwrap();
    bind(&[Binding::Character(CHARACTER), Binding::Global])
        .await
        .unwrap();
    let bindings = async || {
        store
            .read(|r| r.lorebooks().bindings_of(BOOK))
            .await
            .unwrap()
    };
    store.show_private(false);
    assert_eq!(bindings().await, [Binding::Global]);
    bind(&[Binding::Character(BO)]).await.unwrap();
    store.show_private(true);
    assert_eq!(
        bindings().await,
        [Binding::Character(CHARACTER), Binding::Character(BO)]
    );
}

#[tokio::test]
async fn lorebooks_of_hidden_characters_are_hidden() {
    let store = with_private_ada().await;
    store
        .write(|w| {
            w.lorebooks_mut().insert(&lorebook())?;
            w.lorebooks_mut()
                .bind(BOOK, &[Binding::Character(CHARACTER)])
        })
        .await
        .unwrap();
    store.show_private(false);
    let (list, one) = store
        .read(|r| Ok((r.lorebooks().list()?, r.lorebooks().get(BOOK)?)))
        .await
        .unwrap();
    assert!(list.is_empty() && one.is_none());
    store
        .write(|w| w.lorebooks_mut().add_binding(BOOK, Binding::Character(BO)))
        .await
        .unwrap();
    let list = store.read(|r| r.lorebooks().list()).await.unwrap();
    assert_eq!(list.len(), 1, "a shown character uses it too");
}

#[tokio::test]
async fn trash_leaves_hidden_items_out() {
    let store = with_private_ada().await;
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    let trash = async || {
        let list = store.read(|r| r.trash().list()).await.unwrap();
        list.iter().map(|item| item.id).collect::<Vec<_>>()
    };
    assert_eq!(trash().await, [TrashId::Chat(CHAT)]);
    store.show_private(false);
    assert_eq!(trash().await, []);
    purge(&store, 10).await;
    store.show_private(true);
    assert_eq!(trash().await, [], "a purge removes hidden items too");
}

#[tokio::test]
async fn hidden_texts_wait_for_their_embeddings() {
    let store = with_private_ada().await;
    let queued = async || store.read(|r| r.vectors().queued(9)).await.unwrap().len();
    assert_eq!(queued().await, 1);
    store.show_private(false);
    assert_eq!(queued().await, 0);
    store.show_private(true);
    assert_eq!(queued().await, 1);
}

#[tokio::test]
async fn a_purged_character_is_no_longer_private() {
    let store = with_private_ada().await;
    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(9)))
        .await
        .unwrap();
    purge(&store, 10).await;
    let left = store
        .read(|r| r.private_characters().has(CHARACTER))
        .await
        .unwrap();
    assert!(!left);
}
