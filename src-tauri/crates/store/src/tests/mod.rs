//! Test helpers: a small library with one character and one chat.

mod backups;
mod chats;
mod data_folder;
mod keyed;
mod library;
mod memory;
mod messages;
mod models;
mod protected;
mod system;

use std::path::Path;

use domain::chat::{Chat, Message, Role, SwipeState, WindowState};
use domain::{CharacterId, ChatId, MessageId, SwipeId, Timestamp};
use uuid::Uuid;

use crate::{Before, Character, NewMessage, NewSwipe, Notice, Opened, Purged, Store};

pub(crate) use keyed::{
    empty_store, fixed_keys, is_keyed, keys, open_database, options_with, other_keys, try_open,
    try_open_with, write_key_file,
};

pub(crate) const CHAT: ChatId = ChatId(Uuid::from_u128(7));
pub(crate) const CHARACTER: CharacterId = CharacterId(Uuid::from_u128(8));
pub(crate) const NOW: Timestamp = Timestamp(1_795_303_800_000);

pub(crate) fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

pub(crate) fn open(dir: &Path) -> Opened {
    try_open(dir).unwrap()
}

pub(crate) fn character(id: CharacterId, name: &str) -> Character {
    Character {
        id,
        name: name.into(),
        card_json: format!(r#"{{"data":{{"name":"{name}"}}}}"#),
        spec: "chara_card_v3".into(),
        picture: None,
        source: None,
        created: Timestamp(1),
        updated: Timestamp(1),
    }
}

pub(crate) fn chat(id: ChatId, with: CharacterId, updated: i64) -> Chat {
    Chat {
        id,
        character: with,
        persona: None,
        title: "An evening".into(),
        model: None,
        draft: String::new(),
        window: WindowState::default(),
        scene_after: None,
        variables: "{}".into(),
        created: Timestamp(updated),
        updated: Timestamp(updated),
    }
}

/// Creates a character and a chat with her, unless they exist.
pub(crate) async fn create_library(store: &Store) {
    store
        .write(|w| {
            if !w.chats().ids_even_deleted(None)?.contains(&CHAT) {
                w.characters_mut().insert(&character(CHARACTER, "Ada"))?;
                w.chats_mut().insert(&chat(CHAT, CHARACTER, 1))?;
            }
            Ok(())
        })
        .await
        .unwrap();
}

pub(crate) async fn furnished() -> Store {
    let store = empty_store();
    create_library(&store).await;
    store
}

/// The ids of the message and its first swipe equal `number`, so that tests can refer to them.
pub(crate) fn message(number: u128, role: Role, text: &str) -> NewMessage {
    NewMessage {
        id: message_id(number),
        chat: CHAT,
        role,
        created: Timestamp(number as i64),
        swipes: vec![swipe(number, text)],
        selected: 0,
        context_block: None,
    }
}

pub(crate) fn swipe(number: u128, text: &str) -> NewSwipe {
    NewSwipe {
        id: swipe_id(number),
        text: text.into(),
        state: SwipeState::Finished,
        created: Timestamp(number as i64),
        model: None,
    }
}

pub(crate) fn message_id(number: u128) -> MessageId {
    MessageId(Uuid::from_u128(number))
}

pub(crate) fn swipe_id(number: u128) -> SwipeId {
    SwipeId(Uuid::from_u128(number))
}

pub(crate) async fn say(store: &Store, number: u128, text: &str) -> Message {
    let new = message(number, Role::User, text);
    store
        .write(move |w| w.messages_mut().append(&new))
        .await
        .unwrap()
}

/// Like `say`, in a database of a version without checksums.
pub(crate) async fn say_without_checksum(store: &Store, number: u128, text: &str) {
    let id = message_id(number).0.into_bytes();
    let text = text.to_owned();
    let said = move |conn: &mut rusqlite::Connection| {
        let at = number as i64;
        conn.execute(
            "INSERT INTO message (id, chat, position, role, created, selected) VALUES (?1, ?2, ?3, 'user', ?3, 0)",
            rusqlite::params![id, CHAT.0.into_bytes(), at],
        )?;
        conn.execute(
            "INSERT INTO swipe (id, message, position, text, state, created) VALUES (?1, ?1, 0, ?2, 'finished', ?3)",
            rusqlite::params![id, text, at],
        )
    };
    store.on_writer(said).await.unwrap().unwrap();
}

/// Removes a manifest completely.
pub(crate) fn emptied(json: &str) -> Option<String> {
    (!json.is_empty()).then(String::new)
}

/// Purges everything that was deleted at or before `time`.
pub(crate) async fn purge(store: &Store, time: i64) -> Purged {
    let before = Before::all(Timestamp(time));
    store.purge(before, emptied).await.unwrap()
}

/// Visible text of each message.
pub(crate) async fn shown(store: &Store) -> Vec<String> {
    let page = store
        .read(|r| r.messages().page(CHAT, None, u32::MAX))
        .await
        .unwrap();
    page.iter()
        .map(|message| message.text().to_owned())
        .collect()
}

pub(crate) fn was_checked(notices: &[Notice]) -> bool {
    notices.contains(&Notice::Checked)
}
