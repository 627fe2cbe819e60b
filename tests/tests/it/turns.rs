//! Whole turns through the engine with the scripted provider.

use engine::api::{
    ApiError, EndReason, Event, MessageSource, Origin, ProviderClass, Role, SettingOwner,
    SettingValue, SwipeState, TurnOptions, WhatIf,
};
use provider::fake::{ReplyGate, ReplyScript};
use provider::{FinishReason, ProviderError, ProviderErrorKind};
use tests::headless::{Headless, ended, selected_text};

#[tokio::test]
async fn first_start_shows_a_greeting() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    assert_eq!(chat.character_name, "Mira");
    assert!(chat.picture.is_some());
    let [greeting] = &chat.page.messages[..] else {
        panic!("{:?}", chat.page)
    };
    assert_eq!(
        (greeting.role, greeting.name.as_str(), greeting.swipes.len()),
        (Role::Character, "Mira", 3)
    );
    assert!(app.engine.list_characters().await.unwrap().len() >= 3);
}

#[tokio::test]
async fn message_and_reply_survive_a_restart() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("  Welcome, *traveller*. ");
    let (reply, reason) = app.send(chat, "Good evening!").await;
    assert_eq!(reason, EndReason::Stop);
    let reply = reply.unwrap();
    assert_eq!(selected_text(&reply), "Welcome, *traveller*.");
    assert_eq!(reply.swipes[0].model.as_deref(), Some("scripted"));

    let before = app.transcript(chat).await;
    let app = app.restart().await;
    assert_eq!(app.transcript(chat).await, before);
    assert_eq!(
        before[1..],
        ["Traveller: Good evening!", "Mira: Welcome, *traveller*."]
    );
    assert_eq!(app.first_chat().await.id, chat);
}

/// The message is stored before any model is called.
#[tokio::test]
async fn message_is_stored_before_the_model_is_called() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().gate(&gate).words("Late."));
    app.engine
        .save_draft(chat, "Are you there?\n".into())
        .await
        .unwrap();
    let started = app
        .engine
        .send_message(chat, "Are you there?".into())
        .await
        .unwrap();
    gate.reached().await;
    assert_eq!(selected_text(&started.sent.unwrap()), "Are you there?");
    assert_eq!(
        app.transcript(chat).await[1..],
        ["Traveller: Are you there?"]
    );
    assert_eq!(app.engine.open_chat(chat).await.unwrap().draft, "");
}

/// Programs and other windows send messages too.
#[tokio::test]
async fn another_text_in_the_composer_stays() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.engine
        .save_draft(chat, "A long letter, not sent".into())
        .await
        .unwrap();
    for source in [
        MessageSource::Api,
        MessageSource::Tool,
        MessageSource::Typed,
    ] {
        let mut events = app.engine.subscribe();
        let options = TurnOptions {
            source,
            ..TurnOptions::default()
        };
        app.engine
            .send_with(chat, "Hello.".into(), options)
            .await
            .unwrap();
        ended(&mut events, chat).await;
        assert_eq!(
            app.engine.open_chat(chat).await.unwrap().draft,
            "A long letter, not sent",
            "{source:?}"
        );
    }
}

#[tokio::test]
async fn tokens_arrive_in_order_at_every_listener() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model
        .play(ReplyScript::new().prefill(3, 9, 0).words("one two three"));
    let mut listeners = [app.engine.subscribe(), app.engine.subscribe()];
    app.engine
        .send_message(chat, "Count.".into())
        .await
        .unwrap();
    for events in &mut listeners {
        let mut seen = Vec::new();
        loop {
            match events.next().await.unwrap() {
                Event::Token { seq, text, .. } => seen.push(format!("{seq}{text}")),
                Event::Prefill { done, total, .. } => seen.push(format!("{done}/{total} ")),
                Event::Ended { .. } => break,
                _ => {}
            }
        }
        assert_eq!(seen.concat(), "3/9 0one 1two 2three");
    }
}

