//! Jobs other than normal replies: drafting the user's message, a title, and continuing a reply by
//! request. Each adds one message after the chat's own prompt.

use domain::ChatId;
use domain::prompt::{PromptMessage, PromptRole};
use engine::api::{ApiError, Ask, EndReason, Event, Origin, SettingOwner, SettingValue, WhatIf};
use engine::{Events, TurnOptions};
use provider::fake::{ReplyGate, ReplyScript};
use provider::{FinishReason, ProviderError, ProviderErrorKind};
use tests::headless::{Headless, ended, selected_text};

async fn drafted(events: &mut Events) -> (String, EndReason) {
    loop {
        if let Event::Drafted { text, reason, .. } = events.next().await.unwrap() {
            return (text, reason);
        }
    }
}

async fn set(app: &Headless, key: &str, value: &str) {
    let value = Some(SettingValue::Text(value.into()));
    app.engine
        .set_setting(SettingOwner::Global, key.into(), value)
        .await
        .unwrap();
}

async fn title(app: &Headless, chat: ChatId) -> String {
    app.engine.settle().await;
    app.engine.open_chat(chat).await.unwrap().title
}

fn last(messages: &[PromptMessage]) -> &str {
    let last = messages.last().unwrap();
    assert_eq!(last.role, PromptRole::User);
    &last.text
}

#[tokio::test]
async fn draft_streams_into_the_composer() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("Come in.").play(
        ReplyScript::new()
            .prefill(9, 9, 7)
            .words("Traveller: Thank you, it is cold out. "),
    );
    app.send(chat, "May I?").await;
    let before = app.transcript(chat).await;

    let mut events = app.engine.subscribe();
    app.engine.impersonate(chat).await.unwrap();
    let mut seen = String::new();
    let text = loop {
        match events.next().await.unwrap() {
            Event::Drafting { chat: of } => assert_eq!(of, chat),
            Event::Prefill { reused, .. } => assert_eq!(reused, 7),
            Event::Draft { text, .. } => seen.push_str(&text),
            Event::Drafted {
                text,
                reason,
                figures,
                ..
            } => {
                assert_eq!((reason, figures.generated), (EndReason::Stop, Some(7)));
                break text;
            }
            _ => {}
        }
    };
    assert_eq!(
        (text.as_str(), seen.trim_end()),
        ("Thank you, it is cold out.", "Thank you, it is cold out.")
    );
    let open = app.engine.open_chat(chat).await.unwrap();
    assert_eq!(open.draft, text);
    assert_eq!(app.transcript(chat).await, before);
}

/// The task follows the chat's own bytes, so a model that has the chat cached only evaluates the
/// task.
#[tokio::test]
async fn task_prompt_extends_the_cached_chat() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model
        .reply("Come in.")
        .reply("Gladly.")
        .reply("Sit down.");
    app.send(chat, "May I?").await;
    let mut events = app.engine.subscribe();
    app.engine.impersonate(chat).await.unwrap();
    let (draft, _) = drafted(&mut events).await;
    let (reply, _) = app.send(chat, &draft).await;

    let [turn, ask, next] = &app.model.requests()[..] else {
        panic!("three requests")
    };
    let read = &turn.prompt.messages;
    assert_eq!(ask.prompt.messages[..read.len()], read[..]);
    assert_eq!(ask.prompt.messages.len(), read.len() + 2);
    assert!(
        last(&ask.prompt.messages).starts_with("Write the next message of Traveller"),
        "{ask:?}"
    );
    assert_eq!(
        (ask.cache_key.as_str(), ask.sampling.max_tokens),
        (chat.to_string().as_str(), 160)
    );
    assert_eq!(ask.prompt.stop, ["\nMira:"]);
    assert_eq!(
        next.prompt.messages[..read.len() + 1],
        ask.prompt.messages[..read.len() + 1]
    );
    let manifest = app
        .engine
        .manifest(reply.unwrap().swipes[0].id)
        .await
        .unwrap();
    assert_eq!((manifest.epoch, manifest.new_epoch), (1, None));
}

/// The preview equals the sent prompt here too.
#[tokio::test]
async fn task_prompt_can_be_previewed() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let what_if = WhatIf {
        ask: Some(Ask::Impersonate),
        ..WhatIf::default()
    };
    let seen = app
        .engine
        .preview_prompt(chat, String::new(), what_if)
        .await
        .unwrap();
    let mut events = app.engine.subscribe();
    app.engine.impersonate(chat).await.unwrap();
    drafted(&mut events).await;
    let sent = app.model.last_request().unwrap().prompt.messages;
    let seen_texts: Vec<&str> = seen
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(
        seen_texts,
        sent.iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
    );
    let task = seen
        .blocks
        .iter()
        .find(|block| block.text.starts_with("Write the next"))
        .unwrap();
    assert_eq!(
        task.origin,
        Origin::Template {
            template: "impersonate".into(),
            section: "task".into()
        }
    );
    assert!(task.kept && task.kind == "section");
}

