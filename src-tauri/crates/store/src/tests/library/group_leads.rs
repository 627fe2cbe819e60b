//! Groups outlive the deletion of any of their characters.

use domain::chat::{Chat, Role, Speaker};
use domain::overrides::CardText;
use domain::search_query::SearchTerm;
use domain::{CharacterId, ChatId, Timestamp};
use uuid::Uuid;

use crate::tests::data_folder::opening::open_with;
use crate::tests::{
    CHARACTER as ADA, CHAT, character, chat, emptied, furnished, message, message_id, open, purge,
    shown,
};
use crate::{Before, SearchFilter, Store, TrashId, migrate};

const BO: CharacterId = CharacterId(Uuid::from_u128(21));
const CY: CharacterId = CharacterId(Uuid::from_u128(22));
const BRANCH: ChatId = ChatId(Uuid::from_u128(70));

/// A group that Ada leads, with Bo and Cy, and a branch of it.
async fn ferry() -> Store {
    let store = furnished().await;
    store
        .write(|w| {
            w.characters_mut().insert(&character(BO, "Bo"))?;
            w.characters_mut().insert(&character(CY, "Cy"))?;
            w.groups_mut().set_members(CHAT, &[BO, CY])?;
            w.messages_mut()
                .append(&message(1, Role::User, "Who rows the ferry?"))?;
            w.messages_mut()
                .append(&message(2, Role::Character, "The ferry is mine."))?;
            w.messages_mut()
                .append(&message(3, Role::Character, "And the rope is mine."))?;
            w.groups_mut().set_speaker(
                message_id(3),
                &Speaker {
                    character: Some(BO),
                    name: "Bo".into(),
                },
            )?;
            w.chats_mut().insert(&chat(BRANCH, ADA, 2))?;
            w.groups_mut().set_members(BRANCH, &[BO, CY])?;
            w.branch_links_mut().link(BRANCH, CHAT, Some(message_id(2)))
        })
        .await
        .unwrap();
    store
}

async fn found(store: &Store) -> Option<Chat> {
    store.read(|r| r.chats().get(CHAT)).await.unwrap()
}

/// The lead and the members that are not deleted.
async fn present(store: &Store) -> Vec<CharacterId> {
    let lead = found(store).await.map(|chat| chat.character);
    let members = store.read(|r| r.groups().members(CHAT)).await.unwrap();
    lead.into_iter().chain(members).collect()
}

async fn said_by(store: &Store, number: u128) -> Option<Speaker> {
    store
        .read(move |r| Ok(r.groups().speakers(CHAT)?.remove(&message_id(number))))
        .await
        .unwrap()
}

async fn hits(store: &Store) -> usize {
    let term = [SearchTerm::Word("ferry".into())];
    store
        .read(move |r| {
            r.message_search()
                .find(&term, &SearchFilter::default(), 0, 9)
        })
        .await
        .unwrap()
        .len()
}

async fn delete(store: &Store, character: CharacterId, when: i64) {
    store
        .write(move |w| w.characters_mut().soft_delete(character, Timestamp(when)))
        .await
        .unwrap();
}

async fn restore(store: &Store, character: CharacterId) {
    store
        .write(move |w| w.characters_mut().restore(character))
        .await
        .unwrap();
}

fn named(character: Option<CharacterId>, name: &str) -> Option<Speaker> {
    Some(Speaker {
        character,
        name: name.into(),
    })
}

#[tokio::test]
async fn a_group_goes_on_without_any_of_its_characters() {
    for (gone, others) in [(ADA, [BO, CY]), (BO, [ADA, CY]), (CY, [ADA, BO])] {
        let store = ferry().await;
        delete(&store, gone, 50).await;
        assert_eq!(present(&store).await, others);
        assert_eq!((hits(&store).await, shown(&store).await.len()), (2, 3));
        assert_eq!(
            store.read(|r| r.chats().list()).await.unwrap().len(),
            2,
            "the branch stays too"
        );
        let trash = store.read(|r| r.trash().list()).await.unwrap();
        assert_eq!(
            trash.iter().map(|item| item.messages).collect::<Vec<_>>(),
            [0],
            "no message goes with the card"
        );
        store
            .write(move |w| w.trash_mut().mark_for_purge(TrashId::Character(gone)))
            .await
            .unwrap();
        store.purge(Before::ONLY_CONDEMNED, emptied).await.unwrap();
        assert_eq!(
            (present(&store).await, hits(&store).await),
            (others.to_vec(), 2)
        );
        assert_eq!(
            store.read(|r| r.branch_links().story(CHAT)).await.unwrap(),
            [CHAT, BRANCH]
        );
    }
}

