//! The end of a reply: what its event carries, and failures after the message is stored.

use engine::api::{EndReason, Event, SettingOwner, SettingValue};
use tests::headless::{Headless, ended, selected_text};

#[tokio::test]
async fn end_event_carries_the_start_of_the_window() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let owner = SettingOwner::Chat { id: chat };
    app.engine
        .set_setting(
            owner,
            "context_limit".into(),
            Some(SettingValue::Whole(1_500)),
        )
        .await
        .unwrap();
    let mut anchors = Vec::new();
    for turn in 0..12 {
        app.model.reply(&format!(
            "{turn}. {}",
            "It rains over the harbour. ".repeat(16)
        ));
        let mut events = app.engine.subscribe();
        app.engine
            .send_message(chat, format!("And then, for the {turn}th time?"))
            .await
            .unwrap();
        let anchor = loop {
            if let Event::Ended { anchor, .. } = events.next().await.unwrap() {
                break anchor;
            }
        };
        assert_eq!(
            anchor,
            app.engine.open_chat(chat).await.unwrap().anchor,
            "turn {turn}"
        );
        anchors.push(anchor);
    }
    anchors.dedup();
    assert!(anchors.len() > 1, "the window has moved: {anchors:?}");
}

/// Here the character disappears while the message is stored.
#[tokio::test]
async fn failure_after_the_message_is_stored_is_the_end_of_the_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let database = tests::open_database(app.dir.path());
    let vanish =
        "CREATE TRIGGER vanish AFTER INSERT ON message BEGIN UPDATE character SET deleted = 1; END";
    database.execute_batch(vanish).unwrap();
    let mut events = app.engine.subscribe();
    let started = app
        .engine
        .send_message(chat, "Are you there?".into())
        .await
        .unwrap();
    assert_eq!(selected_text(&started.sent.unwrap()), "Are you there?");
    let (message, reason) = ended(&mut events, chat).await;
    assert!(
        message.is_none() && matches!(reason, EndReason::Failed { .. }),
        "{reason:?}"
    );
    let stored = "SELECT count(*) FROM swipe WHERE text = 'Are you there?'";
    assert_eq!(
        database
            .query_row(stored, [], |row| row.get::<_, u32>(0))
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn replies_can_be_regenerated_but_not_greetings() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("Good evening.");
    app.send(chat, "Hello.").await;
    let messages = app.engine.open_chat(chat).await.unwrap().page.messages;
    assert_eq!(
        messages
            .iter()
            .map(|message| message.can_regenerate)
            .collect::<Vec<_>>(),
        [false, false, true]
    );
}
