//! A panic is a bug of ours. It may cost one turn or one row of a list, but never text or the app.

use engine::api::{ApiError, CharacterFields, EndReason};
use provider::fake::ReplyScript;
use tests::headless::{Headless, ended, selected_text};

#[tokio::test]
async fn panicked_turn_keeps_the_message_and_reports() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model
        .play(ReplyScript::new().panic())
        .play(ReplyScript::new().words("One two").panic());
    let (reply, reason) = app.send(chat, "Are you there?").await;
    assert!(
        matches!(
            reason,
            EndReason::Failed {
                error: ApiError::Internal { .. }
            }
        ),
        "{reason:?}"
    );
    assert!(reply.is_none());
    assert_eq!(
        app.transcript(chat).await[1..],
        ["Traveller: Are you there?"]
    );

    let mut events = app.engine.subscribe();
    app.engine.regenerate(chat).await.unwrap();
    let (reply, reason) = ended(&mut events, chat).await;
    assert!(
        matches!(
            reason,
            EndReason::Failed {
                error: ApiError::Internal { .. }
            }
        ),
        "{reason:?}"
    );
    assert_eq!(selected_text(&reply.unwrap()), "One two");
}

#[tokio::test]
async fn next_turn_and_restart_work_after_a_panic() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(ReplyScript::new().panic()).reply("Yes.");
    app.send(chat, "Are you there?").await;
    let (reply, reason) = app.send(chat, "And now?").await;
    assert_eq!(
        (selected_text(&reply.unwrap()), reason),
        ("Yes.", EndReason::Stop)
    );
    let app = app.restart().await;
    assert_eq!(app.transcript(chat).await.last().unwrap(), "Mira: Yes.");
}

#[tokio::test]
async fn panicked_draft_releases_the_chat() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(ReplyScript::new().panic()).reply("Yes.");
    app.engine.impersonate(chat).await.unwrap();
    app.engine.settle().await;
    let (_, reason) = app.send(chat, "Are you there?").await;
    assert_eq!(reason, EndReason::Stop);
}

/// Each of these macros once broke a parser.
#[tokio::test]
async fn hostile_macros_in_every_text_start_the_app() {
    let hostile = "{{setvar::x::{{if 1}}a::b{{/if}}}}{{random\n{{if 1}}::a{{/if}}\n{{if 1}}::b{{/if}}\n}}\
                   {{if 1}}{{setvar::y::{{/if}}::z}}{{else}}{{roll:d}}{{trim}}{{/trim}}\r\n";
    let mut app = Headless::new().await;
    let text = || hostile.to_owned();
    let fields = CharacterFields {
        name: "Hostile".into(),
        description: text(),
        personality: text(),
        scenario: text(),
        first_message: text(),
        message_examples: text(),
        system_prompt: text(),
        post_history_instructions: text(),
        creator_notes: text(),
        ..CharacterFields::default()
    };
    let character = app.engine.create_character(fields).await.unwrap().id;
    for _ in 0..2 {
        assert!(
            app.engine
                .list_characters()
                .await
                .unwrap()
                .iter()
                .any(|row| row.name == "Hostile")
        );
        let chat = app.engine.new_chat(character).await.unwrap().id;
        let (_, reason) = app.send(chat, hostile).await;
        assert_eq!(reason, EndReason::Stop);
        app = app.restart().await;
    }
}