#[tokio::test]
async fn a_lost_speaker_keeps_its_name() {
    let store = ferry().await;
    delete(&store, ADA, 50).await;
    assert_eq!(said_by(&store, 2).await, named(Some(ADA), "Ada"));
    assert_eq!(said_by(&store, 3).await, named(Some(BO), "Bo"));
    assert_eq!(said_by(&store, 1).await, None, "the user has no speaker");
    purge(&store, 50).await;
    assert_eq!(said_by(&store, 2).await, named(None, "Ada"));
}

#[tokio::test]
async fn a_nickname_is_the_name_of_a_lost_speaker() {
    let store = ferry().await;
    store
        .write(|w| {
            let mut ada = character(ADA, "Ada");
            ada.card_json = r#"{"data":{"name":"Ada","nickname":"Captain"}}"#.into();
            w.characters_mut().update(&ada)
        })
        .await
        .unwrap();
    delete(&store, ADA, 50).await;
    assert_eq!(said_by(&store, 2).await, named(Some(ADA), "Captain"));
}

#[tokio::test]
async fn a_restored_character_leads_its_group_again() {
    let store = ferry().await;
    let description = CardText::Description;
    let scenario = CardText::Scenario;
    store
        .write(move |w| {
            w.chat_texts_mut()
                .set(CHAT, description, Some("Ada rows."))?;
            w.chat_texts_mut()
                .set(CHAT, scenario, Some("A wide river."))
        })
        .await
        .unwrap();
    let texts = async || {
        let own = store.read(|r| r.chat_texts().of(CHAT)).await.unwrap();
        [description, scenario].map(|text| own.get(text).map(str::to_owned))
    };
    delete(&store, ADA, 50).await;
    assert_eq!(
        texts().await,
        [None, Some("A wide river.".into())],
        "the next lead is not described as Ada"
    );
    store
        .write(|w| w.groups_mut().set_members(CHAT, &[CY]))
        .await
        .unwrap();
    restore(&store, ADA).await;
    assert_eq!(present(&store).await, [ADA, BO, CY]);
    assert_eq!(
        texts().await,
        [Some("Ada rows.".into()), Some("A wide river.".into())]
    );
    let unnamed = message(4, Role::Character, "I am back.");
    store
        .write(move |w| w.messages_mut().append(&unnamed))
        .await
        .unwrap();
    assert_eq!(
        (said_by(&store, 2).await, said_by(&store, 4).await),
        (named(Some(ADA), "Ada"), None)
    );
}

#[tokio::test]
async fn a_group_without_characters_waits_for_any_of_them() {
    let store = ferry().await;
    for (when, gone) in (50..).zip([ADA, BO, CY]) {
        delete(&store, gone, when).await;
    }
    assert_eq!((found(&store).await, hits(&store).await), (None, 0));
    restore(&store, BO).await;
    assert_eq!((present(&store).await, hits(&store).await), (vec![BO], 2));
    delete(&store, BO, 60).await;
    purge(&store, 52).await;
    restore(&store, BO).await;
    assert_eq!(
        (present(&store).await, shown(&store).await.len()),
        (vec![BO], 3),
        "Ada and Cy are purged"
    );
    assert_eq!(said_by(&store, 2).await, named(None, "Ada"));
}

#[tokio::test]
async fn an_upgrade_brings_hidden_groups_back() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|step| step.contains("TABLE former_lead"))
        .unwrap();
    let old = open_with(dir.path(), &migrate::MIGRATIONS[..before])
        .unwrap()
        .store;
    crate::tests::create_library(&old).await;
    old.write(|w| {
        w.characters_mut().insert(&character(BO, "Bo"))?;
        w.groups_mut().set_members(CHAT, &[BO])?;
        w.messages_mut()
            .append(&message(1, Role::User, "Who rows the ferry?"))?;
        w.messages_mut()
            .append(&message(2, Role::Character, "The ferry is mine."))?;
        w.chats_mut().insert(&chat(BRANCH, ADA, 2))
    })
    .await
    .unwrap();
    let trashed = |conn: &mut rusqlite::Connection| {
        conn.execute("UPDATE character SET deleted = 40 WHERE name = 'Ada'", [])
    };
    old.on_writer(trashed).await.unwrap().unwrap();
    drop(old);

    let store = open(dir.path()).store;
    assert_eq!((present(&store).await, hits(&store).await), (vec![BO], 2));
    assert_eq!(said_by(&store, 2).await, named(Some(ADA), "Ada"));
    let alone = store.read(|r| r.chats().get(BRANCH)).await.unwrap();
    assert_eq!(alone, None, "a chat with one character still goes with it");
    restore(&store, ADA).await;
    assert_eq!(present(&store).await, [ADA, BO]);
}
