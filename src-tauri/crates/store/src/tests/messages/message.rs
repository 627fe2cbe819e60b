//! Messages and swipes: order, paging, the window, edits, deletion.

use domain::chat::{Role, SwipeState};
use domain::{Timestamp, ToolArguments, ToolCall};

use crate::tests::{CHAT, furnished, message, message_id, say, shown, swipe, swipe_id};
use crate::{Store, StoreError};

async fn talk(count: u128) -> Store {
    let store = furnished().await;
    for number in 1..=count {
        say(&store, number, &format!("m{number}")).await;
    }
    store
}

#[tokio::test]
async fn pages_run_backwards_and_read_forwards() {
    let store = talk(7).await;
    let mut before = None;
    let mut pages = Vec::new();
    loop {
        let page = store
            .read(move |r| r.messages().page(CHAT, before, 3))
            .await
            .unwrap();
        let Some(first) = page.first() else { break };
        before = Some(first.position);
        pages.push(
            page.iter()
                .map(|message| message.text().to_owned())
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    assert_eq!(pages, ["m5 m6 m7", "m2 m3 m4", "m1"]);
}

#[tokio::test]
async fn regenerating_adds_a_swipe_and_keeps_the_others() {
    let store = talk(1).await;
    let mut greeting = message(2, Role::Character, "Hello.");
    greeting.swipes.push(swipe(3, "Good evening."));
    let appended = store
        .write(move |w| w.messages_mut().append(&greeting))
        .await
        .unwrap();
    assert_eq!(appended.swipes.len(), 2);

    let added = store
        .write(|w| w.swipes_mut().add(message_id(2), &swipe(4, "You again?")))
        .await
        .unwrap();
    assert_eq!(added.position, 2);
    let stored = store
        .read(|r| r.messages().get(message_id(2)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (stored.text(), stored.swipes.len(), stored.selected),
        ("You again?", 3, 2)
    );
    assert_eq!(
        store.read(|r| r.messages().last(CHAT)).await.unwrap(),
        Some(stored)
    );

    store
        .write(|w| w.swipes_mut().select(message_id(2), 1))
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["m1", "Good evening."]);
    let beyond = store
        .write(|w| w.swipes_mut().select(message_id(2), 3))
        .await;
    assert!(matches!(
        beyond,
        Err(StoreError::NotFound { what: "swipe" })
    ));
}

#[tokio::test]
async fn edit_replaces_text_and_keeps_creation_time() {
    let store = talk(2).await;
    store
        .write(|w| w.swipes_mut().add(message_id(2), &swipe(9, "other")))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().edit(message_id(2), "mended"))
        .await
        .unwrap();
    let edited = store
        .read(|r| r.messages().get(message_id(2)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        edited
            .swipes
            .iter()
            .map(|swipe| swipe.text.as_str())
            .collect::<Vec<_>>(),
        ["m2", "mended"]
    );
    assert_eq!(edited.swipe().created, Timestamp(9));
}

#[tokio::test]
async fn the_window_starts_at_its_anchor_even_if_deleted() {
    let store = talk(5).await;
    store
        .write(|w| {
            w.messages_mut()
                .set_context_block(message_id(4), Some("It rains."))?;
            w.messages_mut().soft_delete(message_id(3), Timestamp(9))
        })
        .await
        .unwrap();
    let texts = |anchor| {
        let window = store.read(move |r| r.messages().from(CHAT, anchor));
        async move {
            window
                .await
                .unwrap()
                .into_iter()
                .map(|message| message.text)
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(texts(Some(message_id(3))).await, ["m4", "m5"]);
    assert_eq!(texts(None).await, ["m1", "m2", "m4", "m5"]);
    assert_eq!(texts(Some(message_id(77))).await, ["m1", "m2", "m4", "m5"]);
    let window = store
        .read(|r| r.messages().from(CHAT, Some(message_id(4))))
        .await
        .unwrap();
    assert_eq!(window[0].context_block.as_deref(), Some("It rains."));
    assert_eq!(
        (window[0].swipe, window[0].state),
        (swipe_id(4), SwipeState::Finished)
    );
}

#[tokio::test]
async fn deleted_messages_are_restored_in_place() {
    let store = talk(4).await;
    let third = store
        .read(|r| r.messages().get(message_id(3)))
        .await
        .unwrap()
        .unwrap();
    let ids = store
        .write(move |w| {
            w.messages_mut()
                .delete_from(CHAT, third.position, Timestamp(9))
        })
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["m1", "m2"]);
    let appended = say(&store, 5, "m5").await;
    assert_eq!(store.read(|r| r.messages().count(CHAT)).await.unwrap(), 3);
    let before = store
        .read(move |r| r.messages().before(appended.id))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(before.text(), "m2");

    store
        .write(move |w| w.messages_mut().restore(&ids))
        .await
        .unwrap();
    assert_eq!(shown(&store).await, ["m1", "m2", "m3", "m4", "m5"]);
    assert_eq!(
        store
            .read(|r| r.messages().before(message_id(1)))
            .await
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn a_message_without_a_selected_swipe_is_refused() {
    let store = talk(1).await;
    let mut empty = message(2, Role::User, "x");
    empty.selected = 1;
    let refused = store.write(move |w| w.messages_mut().append(&empty)).await;
    assert!(matches!(refused, Err(StoreError::Conflict { .. })));
    assert_eq!(shown(&store).await, ["m1"]);
}

#[tokio::test]
async fn a_message_makes_its_chat_the_last_changed() {
    let store = talk(3).await;
    assert_eq!(
        store
            .read(|r| r.chats().get(CHAT))
            .await
            .unwrap()
            .unwrap()
            .updated,
        Timestamp(3)
    );
    store
        .write(|w| w.swipes_mut().add(message_id(3), &swipe(8, "again")))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.chats().get(CHAT))
            .await
            .unwrap()
            .unwrap()
            .updated,
        Timestamp(8)
    );
}

#[tokio::test]
async fn a_streamed_text_grows_by_checkpoints() {
    let store = talk(1).await;
    for text in ["On", "Once", "Once upon"] {
        store
            .checkpoint(move |w| {
                w.swipes_mut()
                    .set_text(swipe_id(1), text, SwipeState::Streaming)
            })
            .await
            .unwrap();
    }
    let stored = store
        .read(|r| r.swipes().get(swipe_id(1)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (stored.text.as_str(), stored.state),
        ("Once upon", SwipeState::Streaming)
    );
}

#[tokio::test]
async fn finds_pinned_messages_outside_the_window() {
    let store = furnished().await;
    for (number, text) in [
        (1, "The key is under the mat."),
        (2, "Nice weather."),
        (3, "And now?"),
    ] {
        say(&store, number, text).await;
    }
    store
        .write(|w| w.messages_mut().set_pinned(message_id(1), true))
        .await
        .unwrap();
    let marked =
        |anchor| store.read(move |r| r.messages().marked_before(CHAT, message_id(anchor), 8, 9));
    let texts: Vec<_> = marked(3)
        .await
        .unwrap()
        .into_iter()
        .map(|message| (message.text, message.pinned))
        .collect();
    assert_eq!(texts, [("The key is under the mat.".to_owned(), true)]);
    assert!(marked(1).await.unwrap().is_empty());
    assert!(
        store
            .read(|r| r.messages().get(message_id(1)))
            .await
            .unwrap()
            .unwrap()
            .pinned
    );
}

#[tokio::test]
async fn an_edit_clears_the_importance() {
    let store = furnished().await;
    for number in 1..=4 {
        say(&store, number, "We meet at the mill.").await;
    }
    for (number, importance) in [(1, 8), (2, 7), (3, 9)] {
        store
            .write(move |w| {
                w.messages_mut()
                    .set_importance(message_id(number), Some(importance))
            })
            .await
            .unwrap();
    }
    let marked = async |limit| {
        let found = store
            .read(move |r| r.messages().marked_before(CHAT, message_id(4), 8, limit))
            .await
            .unwrap();
        found
            .into_iter()
            .map(|message| message.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(marked(9).await, [message_id(1), message_id(3)]);
    assert_eq!(marked(1).await, [message_id(3)], "the newest");
    store
        .write(|w| w.messages_mut().edit(message_id(3), "We do not meet."))
        .await
        .unwrap();
    assert_eq!(marked(9).await, [message_id(1)]);
    let longer = "We meet at the mill. Or do we?";
    store
        .write(move |w| {
            w.swipes_mut()
                .set_text(swipe_id(1), longer, SwipeState::Streaming)
        })
        .await
        .unwrap();
    assert_eq!(marked(9).await, [], "a continued reply has another text");
}

#[tokio::test]
async fn tool_calls_are_stored_with_their_swipe() {
    let store = talk(2).await;
    let calls =
        [("weather", "{\"city\":\"Oslo\"}"), ("time", "{\"zo")].map(|(name, text)| ToolCall {
            id: None,
            name: name.into(),
            arguments: ToolArguments::read(text),
        });
    let kept = calls.clone();
    store
        .write(move |w| w.swipes_mut().set_tool_calls(swipe_id(2), &kept))
        .await
        .unwrap();
    let message = store
        .read(|r| r.messages().get(message_id(2)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(message.swipe().tool_calls, calls);
    let window = store.read(|r| r.messages().from(CHAT, None)).await.unwrap();
    assert_eq!(
        (window[0].tool_calls.len(), &window[1].tool_calls[..]),
        (0, &calls[..])
    );
}

/// The message stays visible in its chat.
#[tokio::test]
async fn an_excluded_message_stays_in_its_chat() {
    let store = furnished().await;
    say(&store, 1, "The key is under the mat.").await;
    let told = async || {
        !store
            .read(|r| r.message_texts().at(CHAT, [0]))
            .await
            .unwrap()
            .is_empty()
    };
    store
        .write(|w| w.messages_mut().exclude(message_id(1)))
        .await
        .unwrap();
    assert!(!told().await);
    assert_eq!(shown(&store).await, ["The key is under the mat."]);
    store
        .write(|w| w.messages_mut().include(message_id(1)))
        .await
        .unwrap();
    assert!(told().await);
    store.check().await.unwrap();
}

#[tokio::test]
async fn an_excluded_message_stays_excluded() {
    let store = talk(2).await;
    let told = async || {
        !store
            .read(|r| r.message_texts().at(CHAT, [1]))
            .await
            .unwrap()
            .is_empty()
    };
    store
        .write(|w| w.messages_mut().exclude(message_id(2)))
        .await
        .unwrap();
    store
        .write(|w| {
            w.swipes_mut()
                .add(message_id(2), &swipe(22, "Other words."))
                .map(|_| ())
        })
        .await
        .unwrap();
    assert!(told().await, "a new text is not excluded");
    store
        .write(|w| w.swipes_mut().select(message_id(2), 0))
        .await
        .unwrap();
    assert!(!told().await, "the old ones are not");
    let importance = async || {
        let of = "SELECT importance FROM message WHERE position = 1";
        store
            .on_writer(move |conn| {
                conn.query_row(of, [], |row| row.get::<_, Option<u8>>(0))
                    .unwrap()
            })
            .await
            .unwrap()
    };
    assert_eq!(
        importance().await,
        Some(1),
        "an excluded text has the lowest importance"
    );
    store
        .write(|w| w.messages_mut().soft_delete(message_id(2), Timestamp(9)))
        .await
        .unwrap();
    store
        .write(|w| w.messages_mut().restore(&[message_id(2)]))
        .await
        .unwrap();
    assert!(!told().await, "nor when a deletion is undone");
    store
        .write(|w| w.messages_mut().edit(message_id(2), "New words."))
        .await
        .unwrap();
    assert!(told().await);
    assert_eq!(importance().await, None, "the importance is not rated yet");
    store.check().await.unwrap();
}
