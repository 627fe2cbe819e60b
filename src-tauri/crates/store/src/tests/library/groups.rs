//! Members of group chats, and speakers of messages.

use domain::chat::{Role, Speaker};
use domain::{CharacterId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHAT, character, furnished, message, message_id, open, purge, try_open_with};
use crate::{Notice, migrate};

const BO: CharacterId = CharacterId(Uuid::from_u128(21));
const CY: CharacterId = CharacterId(Uuid::from_u128(22));

/// For databases before groups, because the store's own inserts do not fit their tables.
const CHAT_OF_TWO: &str =
    "INSERT INTO character VALUES (zeroblob(16), 'Ada', '{}', 'chara_card_v3', NULL, NULL, 1, 1, NULL);
    INSERT INTO chat VALUES (zeroblob(16), zeroblob(16), NULL, 'An evening', NULL, '', 0, NULL, '', '', NULL, '{}', 1, 1, NULL);";
const A_MESSAGE: &str = "INSERT INTO message (id, chat, position, role, created, selected)
    VALUES (zeroblob(16), zeroblob(16), 0, 'narrator', 1, 0);";

#[tokio::test]
async fn members_keep_order_and_go_with_their_character() {
    let store = furnished().await;
    let members = async || store.read(|r| r.groups().members(CHAT)).await.unwrap();
    store
        .write(|w| {
            w.characters_mut().insert(&character(BO, "Bo"))?;
            w.characters_mut().insert(&character(CY, "Cy"))?;
            w.groups_mut().set_members(CHAT, &[CY, BO])
        })
        .await
        .unwrap();
    assert_eq!(members().await, [CY, BO]);
    store
        .write(|w| w.groups_mut().set_members(CHAT, &[BO, CY]))
        .await
        .unwrap();
    assert_eq!(members().await, [BO, CY]);
    store
        .write(|w| w.characters_mut().soft_delete(BO, Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(members().await, [CY]);
    store
        .write(|w| w.characters_mut().restore(BO))
        .await
        .unwrap();
    assert_eq!(members().await, [BO, CY]);
    let twice = store
        .write(|w| w.groups_mut().set_members(CHAT, &[BO, BO]))
        .await;
    assert!(
        twice.is_err() && members().await == [BO, CY],
        "a duplicate member fails and changes nothing"
    );
}

#[tokio::test]
async fn a_message_keeps_the_name_of_its_speaker() {
    let store = furnished().await;
    let bo = Speaker {
        character: Some(BO),
        name: "Bo".into(),
    };
    let kept = bo.clone();
    store
        .write(move |w| {
            w.characters_mut().insert(&character(BO, "Bo"))?;
            w.messages_mut()
                .append(&message(1, Role::Character, "I am Ada."))?;
            w.messages_mut()
                .append(&message(2, Role::Character, "And I am Bo."))?;
            w.groups_mut().set_speaker(message_id(2), &kept)
        })
        .await
        .unwrap();
    let speakers = store.read(|r| r.groups().speakers(CHAT)).await.unwrap();
    assert_eq!(
        (speakers.len(), speakers.get(&message_id(2))),
        (1, Some(&bo))
    );
    store
        .write(|w| w.characters_mut().soft_delete(BO, Timestamp(1)))
        .await
        .unwrap();
    purge(&store, 2).await;
    let speakers = store.read(|r| r.groups().speakers(CHAT)).await.unwrap();
    assert_eq!(
        speakers[&message_id(2)],
        Speaker {
            character: None,
            name: "Bo".into()
        }
    );
}

#[tokio::test]
async fn upgraded_chats_from_before_groups_have_no_members() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|step| step.contains("chat_member"))
        .unwrap();
    let old = try_open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    let rows = [CHAT_OF_TWO, A_MESSAGE].concat();
    old.store
        .on_writer(move |conn| conn.execute_batch(&rows).unwrap())
        .await
        .unwrap();
    drop(old);
    let opened = open(dir.path());
    assert!(
        matches!(opened.notices[..], [Notice::Upgraded { .. }]),
        "{:?}",
        opened.notices
    );
    let chat = domain::ChatId(Uuid::nil());
    let (members, speakers) = opened
        .store
        .read(move |r| Ok((r.groups().members(chat)?, r.groups().speakers(chat)?)))
        .await
        .unwrap();
    assert!(members.is_empty() && speakers.is_empty());
    assert!(
        opened
            .store
            .read(move |r| r.chats().get(chat))
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn older_speakers_are_found_after_the_upgrade() {
    let dir = tempfile::tempdir().unwrap();
    let before = migrate::MIGRATIONS
        .iter()
        .position(|step| step.contains("message_speaker_chat"))
        .unwrap();
    let old = try_open_with(dir.path(), &migrate::MIGRATIONS[..before]).unwrap();
    let said = "INSERT INTO message_speaker (message, name) VALUES (zeroblob(16), 'Narrator');";
    let rows = [CHAT_OF_TWO, A_MESSAGE, said].concat();
    old.store
        .on_writer(move |conn| conn.execute_batch(&rows).unwrap())
        .await
        .unwrap();
    drop(old);
    let chat = domain::ChatId(Uuid::nil());
    let speakers = open(dir.path())
        .store
        .read(move |r| r.groups().speakers(chat))
        .await
        .unwrap();
    assert_eq!(
        speakers
            .values()
            .map(|speaker| speaker.name.as_str())
            .collect::<Vec<_>>(),
        ["Narrator"]
    );
}