#[tokio::test]
async fn regenerating_adds_a_swipe() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("First.").reply("Second.");
    app.send(chat, "Hello.").await;
    let mut events = app.engine.subscribe();
    app.engine.regenerate(chat).await.unwrap();
    let (reply, _) = ended(&mut events, chat).await;
    let reply = reply.unwrap();
    let texts: Vec<_> = reply
        .swipes
        .iter()
        .map(|swipe| swipe.text.as_str())
        .collect();
    assert_eq!((texts, reply.selected), (vec!["First.", "Second."], 1));

    let [first, second] = &app.model.requests()[..] else {
        panic!("two requests")
    };
    assert_eq!(first.prompt.messages, second.prompt.messages);
    app.engine.select_swipe(reply.id, 0).await.unwrap();
    assert_eq!(app.transcript(chat).await.last().unwrap(), "Mira: First.");
}

#[tokio::test]
async fn continue_extends_the_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model
        .play(
            ReplyScript::new()
                .words("Once upon")
                .finish(FinishReason::Length),
        )
        .reply(" a time.");
    let (_, reason) = app.send(chat, "A story, please.").await;
    assert_eq!(reason, EndReason::Length);
    let mut events = app.engine.subscribe();
    app.engine.continue_reply(chat).await.unwrap();
    ended(&mut events, chat).await;
    assert!(app.model.last_request().unwrap().prompt.continues);
    assert_eq!(
        app.transcript(chat).await.last().unwrap(),
        "Mira: Once upon a time."
    );
}

#[tokio::test]
async fn stopping_keeps_the_text_so_far() {
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
    app.engine
        .send_message(chat, "Go on.".into())
        .await
        .unwrap();
    gate.reached().await;
    app.engine.stop(chat).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    let reply = reply.unwrap();
    assert_eq!(
        (reason, selected_text(&reply)),
        (EndReason::Cancelled, "Half a")
    );
    assert_eq!(reply.swipes[0].state, SwipeState::Stopped);
    let stored = app
        .engine
        .open_chat(chat)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert_eq!(stored.swipes[0].state, SwipeState::Stopped);
}

#[tokio::test]
async fn the_end_of_the_app_is_not_called_a_stop() {
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
    app.engine
        .send_message(chat, "Go on.".into())
        .await
        .unwrap();
    gate.reached().await;
    app.engine.shutdown().await;
    let reply = ended(&mut events, chat).await.0.unwrap();
    assert_eq!(
        (selected_text(&reply), reply.swipes[0].state),
        ("Half a", SwipeState::Interrupted)
    );
}

#[tokio::test]
async fn cut_stream_keeps_its_text_and_explains() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(ReplyScript::new().words("All that ").cut());
    let (reply, reason) = app.send(chat, "Hello.").await;
    let reply = reply.unwrap();
    assert_eq!(
        (selected_text(&reply), reply.swipes[0].state),
        ("All that", SwipeState::Interrupted)
    );
    let EndReason::Failed {
        error:
            ApiError::Provider {
                class: ProviderClass::Cut,
                hint,
                ..
            },
    } = reason
    else {
        panic!("{reason:?}")
    };
    assert!(!hint.is_empty());
}

#[tokio::test]
async fn failed_reply_leaves_no_message_and_can_be_retried() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let refused = ProviderError::new(
        ProviderErrorKind::Unreachable,
        "nothing listens on 127.0.0.1:1",
        "start it",
    );
    app.model.fail(refused).reply("Now I can.");
    let (reply, reason) = app.send(chat, "Hello?").await;
    assert!(reply.is_none() && matches!(reason, EndReason::Failed { .. }));
    assert_eq!(app.transcript(chat).await.len(), 2);

    let mut events = app.engine.subscribe();
    app.engine.regenerate(chat).await.unwrap();
    ended(&mut events, chat).await;
    assert_eq!(
        app.transcript(chat).await[1..],
        ["Traveller: Hello?", "Mira: Now I can."]
    );
}

/// Two replies at once, without events of one chat in the other.
#[tokio::test]
async fn two_chats_reply_at_once() {
    let app = Headless::new().await;
    let first = app.first_chat().await;
    let second = app.engine.new_chat(first.character).await.unwrap();
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().gate(&gate).words("First."))
        .reply("Second.");
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(first.id, "One.".into())
        .await
        .unwrap();
    gate.reached().await;
    let (reply, _) = app.send(second.id, "Two.").await;
    assert_eq!(selected_text(&reply.unwrap()), "Second.");
    assert!(matches!(
        app.engine.send_message(first.id, "Again.".into()).await,
        Err(ApiError::Busy { .. })
    ));
    gate.open();
    let (reply, _) = ended(&mut events, first.id).await;
    assert_eq!(selected_text(&reply.unwrap()), "First.");
}

