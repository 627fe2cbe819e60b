//! Branches: copies of messages, links, checkpoints, earlier texts, order.

use domain::chat::Role;
use domain::{ChatId, MessageId, Timestamp};
use uuid::Uuid;

use crate::tests::{CHARACTER, CHAT, chat, furnished, message, message_id, say, shown, swipe};
use crate::{Before, CopiedRange, Store};

const BRANCH: ChatId = ChatId(Uuid::from_u128(70));

async fn talk(count: u128) -> Store {
    let store = furnished().await;
    for number in 1..=count {
        say(&store, number, &format!("m{number}")).await;
    }
    store
}

/// Copies the messages up to position 1 into a new chat, which is linked to the second message.
async fn branch(store: &Store) {
    let range = CopiedRange {
        from: CHAT,
        to: BRANCH,
        first: i64::MIN,
        last: 1,
        shift: 0,
    };
    let mut next = 900;
    store
        .write(move |w| {
            w.chats_mut().insert(&chat(BRANCH, CHARACTER, 9))?;
            let mut new_id = || {
                next += 1;
                Uuid::from_u128(next)
            };
            w.branch_links_mut()
                .copy_settings(CHAT, BRANCH, &mut new_id)?;
            w.branch_links_mut().copy_messages(range, &mut new_id)?;
            w.branch_links_mut().link(BRANCH, CHAT, Some(message_id(2)))
        })
        .await
        .unwrap();
}

async fn texts(store: &Store, chat: ChatId) -> Vec<String> {
    let messages = store
        .read(move |r| r.messages().page(chat, None, 50))
        .await
        .unwrap();
    messages
        .iter()
        .map(|message| message.text().to_owned())
        .collect()
}

#[tokio::test]
async fn branch_has_messages_up_to_its_origin() {
    let store = talk(3).await;
    store
        .write(|w| w.swipes_mut().add(message_id(2), &swipe(50, "other")))
        .await
        .unwrap();
    store
        .write(|w| w.checkpoints_mut().set(message_id(1), "Door", Timestamp(5)))
        .await
        .unwrap();
    branch(&store).await;
    assert_eq!(texts(&store, BRANCH).await, ["m1", "other"]);
    let copy = store
        .read(|r| r.messages().page(BRANCH, None, 1))
        .await
        .unwrap()
        .remove(0);
    assert_eq!(copy.swipes.len(), 2, "all versions are copied");
    assert_eq!(
        store.read(|r| r.checkpoints().of(BRANCH)).await.unwrap()[0].name,
        "Door"
    );
    let origin = store
        .read(|r| r.branch_links().origin(BRANCH))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (origin.chat, origin.message, origin.number),
        (CHAT, Some(message_id(2)), 2)
    );
    assert_eq!(
        store.read(|r| r.branch_links().of(CHAT)).await.unwrap()[0].chat,
        BRANCH
    );
    assert_eq!(
        store.read(|r| r.chats().branches(BRANCH)).await.unwrap(),
        [CHAT]
    );
}

#[tokio::test]
async fn copies_have_the_keys_of_their_originals() {
    let store = talk(3).await;
    branch(&store).await;
    assert_eq!(
        store.read(|r| r.branch_links().story(CHAT)).await.unwrap(),
        [CHAT, BRANCH]
    );
    let steps = |chat| store.read(move |r| r.branch_links().steps(chat));
    let own = steps(CHAT).await.unwrap();
    let copied = steps(BRANCH).await.unwrap();
    assert!(
        own.iter()
            .zip(&copied)
            .all(|(own, copy)| own.key == copy.key && own.message != copy.message)
    );
    store
        .write(|w| w.messages_mut().edit(message_id(2), "mended"))
        .await
        .unwrap();
    assert_ne!(steps(CHAT).await.unwrap()[1].key, copied[1].key);
}

/// Facts are extracted from CHAT up to position `own`, and from the branch up to its first message;
/// then the branch is appended to CHAT. Returns the position up to which facts are extracted.
async fn extracted_after_join(own: i64) -> i64 {
    let store = talk(2).await;
    branch(&store).await;
    let range = CopiedRange {
        from: BRANCH,
        to: CHAT,
        first: i64::MIN,
        last: i64::MAX,
        shift: 2,
    };
    let mut next = 950;
    let join = move |w: &mut crate::WriteTransaction<'_>| {
        w.messages_mut().extracted_up_to(CHAT, own)?;
        w.messages_mut().extracted_up_to(BRANCH, 0)?;
        assert_eq!(w.branch_links().next_position(CHAT)?, 2);
        w.branch_links_mut().copy_messages(range, &mut || {
            next += 1;
            Uuid::from_u128(next)
        })?;
        w.branch_links_mut().append_extraction(range, 2)
    };
    store.write(join).await.unwrap();
    assert_eq!(texts(&store, CHAT).await, ["m1", "m2", "m1", "m2"]);
    store
        .read(|r| r.message_texts().extracted_up_to(CHAT))
        .await
        .unwrap()
}

