//! Tests of `tools`. Only an answer to a question makes a decision, so the engine gets one first.

use std::sync::Arc;

use engine::api::{Event, SettingOwner, ToolDecision};
use engine::{Engine, Options};
use provider::fake::{FakeProvider, ReplyScript};
use serde_json::json;

use crate::world::World;

/// Lets the character of the first chat set her mood, and answers the question. Returns the chat.
async fn decide(world: &World, decision: ToolDecision) -> String {
    let model = FakeProvider::new();
    model
        .play(ReplyScript::new().call("set_mood", "{\"mood\":\"joy\"}"))
        .reply("Well.");
    let options = Options {
        data_dir: world.data_dir(),
        without_keychain: true,
        provider: Some(Arc::new(model)),
        ..Options::default()
    };
    let engine = Engine::open(options).await.unwrap();
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let owner = SettingOwner::Chat { id: chat };
    engine
        .set_setting_in_words(owner, "tool_mood".into(), "on".into())
        .await
        .unwrap();
    let mut events = engine.subscribe();
    engine.send_message(chat, "A gift.".into()).await.unwrap();
    loop {
        match events.next().await.unwrap() {
            Event::ToolAsked { request, .. } => {
                engine.answer_tool(request.id, decision).await.unwrap()
            }
            Event::Ended { .. } => break,
            _ => {}
        }
    }
    engine.shutdown().await;
    chat.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn decisions_are_listed_and_forgotten() {
    let world = World::without_model();
    let none = world.run(&["tools", "decisions", "--json"]);
    assert_eq!((none.code, none.json()), (0, json!({ "items": [] })));
    let chat = decide(&world, ToolDecision::ThisChat).await;
    let all = world.json(&["tools", "decisions"]);
    assert_eq!(
        (&all["items"][0]["chat"], &all["items"][0]["allowed"]),
        (&json!(chat), &json!(true)),
        "{all}"
    );
    world
        .run(&["tools", "forget", "roll_dice", "--json"])
        .assert_failed("notFound");
    world
        .run(&["tools", "forget", "set_mood", "--chat", "nowhere", "--json"])
        .assert_failed("notFound");
    let forgotten = world.json(&["tools", "forget", "set_mood", "--chat", &chat]);
    assert_eq!(forgotten["items"][0]["tool"], "set_mood");
    assert_eq!(world.json(&["tools", "decisions"])["items"], json!([]));

    // The question comes again.
    decide(&world, ToolDecision::Never).await;
    let shown = world.run(&["tools", "decisions"]);
    assert!(
        shown.out.contains("set_mood  [never]  in all chats"),
        "{shown:?}"
    );
    let forgotten = world.run(&["tools", "forget", "set_mood"]);
    assert!(
        forgotten.code == 0 && forgotten.out.starts_with("forgot set_mood"),
        "{forgotten:?}"
    );
    world
        .run(&["tools", "forget", "set_mood", "--json"])
        .assert_failed("notFound");
}