/// A reloaded window joins the running reply.
#[tokio::test]
async fn late_listener_joins_a_running_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let gate = ReplyGate::new();
    app.model.play(
        ReplyScript::new()
            .words("So far, ")
            .gate(&gate)
            .words("so good."),
    );
    app.engine
        .send_message(chat, "Tell me.".into())
        .await
        .unwrap();
    gate.reached().await;
    let mut events = app.engine.subscribe();
    let generating = app
        .engine
        .open_chat(chat)
        .await
        .unwrap()
        .generating
        .unwrap();
    gate.open();
    let mut text = generating.text;
    let mut next = generating.seq;
    loop {
        match events.next().await.unwrap() {
            Event::Token {
                seq, text: piece, ..
            } => {
                assert_eq!(seq, next);
                next += 1;
                text += &piece;
            }
            Event::Ended { message, .. } => {
                assert_eq!(selected_text(&message.unwrap()), text);
                break;
            }
            _ => {}
        }
    }
    assert_eq!(text, "So far, so good.");
}

#[tokio::test]
async fn edits_and_deletions_affect_the_next_prompt() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("Blue, I think.").reply("As you say.");
    app.send(chat, "What colour is the sea?").await;
    let question = app.engine.open_chat(chat).await.unwrap().page.messages[1].id;
    app.engine
        .edit_message(question, "What colour is the fox?".into())
        .await
        .unwrap();
    app.send(chat, "Sure?").await;
    let sent = serde_json::to_string(&app.model.last_request().unwrap().prompt.messages).unwrap();
    assert!(
        sent.contains("the fox") && !sent.contains("the sea"),
        "{sent}"
    );

    app.engine.delete_message(question).await.unwrap();
    assert!(!app.transcript(chat).await.concat().contains("fox"));
    app.engine.restore_message(question).await.unwrap();
    assert!(app.transcript(chat).await[1].ends_with("the fox?"));
}

/// Prompts are append-only over whole turns, including a restart.
#[tokio::test]
async fn each_prompt_begins_with_the_previous_one() {
    let mut app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for turn in 0..6 {
        app.send(chat, &format!("Question {turn}, please.")).await;
        if turn == 3 {
            app = app.restart().await;
        }
    }
    let requests = app.model.requests();
    for pair in requests.windows(2) {
        let (before, after) = (&pair[0].prompt.messages, &pair[1].prompt.messages);
        assert_eq!(after[..before.len()], before[..]);
        assert_eq!(pair[0].cache_key, pair[1].cache_key);
    }
    let clocks: Vec<_> = requests[5]
        .prompt
        .messages
        .iter()
        .filter(|message| message.text.starts_with("[CONTEXT:"))
        .collect();
    assert_eq!(clocks.len(), 1);
    assert_eq!(
        clocks[0].text,
        "[CONTEXT: Saturday, 21 November 2026, 23:11]\n\nQuestion 0, please."
    );
}

/// The preview equals the sent prompt and the manifest.
#[tokio::test]
async fn preview_equals_sent_prompt_and_manifest() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let preview = app
        .engine
        .preview_prompt(chat, "Who are you?".into(), WhatIf::default())
        .await
        .unwrap();
    assert!(app.model.requests().is_empty());
    let (reply, _) = app.send(chat, "Who are you?").await;
    let sent = app.model.last_request().unwrap().prompt.messages;
    let texts: Vec<_> = preview
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect();
    assert_eq!(
        texts,
        sent.iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
    );

    let manifest = app
        .engine
        .manifest(reply.unwrap().swipes[0].id)
        .await
        .unwrap();
    assert_eq!(
        (&manifest.text, &manifest.segments),
        (&preview.text, &preview.segments)
    );
    assert_eq!(manifest.messages, preview.messages);
    let texts = |report: &engine::api::PromptReport| {
        report
            .blocks
            .iter()
            .map(|block| (block.kind.clone(), block.text.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&manifest), texts(&preview));
    let kept: u32 = manifest
        .blocks
        .iter()
        .filter(|block| block.kept)
        .map(|block| block.tokens)
        .sum();
    assert_eq!(kept, manifest.tokens.total);
}

