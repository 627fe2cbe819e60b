//! The app's own tools.

use std::io::Cursor;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::ChatId;
use engine::api::{DocumentOwner, ToolDecision};
use image::{ImageFormat, RgbImage};
use provider::fake::ReplyScript;
use serde_json::json;
use tests::headless::{Headless, fact};

use super::{send_answering, set, switch_on, used};

/// Lets the model call one tool, and returns the result, whether it is an error, and the number of
/// questions.
async fn result_of(
    app: &Headless,
    chat: ChatId,
    tool: &str,
    arguments: &str,
) -> (String, bool, usize) {
    app.model.play(ReplyScript::new().call(tool, arguments));
    app.model.reply("Well.");
    let (reply, _, questions) = send_answering(app, chat, "Go on.", ToolDecision::Once).await;
    let call = used(&reply).remove(0);
    (call.result, call.error, questions.len())
}

#[tokio::test]
async fn no_tool_is_offered_unless_switched_on() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("Hm.");
    app.send(chat, "Hello.").await;
    assert_eq!(
        app.model.last_request().unwrap().prompt.tools,
        Default::default()
    );
}

#[tokio::test]
async fn clock_tells_the_time_of_the_user() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_clock"]).await;
    let (text, error, questions) = result_of(&app, chat, "get_time", "{}").await;
    assert_eq!(
        (text.as_str(), error, questions),
        ("Saturday, 21 November 2026, 23:11", false, 0)
    );
}

#[tokio::test]
async fn memory_search_finds_only_what_applies_here() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    switch_on(&app, chat.id, &["tool_memory"]).await;
    app.engine
        .save_memory(fact(chat.character, "The user has a cat named Miso.", 5))
        .await
        .unwrap();
    let other = app.character("Ines").await;
    app.engine
        .save_memory(fact(other, "The user told Ines of a cat named Pepper.", 5))
        .await
        .unwrap();
    let (text, error, _) = result_of(&app, chat.id, "search_memory", "{\"about\":\"cat\"}").await;
    assert_eq!(
        (text.as_str(), error),
        ("The user has a cat named Miso.", false)
    );
    assert!(
        result_of(&app, chat.id, "search_memory", "{\"about\":\"zebra\"}")
            .await
            .0
            .starts_with("Nothing")
    );
}

#[tokio::test]
async fn chat_search_skips_hidden_messages_and_other_chats() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_chat_search"]).await;
    app.model.reply("The password is heron.");
    app.send(chat, "The lamp is made of brass.").await;
    let other = app
        .engine
        .new_chat(app.character("Ines").await)
        .await
        .unwrap()
        .id;
    app.model.reply("A brass lamp.");
    app.send(other, "Another brass thing.").await;
    let messages = app.engine.whole_chat(chat).await.unwrap().page.messages;
    let secret = messages
        .iter()
        .find(|message| message.swipes[0].text.contains("heron"))
        .unwrap();
    app.engine
        .hide_messages(vec![secret.id], true)
        .await
        .unwrap();
    let (text, ..) = result_of(&app, chat, "search_chat", "{\"words\":\"brass\"}").await;
    assert!(
        text.contains("The lamp is made of brass.") && !text.contains("Another"),
        "{text}"
    );
    let (text, ..) = result_of(&app, chat, "search_chat", "{\"words\":\"heron\"}").await;
    assert_eq!(text, "Nothing was found.");
}

#[tokio::test]
async fn document_is_read_in_parts() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_documents"]).await;
    let owner = DocumentOwner::Chat { id: chat };
    let text = "# Harbour\n\nThe pier is long.\n\n# Tower\n\nThe tower is old.";
    app.engine
        .attach_document_bytes(owner, "town.md".into(), text.into())
        .await
        .unwrap();
    let (text, error, _) = result_of(&app, chat, "read_document", "{\"name\":\"town.md\"}").await;
    assert!(
        !error && text.contains("## Harbour") && text.contains("The tower is old."),
        "{text}"
    );
    let (text, error, _) =
        result_of(&app, chat, "read_document", "{\"name\":\"/etc/passwd\"}").await;
    assert!(
        error && text == "There is no such document. The documents are: town.md.",
        "{text}"
    );
}

