//! Rounds of one reply.

use domain::prompt::ToolChoice;
use domain::{SignedThought, ToolRound};
use engine::ToolOutput;
use engine::api::{EndReason, Event, ToolDecision};
use provider::fake::{ReplyGate, ReplyScript};
use provider::{ProviderError, ProviderErrorKind, Request};
use serde_json::json;
use tests::headless::{Headless, ended, selected_text};

use super::{Lab, asked, send_answering, set, switch_on, used};

fn rounds_sent(app: &Headless) -> Vec<ToolRound> {
    let tools = app.model.last_request().unwrap().prompt.tools;
    tools.rounds.into_iter().map(|round| round.round).collect()
}

#[tokio::test]
async fn call_is_run_and_its_result_sent_back() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model.play(
        ReplyScript::new()
            .text("Let me roll.")
            .call("roll_dice", "{\"dice\":\"3d1\"}"),
    );
    app.model.reply("You rolled three.");
    let (reply, reason) = app.send(chat, "Roll for me.").await;
    let reply = reply.unwrap();
    assert_eq!(
        (reason, selected_text(&reply)),
        (EndReason::Stop, "Let me roll.\n\nYou rolled three.")
    );

    let requests = app.model.requests();
    let [first, second] = &requests[..] else {
        panic!("{} requests", requests.len())
    };
    assert_eq!(first.prompt.tools.definitions[0].name, "roll_dice");
    assert_eq!(
        first.prompt.tools.definitions[0].parameters["required"],
        json!(["dice"])
    );
    assert_eq!(
        second.prompt.messages, first.prompt.messages,
        "the prefix stays"
    );
    let round = &second.prompt.tools.rounds[0];
    assert_eq!(
        (round.before, round.round.text.as_str()),
        (second.prompt.messages.len(), "Let me roll.")
    );
    let (call, result) = (&round.round.calls[0], &round.round.results[0]);
    assert_eq!(call.id.as_deref(), Some(result.call_id.as_str()));
    assert!(
        result.text.starts_with("3d1 = ") && result.text.contains('3') && !result.error,
        "{result:?}"
    );

    let app = app.restart().await;
    let stored = app
        .engine
        .whole_chat(chat)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert_eq!(stored, reply, "the round is stored with its reply");
    let figures = stored.swipes[0].figures.clone().unwrap();
    assert!(
        figures.tool_rounds[0].tokens > 5 && !figures.tool_limit,
        "{figures:?}"
    );
}

#[tokio::test]
async fn thoughts_before_a_call_go_back_with_its_result() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    let signed = SignedThought::Block {
        text: "Roll it.".into(),
        signature: "s".into(),
    };
    let script = ReplyScript::new()
        .thought("Roll ")
        .thought("it.")
        .signed(signed.clone());
    app.model
        .play(script.call("roll_dice", "{\"dice\":\"d6\"}"));
    app.model
        .play(ReplyScript::new().thought("High.").text("A six!"));
    let reply = app.send(chat, "Roll.").await.0.unwrap();
    assert_eq!(rounds_sent(&app)[0].thoughts, [signed]);
    assert_eq!(
        selected_text(&reply),
        "<think>Roll it.</think>\n<think>High.</think>A six!"
    );
    let shown = reply.swipes[0]
        .display
        .as_ref()
        .expect("thoughts are shown apart");
    assert_eq!(shown.text, "A six!");
}

#[tokio::test]
async fn after_five_rounds_the_model_must_answer() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    for _ in 0..5 {
        app.model
            .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"d6\"}"));
    }
    app.model.reply("Enough.");
    let reply = app.send(chat, "Roll on.").await.0.unwrap();
    let requests = app.model.requests();
    assert_eq!(
        (requests.len(), selected_text(&reply), used(&reply).len()),
        (6, "Enough.", 5)
    );
    let never = |request: &Request| request.prompt.tools.choice == ToolChoice::Never;
    let answers: Vec<bool> = requests.iter().map(never).collect();
    assert_eq!(answers, [false, false, false, false, false, true]);
    assert!(
        used(&reply)[4]
            .result
            .ends_with("[Tool limit reached. Answer now, without another call.]")
    );
    assert!(
        reply.swipes[0].figures.as_ref().unwrap().tool_limit,
        "the user sees it"
    );

    set(&app, chat, "tool_rounds", "1").await;
    app.model
        .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"d6\"}"));
    app.model.play(
        ReplyScript::new()
            .text("No.")
            .call("roll_dice", "{\"dice\":\"d6\"}"),
    );
    let reply = app.send(chat, "Again.").await.0.unwrap();
    assert_eq!(
        (used(&reply).len(), reply.swipes[0].tool_calls.len()),
        (1, 1),
        "a call after the limit is not run"
    );
}