#[tokio::test]
async fn stopping_a_draft_keeps_its_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let gate = ReplyGate::new();
    app.model.play(
        ReplyScript::new()
            .words("Half a ")
            .gate(&gate)
            .words("sentence."),
    );
    let mut events = app.engine.subscribe();
    app.engine.impersonate(chat).await.unwrap();
    gate.reached().await;
    let joined = app.engine.open_chat(chat).await.unwrap().drafting.unwrap();
    assert_eq!(
        (joined.text.as_str(), joined.seq),
        ("Half a ", 2),
        "a reloaded window joins the draft"
    );
    let busy = app
        .engine
        .send_message(chat, "Hello?".into())
        .await
        .unwrap_err();
    assert!(matches!(busy, ApiError::Busy { .. }), "{busy:?}");
    app.engine.stop(chat).await.unwrap();
    assert_eq!(
        drafted(&mut events).await,
        ("Half a".into(), EndReason::Cancelled)
    );
    let open = app.engine.open_chat(chat).await.unwrap();
    assert_eq!((open.draft.as_str(), open.drafting), ("Half a", None));
}

#[tokio::test]
async fn draft_does_not_overwrite_the_composer() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.engine
        .save_draft(chat, "I was going to".into())
        .await
        .unwrap();
    let refused = app.engine.impersonate(chat).await.unwrap_err();
    assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
    assert_eq!(
        app.engine.open_chat(chat).await.unwrap().draft,
        "I was going to"
    );
    app.model.reply("Still here.");
    app.send(chat, "Hello.").await;
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn custom_task_text_is_used_until_reset() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let json = app
        .engine
        .get_template("impersonate".into())
        .await
        .unwrap()
        .json;
    let own = json.replace(
        "Write the next message of ${persona.name}",
        "Speak for {{user}}",
    );
    assert!(
        app.engine
            .save_template("impersonate".into(), own)
            .await
            .unwrap()
            .summary
            .changed
    );
    let ask = || TurnOptions {
        ask: Some(Ask::Impersonate),
        ..TurnOptions::default()
    };
    let task = async || {
        let report = app
            .engine
            .preview_with(chat, String::new(), ask())
            .await
            .unwrap();
        report.messages.last().unwrap().text.clone()
    };
    assert!(task().await.starts_with("Speak for Traveller"));
    app.engine
        .delete_template("impersonate".into())
        .await
        .unwrap();
    assert!(
        task()
            .await
            .starts_with("Write the next message of Traveller")
    );

    let imported = serde_json::json!({
        "prompts": [], "prompt_order": [], "impersonation_prompt": "Be {{user}} for one line."
    });
    let bytes = imported.to_string().into_bytes();
    let report = app
        .engine
        .import_bytes("Short.json".into(), bytes)
        .await
        .unwrap();
    let template = report
        .imported
        .iter()
        .find(|one| one.id.contains("impersonate"))
        .unwrap()
        .id
        .clone();
    set(&app, "impersonate_prompt", &template).await;
    assert!(task().await.starts_with("Be Traveller for one line."));
}

#[tokio::test]
async fn continues_by_request_if_set_so() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(&app, "continue_by", "asking").await;
    app.model
        .play(
            ReplyScript::new()
                .words("Once upon")
                .finish(FinishReason::Length),
        )
        .reply("Mira: a time.");
    app.send(chat, "A story, please.").await;
    let mut events = app.engine.subscribe();
    app.engine.continue_reply(chat).await.unwrap();
    let (reply, _) = ended(&mut events, chat).await;

    let prompt = app.model.last_request().unwrap().prompt;
    assert!(
        !prompt.continues && last(&prompt.messages).starts_with("Go on with the unfinished reply"),
        "{prompt:?}"
    );
    assert_eq!(prompt.messages[prompt.messages.len() - 2].text, "Once upon");
    assert_eq!(selected_text(&reply.unwrap()), "Once upon a time.");
}

#[tokio::test]
async fn learns_that_an_endpoint_refuses_prefill() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let refusal = || ProviderError::new(ProviderErrorKind::NoPrefill, "no", "");
    app.model
        .play(
            ReplyScript::new()
                .words("Once")
                .finish(FinishReason::Length),
        )
        .fail(refusal());
    app.model
        .play(
            ReplyScript::new()
                .words("upon")
                .finish(FinishReason::Length),
        )
        .reply("a time.");
    app.send(chat, "A story, please.").await;
    for _ in 0..2 {
        let mut events = app.engine.subscribe();
        app.engine.continue_reply(chat).await.unwrap();
        ended(&mut events, chat).await;
    }
    assert_eq!(
        app.transcript(chat).await.last().unwrap(),
        "Mira: Once upon a time."
    );
    let continues: Vec<bool> = app
        .model
        .requests()
        .iter()
        .map(|request| request.prompt.continues)
        .collect();
    assert_eq!(continues, [false, true, false, false]);
}

