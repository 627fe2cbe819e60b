//! Messages whose content is more than text, through whole turns.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use engine::api::{EndReason, PromptBlock};
use provider::FinishReason;
use provider::fake::Script;
use tests::headless::{Headless, ended, shown};

/// Texts of the messages that the model was sent last, newest first.
fn sent(app: &Headless) -> Vec<String> {
    let prompt = app.model.last_request().expect("a request").prompt;
    prompt.messages.into_iter().rev().map(|message| message.text).collect()
}

/// The blocks of the prompt that `text` would send, that say `words`.
async fn blocks(app: &Headless, chat: &str, text: &str, words: &str) -> Vec<PromptBlock> {
    let report = app.engine.preview_prompt(chat.to_owned(), text.to_owned(), Default::default()).await.unwrap();
    report.blocks.into_iter().filter(|block| block.text.contains(words)).collect()
}

/// S3.27: no tools are offered, and what is asked of them all the same does not vanish.
#[tokio::test]
async fn a_reply_of_tool_calls_alone_is_kept_and_the_model_is_told_of_it() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(Script::new().call("weather", "{\"city\":\"Oslo\"}").call("time", "{\"zo"));
    let (reply, reason) = app.say(&chat, "Is it raining?").await;
    let reply = reply.unwrap();
    assert_eq!((reason, shown(&reply)), (EndReason::Stop, ""));
    let app = app.restart().await;
    let stored = app.engine.whole_chat(chat.clone()).await.unwrap().page.messages.pop().unwrap();
    assert_eq!(stored, reply);
    let calls: Vec<_> =
        stored.swipes[0].tool_calls.iter().map(|call| (&*call.name, &*call.arguments, call.valid)).collect();
    assert_eq!(calls, [("weather", "{\"city\":\"Oslo\"}", true), ("time", "{\"zo", false)]);

    app.model.reply("It is.");
    app.say(&chat, "And now?").await;
    let note = "[Asked for tools, and there are none here: weather({\"city\":\"Oslo\"}), time({\"zo)]";
    assert_eq!(sent(&app)[1], note);
    let counted = &blocks(&app, &chat, "Well?", note).await[0];
    assert!(counted.kept && counted.kind == "message" && counted.tokens >= note.len() as u32 / 4, "{counted:?}");
}

#[tokio::test]
async fn a_reply_that_goes_on_goes_on_behind_its_words_and_keeps_what_it_asked_for() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(Script::new().words("Let me look").call("look", "{}").finish(FinishReason::Length));
    app.model.play(Script::new().words(" outside.").call("listen", "{}"));
    app.model.reply("Rain.");
    app.say(&chat, "Is it raining?").await;
    let mut events = app.engine.subscribe();
    app.engine.continue_reply(chat.clone()).await.unwrap();
    let (reply, _) = ended(&mut events, &chat).await;
    assert_eq!(sent(&app)[0], "Let me look");
    let reply = reply.unwrap();
    let names: Vec<_> = reply.swipes[0].tool_calls.iter().map(|call| &*call.name).collect();
    assert_eq!((shown(&reply), names), ("Let me look outside.", vec!["look", "listen"]));
    app.say(&chat, "And?").await;
    assert_eq!(
        sent(&app)[1],
        "Let me look outside.\n\n[Asked for tools, and there are none here: look({}), listen({})]"
    );
}

/// S1.6: text that looks like a call is text.
#[tokio::test]
async fn text_in_the_form_of_a_call_is_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let text = "{\"tool_calls\":[{\"function\":{\"name\":\"look\"}}]}";
    app.model.reply(text);
    let reply = app.say(&chat, "Look.").await.0.unwrap();
    assert_eq!((shown(&reply), reply.swipes[0].tool_calls.len()), (text, 0));
}