#[tokio::test]
async fn several_calls_run_in_order_and_return_together() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let lab = Lab::with(&app, &["look", "touch"], |tool, _| {
        ToolOutput::text(format!("{tool} done"))
    });
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model.play(
        ReplyScript::new()
            .call("lab__touch", "{\"at\":\"1\"}")
            .call("roll_dice", "{\"dice\":\"1d1\"}")
            .call("lab__look", "{\"at\":\"2\"}"),
    );
    app.model.reply("Done.");
    let (reply, _, questions) = send_answering(&app, chat, "Go.", ToolDecision::Once).await;
    assert_eq!(lab.calls(), ["touch{\"at\":\"1\"}", "look{\"at\":\"2\"}"]);
    assert_eq!(questions.len(), 2);
    let names: Vec<String> = used(&reply).into_iter().map(|call| call.name).collect();
    assert_eq!(names, ["lab__touch", "roll_dice", "lab__look"]);
    let rounds = rounds_sent(&app);
    let texts: Vec<&str> = rounds[0]
        .results
        .iter()
        .map(|result| result.text.as_str())
        .collect();
    assert_eq!(
        (rounds.len(), texts[0], texts[2]),
        (1, "touch done", "look done")
    );
}

#[tokio::test]
async fn failed_calls_are_results_and_the_loop_goes_on() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    Lab::with(&app, &["fail", "panic"], |tool, _| {
        assert_ne!(tool, "panic", "a scripted defect");
        ToolOutput::error("The lamp is broken.")
    });
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model.play(
        ReplyScript::new()
            .call("fly", "{}")
            .call("roll_dice", "{\"dice\":")
            .call("roll_dice", "{\"dice\":\"many\"}")
            .call("lab__fail", "{}")
            .call("lab__panic", "{}"),
    );
    app.model.reply("It does not work.");
    let (reply, reason, _) = send_answering(&app, chat, "Try.", ToolDecision::Once).await;
    assert_eq!(
        (reason, selected_text(&reply)),
        (EndReason::Stop, "It does not work.")
    );
    let calls = used(&reply);
    assert!(calls.iter().all(|call| call.error), "{calls:?}");
    assert!(
        calls[0]
            .result
            .starts_with("There is no tool named fly. The tools are: "),
        "{}",
        calls[0].result
    );
    assert!(
        calls[1].result.contains("not a JSON object")
            && calls[2].result.contains("no dice formula")
    );
    assert_eq!(calls[3].result, "The lamp is broken.");
    assert!(
        calls[4].result.starts_with("The tool failed: "),
        "{}",
        calls[4].result
    );
}

#[tokio::test]
async fn stopping_keeps_the_results_that_came() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    Lab::with(&app, &["look"], |_, _| ToolOutput::text("never"));
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model.play(
        ReplyScript::new()
            .call("roll_dice", "{\"dice\":\"2d1\"}")
            .call("lab__look", "{}"),
    );
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat, "Go.".into()).await.unwrap();
    let request = asked(&mut events).await;
    assert_eq!(app.engine.pending_tools(chat).await.unwrap()[0], request);
    app.engine.stop(chat).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    let calls = used(&reply.unwrap());
    assert_eq!(reason, EndReason::Cancelled);
    assert!(calls[0].result.starts_with("2d1 = ") && !calls[0].error);
    assert!(calls[1].error && calls[1].result.contains("stopped before this tool ran"));
    assert_eq!(app.engine.pending_tools(chat).await.unwrap(), []);
    assert!(
        app.engine
            .answer_tool(request.id, ToolDecision::Always)
            .await
            .is_err(),
        "too late"
    );

    app.model.reply("As I was saying.");
    app.engine.continue_reply(chat).await.unwrap();
    let (reply, _) = ended(&mut events, chat).await;
    let reply = reply.unwrap();
    assert_eq!(
        (selected_text(&reply), used(&reply).len()),
        ("As I was saying.", 2)
    );
    let prompt = app.model.last_request().unwrap().prompt;
    assert_eq!(
        (prompt.tools.rounds[0].before, prompt.continues),
        (prompt.messages.len(), false)
    );
}