#[tokio::test]
async fn table_is_drawn_from() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_table"]).await;
    set(&app, chat, "random_tables", "Weather: fog; fog").await;
    assert_eq!(
        result_of(&app, chat, "draw_from_table", "{\"table\":\"Weather\"}").await,
        ("fog".into(), false, 0)
    );
}

#[tokio::test]
async fn lore_is_looked_up_in_the_books_of_the_chat() {
    let app = Headless::new().await;
    let keeper = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Nemo", "first_mes": "Aye.", "character_book": { "entries": [
            { "keys": ["lantern"], "name": "Lantern", "content": "{{char}}'s lantern burns whale oil.", "enabled": true,
              "insertion_order": 1, "extensions": {} },
            { "keys": ["reef"], "name": "Reef", "content": "The lantern does not reach the reef.", "enabled": true,
              "insertion_order": 1, "extensions": {} },
            { "keys": ["lantern"], "name": "Old", "content": "A disabled lantern.", "enabled": false,
              "insertion_order": 1, "extensions": {} },
        ] },
    } });
    let card = keeper.to_string().into_bytes();
    let nemo = app
        .engine
        .import_bytes("nemo.json".into(), card)
        .await
        .unwrap()
        .imported
        .remove(0)
        .id
        .parse()
        .unwrap();
    let chat = app.engine.new_chat(nemo).await.unwrap().id;
    switch_on(&app, chat, &["tool_lore"]).await;
    let (text, error, questions) =
        result_of(&app, chat, "look_up_lore", "{\"about\":\"the Lantern\"}").await;
    let expected =
        "Lantern: Nemo's lantern burns whale oil.\n\nReef: The lantern does not reach the reef.";
    assert_eq!((text.as_str(), error, questions), (expected, false, 0));
    let (text, error, _) = result_of(&app, chat, "look_up_lore", "{\"about\":\"zebra\"}").await;
    assert_eq!(
        (text.as_str(), error),
        ("Nothing is known about that.", false)
    );
}

#[tokio::test]
async fn scene_changes_after_a_question() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_scene"]).await;
    let mut png = Cursor::new(Vec::new());
    RgbImage::new(8, 8)
        .write_to(&mut png, ImageFormat::Png)
        .unwrap();
    app.engine
        .add_background("Harbour".into(), BASE64_STANDARD.encode(png.into_inner()))
        .await
        .unwrap();
    assert_eq!(app.engine.chat_background(chat).await.unwrap(), None);
    let (text, error, questions) =
        result_of(&app, chat, "change_scene", "{\"background\":\"Harbour\"}").await;
    assert_eq!(
        (text.as_str(), error, questions),
        ("The chat shows Harbour.", false, 1)
    );
    let shown = app
        .engine
        .chat_background(chat)
        .await
        .unwrap()
        .expect("the chat has a background");
    assert_eq!(shown.background.name, "Harbour");
    let (text, error, _) = result_of(&app, chat, "change_scene", "{\"background\":\"Moon\"}").await;
    assert_eq!((text.as_str(), error), ("Choose one of: Harbour.", true));
}

#[tokio::test]
async fn mood_is_set_after_a_question() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_mood"]).await;
    app.model
        .play(ReplyScript::new().call("set_mood", "{\"mood\":\"joy\"}"));
    app.model.reply("How nice.");
    let (reply, _, questions) = send_answering(&app, chat, "A gift.", ToolDecision::Once).await;
    assert_eq!(questions[0].tool, "set_mood");
    assert_eq!(reply.swipes[0].emotion.as_ref().unwrap().label, "joy");
    let (text, error, _) = result_of(&app, chat, "set_mood", "{\"mood\":\"purple\"}").await;
    assert!(
        error && text.starts_with("Choose one of: neutral, joy"),
        "{text}"
    );
}