/// A message that is too long is an error with the token counts, and nothing is sent.
#[tokio::test]
async fn message_that_cannot_fit_is_refused_with_count() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let (reply, reason) = app.send(chat, &"word ".repeat(20_000)).await;
    assert!(reply.is_none() && app.model.requests().is_empty());
    let EndReason::Failed {
        error:
            ApiError::ContextOverflow {
                needed,
                available,
                missing,
                block,
                hint,
                ..
            },
    } = reason
    else {
        panic!("{reason:?}")
    };
    assert!(
        missing == needed - available && hint.contains("said by Traveller"),
        "{hint}"
    );
    let said = app
        .engine
        .open_chat(chat)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap()
        .id;
    let block = block.unwrap();
    assert_eq!(
        (block.kind.as_str(), &block.origin),
        (
            "message",
            &Origin::Message {
                id: said.to_string()
            }
        )
    );
    assert!(block.tokens > 20_000);
}

/// The error names the field that is too long.
#[tokio::test]
async fn card_that_cannot_fit_is_refused_with_its_field() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let character = app.engine.get_character(chat.character).await.unwrap();
    let mut fields = character.fields;
    fields.description = "She keeps bees. ".repeat(4_000);
    app.engine
        .update_character(chat.character, fields.clone())
        .await
        .unwrap();
    let error = app
        .engine
        .preview_prompt(chat.id, "Hello.".into(), WhatIf::default())
        .await
        .unwrap_err();
    let ApiError::ContextOverflow {
        block: Some(block),
        missing,
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    let origin = Origin::Card {
        character: chat.character.to_string(),
        field: "description".into(),
    };
    assert_eq!(
        (block.kind.as_str(), &block.origin),
        ("description", &origin)
    );
    // Without the surplus tokens it fits.
    fields.description = "She keeps bees. "
        .repeat(4_000 * (block.tokens - missing - 100) as usize / block.tokens as usize);
    app.engine
        .update_character(chat.character, fields)
        .await
        .unwrap();
    app.engine
        .preview_prompt(chat.id, "Hello.".into(), WhatIf::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn edited_card_and_persona_change_the_next_prompt() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let character = app.engine.get_character(chat.character).await.unwrap();
    let mut fields = character.fields;
    fields.description = "{{char}} now keeps bees for {{user}}.".into();
    app.engine
        .update_character(chat.character, fields)
        .await
        .unwrap();
    let mut persona = chat.persona;
    (persona.name, persona.description) = ("Ada".into(), "A clockmaker.".into());
    app.engine.save_persona(persona.into()).await.unwrap();
    app.send(chat.id, "Hello.").await;
    let head = &app.model.last_request().unwrap().prompt.messages[0].text;
    assert!(
        head.contains("Mira now keeps bees for Ada.") && head.contains("About Ada: A clockmaker."),
        "{head}"
    );
}

#[tokio::test]
async fn removes_the_speakers_name_from_a_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(
        ReplyScript::new()
            .text("\nMi")
            .text("ra: Sit")
            .text(" down."),
    );
    let (reply, _) = app.send(chat, "Hello.").await;
    assert_eq!(selected_text(&reply.unwrap()), "Sit down.");
    // The name on a line of its own would end the reply before its text.
    assert_eq!(
        app.model.last_request().unwrap().prompt.stop,
        ["\nTraveller:"]
    );
}

/// Displayed text is stored within half a second, even if no further text follows.
#[tokio::test]
async fn stalled_stream_is_stored() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().words("One two three four").gate(&gate));
    app.engine.send_message(chat, "Go.".into()).await.unwrap();
    gate.reached().await;
    let whole = async {
        while app.transcript(chat).await.last().unwrap() != "Mira: One two three four" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), whole)
        .await
        .expect("it reaches the disk");
    gate.open();
}

