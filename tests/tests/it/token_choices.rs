//! Token probabilities of replies: stored with the reply, shown, and used to continue from another
//! token.

use domain::token_choice::{TokenAlternative, TokenChoice};
use engine::api::{ApiError, SettingOwner, SettingValue};
use provider::ReplyScript;
use tests::headless::{Headless, ended, selected_text};

fn tokens(texts: &[(&str, &str)]) -> Vec<TokenChoice> {
    let token = |&(text, other): &(&str, &str)| TokenChoice {
        text: text.to_owned(),
        logprob: -0.5,
        alternatives: vec![
            TokenAlternative {
                text: text.to_owned(),
                logprob: -0.5,
            },
            TokenAlternative {
                text: other.to_owned(),
                logprob: -1.5,
            },
        ],
    };
    texts.iter().map(token).collect()
}

#[tokio::test]
async fn reply_continues_from_another_token() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let spoken = tokens(&[
        ("\n", "x"),
        ("The", "A"),
        (" sea", " moon"),
        (" is", " was"),
        (" calm.", " wild."),
    ]);
    app.model.play(
        ReplyScript::new()
            .text("\nThe sea")
            .choices(spoken[..3].to_vec())
            .text(" is calm.")
            .choices(spoken[3..].to_vec()),
    );
    let (reply, _) = app.send(chat, "What do you see?").await;
    let reply = reply.unwrap();
    let choices = app.engine.token_choices(reply.id).await.unwrap();
    assert_eq!(choices.before, "");
    assert_eq!(
        choices
            .tokens
            .iter()
            .map(|token| token.text.as_str())
            .collect::<String>(),
        "The sea is calm."
    );
    assert!(
        (choices.tokens[0].probability - 0.6065).abs() < 0.001,
        "{choices:?}"
    );
    let swipe = reply.swipes[0].id;
    assert_eq!(
        app.engine.chat_marks(chat).await.unwrap().token_swipes,
        [swipe]
    );

    app.model.play(
        ReplyScript::new()
            .text(" shines.")
            .choices(tokens(&[(" shines", " sets"), (".", "!")])),
    );
    let mut events = app.engine.subscribe();
    app.engine.continue_from_token(chat, 1, 1).await.unwrap();
    let (continued, _) = ended(&mut events, chat).await;
    let continued = continued.unwrap();
    assert_eq!(
        (selected_text(&continued), continued.swipes.len()),
        ("The moon shines.", 2)
    );
    assert_eq!(
        continued.swipes[0].text, "The sea is calm.",
        "nothing is overwritten"
    );
    let request = app.model.last_request().unwrap();
    assert!(
        request.prompt.continues,
        "the model continues the new beginning"
    );
    assert_eq!(request.prompt.messages.last().unwrap().text, "The moon");
    let choices = app.engine.token_choices(continued.id).await.unwrap();
    assert_eq!(
        (choices.before.as_str(), choices.tokens.len()),
        ("The moon", 2)
    );

    for (token, alternative) in [(0, 2), (9, 0), (u32::MAX, u32::MAX)] {
        let refused = app
            .engine
            .continue_from_token(chat, token, alternative)
            .await
            .unwrap_err();
        assert!(matches!(refused, ApiError::NotFound { .. }), "{refused:?}");
    }
    app.engine
        .edit_message(continued.id, "Another text".into())
        .await
        .unwrap();
    assert!(
        app.engine
            .token_choices(continued.id)
            .await
            .unwrap()
            .tokens
            .is_empty(),
        "an edit deletes them"
    );
}

#[tokio::test]
async fn tokens_that_differ_from_the_text_are_dropped() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(
        ReplyScript::new()
            .text("Good evening.")
            .choices(tokens(&[("Bad", "x"), (" evening.", "y")])),
    );
    let (reply, _) = app.send(chat, "Hello").await;
    assert!(
        app.engine
            .token_choices(reply.unwrap().id)
            .await
            .unwrap()
            .tokens
            .is_empty()
    );
    assert!(app.engine.continue_from_token(chat, 0, 0).await.is_err());
}

#[tokio::test]
async fn probabilities_are_requested_only_when_wanted() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.send(chat, "One").await;
    assert_eq!(app.model.last_request().unwrap().sampling.alternatives, 0);
    let on = Some(SettingValue::Switch(true));
    app.engine
        .set_setting(SettingOwner::Global, "token_probabilities".into(), on)
        .await
        .unwrap();
    app.send(chat, "Two").await;
    assert_eq!(app.model.last_request().unwrap().sampling.alternatives, 10);
}