#[tokio::test]
async fn replies_begin_with_the_set_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(&app, "reply_start", "*{{char}} nods.*").await;
    app.model.reply("Then she waits.").reply(" Slowly.");
    let (reply, _) = app.send(chat, "May I?").await;
    let prompt = app.model.last_request().unwrap().prompt;
    let end = prompt.messages.last().unwrap();
    assert!(prompt.continues);
    assert_eq!(
        (end.role, end.text.as_str()),
        (PromptRole::Character, "*Mira nods.*")
    );
    assert_eq!(
        selected_text(&reply.unwrap()),
        "*Mira nods.* Then she waits."
    );
    let mut events = app.engine.subscribe();
    app.engine.continue_reply(chat).await.unwrap();
    let (reply, _) = ended(&mut events, chat).await;
    assert_eq!(
        selected_text(&reply.unwrap()),
        "*Mira nods.* Then she waits. Slowly."
    );
    let asked = app.model.last_request().unwrap().prompt;
    assert_eq!(
        asked.messages.last().unwrap().text,
        "*Mira nods.* Then she waits."
    );
}

#[tokio::test]
async fn a_refused_start_of_replies_is_left_out_with_a_notice() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(&app, "reply_start", "So,").await;
    app.model
        .fail(ProviderError::new(ProviderErrorKind::NoPrefill, "no", ""))
        .reply("Come in.");
    let (reply, reason) = app.send(chat, "May I?").await;
    let reply = reply.unwrap();
    assert_eq!(
        (selected_text(&reply), reason),
        ("Come in.", EndReason::Stop)
    );
    let manifest = app.engine.manifest(reply.swipes[0].id).await.unwrap();
    assert!(
        manifest
            .notices
            .iter()
            .any(|notice| notice.contains("Start of replies")),
        "{:?}",
        manifest.notices
    );
}

#[tokio::test]
async fn a_continuation_is_parted_as_set() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for (postfix, whole) in [
        ("auto", "She waits. Then"),
        ("none", "She waits.Then"),
        ("paragraph", "She waits.\n\nThen"),
    ] {
        set(&app, "continue_postfix", postfix).await;
        app.model.reply("She waits.").reply("Then");
        app.send(chat, "Go on.").await;
        let mut events = app.engine.subscribe();
        app.engine.continue_reply(chat).await.unwrap();
        let (reply, _) = ended(&mut events, chat).await;
        assert_eq!(selected_text(&reply.unwrap()), whole);
    }
}

#[tokio::test]
async fn chat_gets_a_title_after_some_messages() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(&app, "chat_titles", "on").await;
    app.model
        .reply("Come in.")
        .reply("Soup.")
        .reply("\"**The Warm Kitchen**\"\nOr not?")
        .reply("Yes.");
    app.send(chat, "May I?").await;
    assert_eq!(title(&app, chat).await, "Mira");
    app.send(chat, "What is in the pot?").await;
    assert_eq!(title(&app, chat).await, "The Warm Kitchen");
    app.send(chat, "Is it good?").await;
    app.engine.settle().await;

    let requests = app.model.requests();
    assert_eq!(requests.len(), 4, "a chat with a title gets no other");
    let (turn, ask) = (&requests[1].prompt.messages, &requests[2].prompt.messages);
    assert_eq!(ask[..turn.len()], turn[..]);
    assert!(
        last(ask).starts_with("Give this conversation a title."),
        "{ask:?}"
    );
    assert_eq!(requests[2].sampling.max_tokens, 24);
}

#[tokio::test]
async fn keeps_user_titles_and_rejects_bad_ones() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(&app, "chat_titles", "on").await;
    let gate = ReplyGate::new();
    app.model
        .reply("One.")
        .reply("Two.")
        .reply("\n...")
        .reply("Three.");
    app.model
        .play(ReplyScript::new().words("A Late Name").gate(&gate));
    app.send(chat, "1").await;
    app.send(chat, "2").await;
    assert_eq!(title(&app, chat).await, "Mira");
    app.send(chat, "3").await;
    gate.reached().await;
    app.engine.rename_chat(chat, "Mine".into()).await.unwrap();
    gate.open();
    assert_eq!(title(&app, chat).await, "Mine");
}

#[tokio::test]
async fn message_precedes_a_title_request() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(&app, "chat_titles", "on").await;
    let gate = ReplyGate::new();
    app.model
        .reply("One.")
        .reply("Two.")
        .play(ReplyScript::new().words("Never").gate(&gate).words("kept"))
        .reply("Three.");
    app.send(chat, "1").await;
    app.send(chat, "2").await;
    gate.reached().await;
    app.model.reply("A Name");
    let (reply, reason) = app.send(chat, "3").await;
    assert_eq!(
        (selected_text(&reply.unwrap()), reason),
        ("Three.", EndReason::Stop)
    );
    assert_eq!(title(&app, chat).await, "A Name");
}

/// Endpoints may cost money, so they get no requests that the user did not ask for.
#[tokio::test]
async fn endpoint_does_not_create_titles_unasked() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for words in ["1", "2", "3"] {
        app.model.reply("Hm.");
        app.send(chat, words).await;
    }
    assert_eq!(title(&app, chat).await, "Mira");
    assert_eq!(app.model.requests().len(), 3);
}
