//! Permissions of tools.

use domain::ChatId;
use engine::ToolOutput;
use engine::api::{EndReason, ToolDecision};
use provider::fake::ReplyScript;
use serde_json::json;
use tests::headless::{Headless, ended};

use super::{Lab, asked, send_answering, switch_on, used};

async fn call_once(app: &Headless, chat: ChatId, decision: ToolDecision) -> (bool, usize) {
    app.model
        .play(ReplyScript::new().call("lab__look", "{\"at\":\"sea\"}"));
    app.model.reply("Well.");
    let (reply, _, questions) = send_answering(app, chat, "Look.", decision).await;
    (!used(&reply)[0].error, questions.len())
}

#[tokio::test]
async fn tool_of_a_server_runs_only_if_the_user_agrees() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let lab = Lab::with(&app, &["look"], |_, _| ToolOutput::text("waves"));
    assert_eq!(
        call_once(&app, chat, ToolDecision::NotNow).await,
        (false, 1)
    );
    assert_eq!(
        call_once(&app, chat, ToolDecision::Once).await,
        (true, 1),
        "it is asked again"
    );
    assert_eq!(
        call_once(&app, chat, ToolDecision::ThisChat).await,
        (true, 1)
    );
    assert_eq!(
        call_once(&app, chat, ToolDecision::NotNow).await,
        (true, 0),
        "this chat needs no question"
    );
    let other = app
        .engine
        .new_chat(app.character("Ines").await)
        .await
        .unwrap()
        .id;
    assert_eq!(
        call_once(&app, other, ToolDecision::Always).await,
        (true, 1),
        "another chat does"
    );
    assert_eq!(
        call_once(&app, other, ToolDecision::NotNow).await,
        (true, 0)
    );
    assert_eq!(lab.calls().len(), 5);

    let grants = app.engine.tool_grants().await.unwrap();
    assert_eq!(grants.len(), 2);
    assert!(
        grants
            .iter()
            .all(|grant| grant.allowed && grant.source == "lab" && grant.tool == "look")
    );
    for grant in grants {
        app.engine
            .forget_tool_grant(grant.source, grant.tool, grant.chat)
            .await
            .unwrap();
    }
    assert_eq!(call_once(&app, chat, ToolDecision::Never).await, (false, 1));
    assert_eq!(
        call_once(&app, other, ToolDecision::Once).await,
        (false, 0),
        "never holds in all chats"
    );
    let app = app.restart().await;
    assert!(!app.engine.tool_grants().await.unwrap()[0].allowed);
}

#[tokio::test]
async fn question_shows_tool_server_and_arguments() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    Lab::with(&app, &["look"], |_, _| ToolOutput::text("waves"));
    app.model
        .play(ReplyScript::new().call("lab__look", "{\"at\": \"sea\"}"));
    app.model.reply("Waves.");
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat, "Look.".into()).await.unwrap();
    let request = asked(&mut events).await;
    assert_eq!(
        (request.source.as_str(), request.tool.as_str()),
        ("lab", "look")
    );
    assert_eq!(
        (request.arguments.as_str(), request.description.as_str()),
        ("{\"at\": \"sea\"}", "Does look.")
    );
    app.engine
        .answer_tool(request.id, ToolDecision::Once)
        .await
        .unwrap();
    assert_eq!(ended(&mut events, chat).await.1, EndReason::Stop);
}

#[tokio::test]
async fn nobody_to_ask_means_no() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let lab = Lab::with(&app, &["look"], |_, _| ToolOutput::text("waves"));
    app.model.play(ReplyScript::new().call("lab__look", "{}"));
    app.model.reply("No.");
    app.engine.send_message(chat, "Look.".into()).await.unwrap();
    app.engine.settle().await;
    let reply = app
        .engine
        .whole_chat(chat)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert!(used(&reply)[0].error && lab.calls().is_empty());
}

#[tokio::test]
async fn card_can_rule_tools_out_but_grant_none() {
    let app = Headless::new().await;
    let card = |tools: serde_json::Value| {
        json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada", "description": "",
            "personality": "", "scenario": "", "first_mes": "Hello.", "mes_example": "",
            "extensions": { "inglenook": { "tools": tools, "tool_grants": ["lab__look"], "tool_clock": true } } } })
    };
    let offered = async |tools: serde_json::Value| {
        let path = app.dir.path().join("ada.json");
        std::fs::write(&path, card(tools).to_string()).unwrap();
        app.engine.import_paths(vec![path]).await.unwrap();
        let characters = app.engine.list_characters().await.unwrap();
        let ada = characters
            .iter()
            .rfind(|character| character.name.starts_with("Ada"))
            .unwrap()
            .id;
        let chat = app.engine.new_chat(ada).await.unwrap().id;
        switch_on(&app, chat, &["tool_dice", "tool_table"]).await;
        app.model.reply("Hm.");
        app.send(chat, "Hello.").await;
        app.engine.delete_character(ada).await.unwrap();
        let tools = app.model.last_request().unwrap().prompt.tools;
        tools
            .definitions
            .into_iter()
            .map(|tool| tool.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        offered(json!(["roll_dice", "get_time"])).await,
        ["roll_dice"]
    );
    assert_eq!(offered(json!([])).await, Vec::<String>::new());
    assert_eq!(
        offered(json!("everything")).await,
        ["draw_from_table", "roll_dice"]
    );
}