#[tokio::test]
async fn running_reply_blocks_edits_and_deletions() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let gate = ReplyGate::new();
    app.model.play(ReplyScript::new().gate(&gate));
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(chat.id, "Go.".into())
        .await
        .unwrap();
    gate.reached().await;
    let greeting = chat.page.messages[0].id;
    let refused =
        |result: Result<(), ApiError>| assert!(matches!(result, Err(ApiError::Busy { .. })));
    refused(
        app.engine
            .edit_message(greeting, "Mine.".into())
            .await
            .map(drop),
    );
    refused(app.engine.delete_message(greeting).await);
    refused(app.engine.continue_reply(chat.id).await.map(drop));
    app.engine.stop(chat.id).await.unwrap();
    let (message, reason) = ended(&mut events, chat.id).await;
    assert!(
        message.is_none() && reason == EndReason::Cancelled,
        "stopped before any text: no message is left"
    );
    app.engine
        .edit_message(greeting, "Mine.".into())
        .await
        .unwrap();
}

/// A smaller model trims only its own prompt; the larger one gets the whole history again.
#[tokio::test]
async fn turn_with_small_context_keeps_the_history() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for turn in 0..8 {
        app.send(chat, &format!("Turn {turn}: {}", "many words ".repeat(40)))
            .await;
    }
    let small = engine::TurnOptions {
        context: Some(2_048),
        ..Default::default()
    };
    let count = |report: engine::api::PromptReport| report.messages.len();
    let large = count(
        app.engine
            .preview_prompt(chat, "And now?".into(), WhatIf::default())
            .await
            .unwrap(),
    );
    let mut events = app.engine.subscribe();
    app.engine
        .send_with(chat, "Short.".into(), small)
        .await
        .unwrap();
    ended(&mut events, chat).await;
    assert!(app.model.last_request().unwrap().prompt.messages.len() < large);
    assert_eq!(
        count(
            app.engine
                .preview_prompt(chat, "And now?".into(), WhatIf::default())
                .await
                .unwrap()
        ),
        large + 2
    );
}

/// A model may have marks of its own. The stored reply has the usual tag.
#[tokio::test]
async fn marks_of_a_model_are_thoughts() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let owner = SettingOwner::Chat { id: chat };
    let marks = SettingValue::Text("<plan> </plan>".into());
    app.engine
        .set_setting(owner, "thought_marks".into(), Some(marks))
        .await
        .unwrap();
    app.model
        .play(ReplyScript::new().words("<plan>She looks cold.</plan>\n\nCome in."))
        .reply("Sit.");
    let (reply, _) = app.send(chat, "Hello.").await;
    let display = reply.unwrap().swipes.remove(0).display.unwrap();
    assert_eq!(
        (display.text.as_str(), display.thoughts.as_str()),
        ("Come in.", "She looks cold.")
    );
    app.send(chat, "Thanks.").await;
    let sent = app.model.last_request().unwrap().prompt;
    assert_eq!(sent.messages[sent.messages.len() - 2].text, "Come in.");
}

/// Thoughts are separated while they stream, stored with the reply, and not sent again.
#[tokio::test]
async fn thoughts_are_separated_from_the_reply() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model
        .play(ReplyScript::new().words("<think>She looks cold.</think>\n\nCome in."))
        .reply("Sit.");
    let mut events = app.engine.subscribe();
    let (reply, _) = app.send(chat, "Hello.").await;
    let swipe = reply.unwrap().swipes.remove(0);
    assert!(swipe.figures.unwrap().thought_ms.is_some());
    let display = swipe.display.unwrap();
    assert_eq!(
        (display.text.as_str(), display.thoughts.as_str()),
        ("Come in.", "She looks cold.")
    );

    let (mut words, mut thoughts, mut numbers) = (String::new(), String::new(), Vec::new());
    loop {
        match events.next().await.unwrap() {
            Event::Token { seq, text, .. } => (words += &text, numbers.push(seq)).1,
            Event::Thought { seq, text, .. } => (thoughts += &text, numbers.push(seq)).1,
            Event::Ended { .. } => break,
            _ => {}
        }
    }
    assert_eq!(
        (words.trim(), thoughts.as_str()),
        ("Come in.", "She looks cold.")
    );
    assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());

    app.send(chat, "Thanks.").await;
    let sent = app.model.last_request().unwrap().prompt;
    let reply = &sent.messages[sent.messages.len() - 2];
    assert_eq!(reply.text, "Come in.");
}