#[tokio::test]
async fn joined_messages_are_learned_from_once() {
    assert_eq!(
        extracted_after_join(1).await,
        2,
        "the first appended message was read in the other chat"
    );
    assert_eq!(
        extracted_after_join(0).await,
        0,
        "a message before the appended ones is unread"
    );
}

#[tokio::test]
async fn purged_origin_hands_on_its_branches() {
    let store = talk(3).await;
    branch(&store).await;
    let last = ChatId(Uuid::from_u128(71));
    let link = move |w: &mut crate::WriteTransaction<'_>| {
        w.chats_mut().insert(&chat(last, CHARACTER, 9))?;
        w.branch_links_mut().link(last, BRANCH, None)?;
        w.chats_mut().soft_delete(BRANCH, Timestamp(10))
    };
    store.write(link).await.unwrap();
    store
        .purge(Before::all(Timestamp(10)), |_| None)
        .await
        .unwrap();
    let origin = store
        .read(move |r| r.branch_links().origin(last))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((origin.chat, origin.message), (CHAT, Some(message_id(2))));
}

#[tokio::test]
async fn moved_message_is_found_at_its_new_place() {
    let store = talk(3).await;
    store
        .write(|w| w.messages_mut().exchange(message_id(1), message_id(2)))
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["m2", "m1", "m3"]);
    let indexed = store
        .read(|r| r.message_texts().changed(CHAT, -1))
        .await
        .unwrap();
    let at = |id: MessageId| {
        indexed
            .iter()
            .find(|text| text.message.id == id)
            .map(|text| text.message.position)
    };
    assert_eq!((at(message_id(1)), at(message_id(2))), (Some(1), Some(0)));
    assert_eq!(
        store
            .read(|r| r.messages().after(message_id(2)))
            .await
            .unwrap(),
        Some(message_id(1))
    );
}

#[tokio::test]
async fn hiding_a_range_reports_what_changed() {
    let store = talk(3).await;
    store
        .write(|w| w.messages_mut().set_hidden(message_id(2), true))
        .await
        .unwrap();
    let hide = |hidden| {
        store.write(move |w| {
            let ids = w.messages().between(CHAT, 0, 1)?;
            w.messages_mut().hide_all(&ids, hidden)
        })
    };
    assert_eq!(hide(true).await.unwrap(), [message_id(1)]);
    assert_eq!(hide(false).await.unwrap(), [message_id(1), message_id(2)]);
}

#[tokio::test]
async fn earlier_texts_stay_until_the_trash_is_purged() {
    let store = talk(1).await;
    let edit = |text: &'static str, now| {
        store.write(move |w| {
            w.revisions_mut()
                .keep(message_id(1), text, Timestamp(now))?;
            w.messages_mut().edit(message_id(1), text)
        })
    };
    edit("second", 10).await.unwrap();
    edit("second", 11).await.unwrap();
    edit("third", 12).await.unwrap();
    let kept = store
        .read(|r| r.revisions().of(message_id(1)))
        .await
        .unwrap();
    assert_eq!(
        kept.iter()
            .map(|kept| kept.text.as_str())
            .collect::<Vec<_>>(),
        ["second", "m1"]
    );
    assert_eq!(
        store.read(|r| r.revisions().edited(CHAT)).await.unwrap(),
        [message_id(1)]
    );
    store
        .purge(
            Before {
                trash: Timestamp(9),
                ..Before::all(Timestamp(20))
            },
            |_| None,
        )
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.revisions().of(message_id(1)))
            .await
            .unwrap()
            .len(),
        2
    );
    store
        .purge(Before::all(Timestamp(20)), |_| None)
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.revisions().of(message_id(1)))
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn rating_belongs_to_a_swipe() {
    let store = talk(1).await;
    let greeting = message(2, Role::Character, "Hello.");
    let added = store
        .write(move |w| w.messages_mut().append(&greeting))
        .await
        .unwrap();
    let id = added.swipe().id;
    store
        .write(move |w| w.swipes_mut().rate(id, Some(false)))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.swipes().ratings(CHAT)).await.unwrap(),
        [(id, false)]
    );
    store
        .write(move |w| w.swipes_mut().rate(id, None))
        .await
        .unwrap();
    assert_eq!(store.read(|r| r.swipes().ratings(CHAT)).await.unwrap(), []);
}
