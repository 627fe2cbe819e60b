//! Rounds of a reply in later turns, with other models and in files.

use std::collections::HashSet;

use domain::ChatId;
use domain::prompt::PromptRole;
use engine::ToolOutput;
use engine::api::{ChatFileFormat, ToolDecision};
use provider::fake::ReplyScript;
use tests::headless::Headless;

use super::{Lab, send_answering, set, switch_on, used};

#[tokio::test]
async fn later_turns_show_rounds_before_their_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model
        .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"3d1\"}"));
    app.model.reply("Three.");
    app.send(chat, "Roll.").await;
    app.model.reply("Still three.");
    app.send(chat, "And now?").await;
    let prompt = app.model.last_request().unwrap().prompt;
    let round = &prompt.tools.rounds[0];
    let reply = &prompt.messages[round.before];
    assert_eq!(
        (reply.role, reply.text.as_str()),
        (PromptRole::Character, "Three.")
    );
    assert_eq!(
        (
            prompt.tools.rounds.len(),
            round.round.calls[0].name.as_str()
        ),
        (1, "roll_dice")
    );
    let report = app
        .engine
        .preview_prompt(chat, "Well?".into(), Default::default())
        .await
        .unwrap();
    let blocks: Vec<_> = report
        .blocks
        .iter()
        .filter(|block| block.kind == "tool" && block.kept)
        .collect();
    assert_eq!(blocks.len(), 3, "definitions, calls, results");
    assert!(blocks.iter().all(|block| block.tokens > 0));

    set(&app, chat, "tool_dice", "off").await;
    app.model.reply("Yes.");
    app.send(chat, "Sure?").await;
    let prompt = app.model.last_request().unwrap().prompt;
    assert!(prompt.tools.rounds.is_empty() && prompt.tools.definitions.is_empty());
    let texts: Vec<&str> = prompt
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    let call =
        "<tool_call>\n{\"name\": \"roll_dice\", \"arguments\": {\"dice\":\"3d1\"}}\n</tool_call>";
    let at = texts.iter().position(|text| *text == call).unwrap();
    assert!(
        texts[at + 1].starts_with("<tool_response>\n{\"name\":\"roll_dice\",\"result\":\"3d1 = "),
        "{}",
        texts[at + 1]
    );
    assert_eq!(texts[at + 2], "Three.");
}

#[tokio::test]
async fn results_count_in_the_history() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    Lab::with(&app, &["read"], |_, _| {
        ToolOutput::text("word ".repeat(800))
    });
    set(&app, chat, "tool_result_tokens", "2000").await;
    let used_tokens = async || {
        let report = app
            .engine
            .preview_prompt(chat, "Well?".into(), Default::default())
            .await
            .unwrap();
        report.shares.history_used
    };
    app.model.reply("Yes.");
    app.send(chat, "Hello.").await;
    let before = used_tokens().await;
    app.model.play(ReplyScript::new().call("lab__read", "{}"));
    app.model.reply("Yes.");
    send_answering(&app, chat, "Read.", ToolDecision::Once).await;
    let grown = used_tokens().await - before;
    assert!(
        (800..2_000).contains(&grown),
        "4,000 characters are {grown} tokens"
    );
}

#[tokio::test]
async fn trimming_never_parts_a_reply_and_its_rounds() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    Lab::with(&app, &["read"], |_, _| {
        ToolOutput::text("word ".repeat(300))
    });
    set(&app, chat, "context_limit", "4096").await;
    set(&app, chat, "min_tail_messages", "0").await;
    app.model.play(ReplyScript::new().call("lab__read", "{}"));
    app.model.reply("Reply 0.");
    send_answering(&app, chat, "Say 0.", ToolDecision::Always).await;
    for number in 1..14 {
        app.model.play(ReplyScript::new().call("lab__read", "{}"));
        app.model.reply(&format!("Reply {number}."));
        app.send(chat, &format!("Say {number}.")).await;
        let prompt = app.model.last_request().unwrap().prompt;
        let with_rounds: HashSet<usize> = prompt
            .tools
            .rounds
            .iter()
            .map(|round| round.before)
            .collect();
        for (index, message) in prompt.messages.iter().enumerate() {
            let is_reply = message.text.starts_with("Reply ");
            assert_eq!(
                is_reply,
                with_rounds.contains(&index),
                "{number}: message {index} {:?}",
                message.text
            );
        }
        assert!(with_rounds.contains(&prompt.messages.len()));
    }
    let prompt = app.model.last_request().unwrap().prompt;
    assert!(prompt.tools.rounds.len() < 14, "the oldest left the window");
}

#[tokio::test]
async fn ids_are_unique_within_the_chat() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    for _ in 0..4 {
        app.model.play(
            ReplyScript::new()
                .call("roll_dice", "{\"dice\":\"d6\"}")
                .call("roll_dice", "{\"dice\":\"d8\"}"),
        );
        app.model.reply("There.");
        app.send(chat, "Roll.").await;
    }
    let prompt = app.model.last_request().unwrap().prompt;
    let calls = prompt
        .tools
        .rounds
        .iter()
        .flat_map(|round| round.round.calls.iter().zip(&round.round.results));
    let mut ids = HashSet::new();
    for (call, result) in calls {
        assert_eq!(call.id.as_deref(), Some(result.call_id.as_str()));
        assert!(
            ids.insert(result.call_id.clone()),
            "{} appears twice",
            result.call_id
        );
    }
    assert_eq!(ids.len(), 8);
}

#[tokio::test]
async fn rounds_survive_export_import_and_branch() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model.play(
        ReplyScript::new()
            .text("I roll.")
            .call("roll_dice", "{\"dice\":\"3d1\"}"),
    );
    app.model.reply("Three.");
    let reply = app.send(chat, "Roll.").await.0.unwrap();
    let branch = app.engine.branch_chat(reply.id, None, None).await.unwrap();
    let copied = app
        .engine
        .whole_chat(branch.id)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert_eq!(used(&copied), used(&reply));

    let file = app
        .engine
        .export_chat(chat, ChatFileFormat::Jsonl)
        .await
        .unwrap();
    let path = app.dir.path().join("chat.jsonl");
    std::fs::write(&path, &file.bytes).unwrap();
    let before = app.engine.list_chats().await.unwrap();
    app.engine.import_paths(vec![path]).await.unwrap();
    let known: Vec<ChatId> = before.iter().map(|chat| chat.id).collect();
    let imported = app.engine.list_chats().await.unwrap();
    let imported = imported
        .iter()
        .find(|chat| !known.contains(&chat.id))
        .unwrap();
    let copied = app
        .engine
        .whole_chat(imported.id)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert_eq!(used(&copied), used(&reply));
}