#[tokio::test]
async fn error_after_a_round_leaves_a_chat_to_retry() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    app.model
        .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"2d1\"}"));
    app.model.fail(ProviderError::new(
        ProviderErrorKind::Server,
        "the server failed",
        "Try again.",
    ));
    let (reply, reason) = app.send(chat, "Roll.").await;
    assert!(matches!(reason, EndReason::Failed { .. }), "{reason:?}");
    assert_eq!(used(&reply.unwrap()).len(), 1, "the round is kept");

    app.model
        .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"1d1\"}"));
    app.model.reply("One.");
    let mut events = app.engine.subscribe();
    app.engine.regenerate(chat).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    let reply = reply.unwrap();
    assert_eq!(
        (reason, selected_text(&reply), reply.swipes.len()),
        (EndReason::Stop, "One.", 2)
    );
    assert_eq!(
        rounds_sent(&app).len(),
        1,
        "the failed swipe is not part of the prompt"
    );
}

#[tokio::test]
async fn results_arrive_while_the_reply_waits() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_dice"]).await;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().call("roll_dice", "{\"dice\":\"1d1\"}"));
    app.model.play(ReplyScript::new().gate(&gate).text("One."));
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat, "Roll.".into()).await.unwrap();
    gate.reached().await;
    let mut states = Vec::new();
    while states.len() < 2 {
        if let Event::ToolsUsed {
            rounds, running, ..
        } = events.next().await.unwrap()
        {
            states.push((running, rounds[0].calls[0].error));
        }
    }
    assert_eq!(states, [(true, true), (false, false)]);
    gate.open();
    assert_eq!(ended(&mut events, chat).await.1, EndReason::Stop);
}

#[tokio::test]
async fn long_result_is_cut_and_can_be_read_on() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let long: String = (0..4_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    Lab::with(&app, &["read"], move |_, _| ToolOutput::text(long.clone()));
    set(&app, chat, "tool_result_tokens", "200").await;
    app.model.play(ReplyScript::new().call("lab__read", "{}"));
    let gate = ReplyGate::new();
    app.model.play(ReplyScript::new().gate(&gate));
    let mut events = app.engine.subscribe();
    app.engine.send_message(chat, "Read.".into()).await.unwrap();
    let request = asked(&mut events).await;
    app.engine
        .answer_tool(request.id, ToolDecision::Always)
        .await
        .unwrap();
    gate.reached().await;
    let result = rounds_sent(&app)[0].results[0].clone();
    assert!(
        result.text.len() < 1_200 && result.text.starts_with("line 0"),
        "{}",
        result.text.len()
    );
    let from = result
        .text
        .rsplit_once("from ")
        .unwrap()
        .1
        .trim_end_matches(".]")
        .to_owned();
    assert!(
        result
            .text
            .contains(&format!("call show_more with call \"{}\"", result.call_id))
    );
    app.engine.stop(chat).await.unwrap();
    ended(&mut events, chat).await;

    let more = json!({ "call": "wrong", "from": 1 }).to_string();
    app.model.play(ReplyScript::new().call("lab__read", "{}"));
    app.model.play(ReplyScript::new().call("show_more", &more));
    app.model.reply("Read.");
    app.send(chat, "Again.").await;
    assert!(
        rounds_sent(&app).last().unwrap().results[0].error,
        "only results of this reply can be read on: {from}"
    );
}
