//! Forgetting everything about a character, a persona or a span of days.

use domain::{CharacterId, ChatId};
use engine::api::{ForgetCounts, ForgetSubject, PersonaDraft, PersonaPlace, RemainderKind};
use provider::fake::{ReplyGate, ReplyScript};
use tests::headless::{Headless, ended};

use crate::trash::{CANARY, canary_in};

async fn a_chat_about_it(app: &Headless) -> (CharacterId, ChatId) {
    let ada = app.character("Ada").await;
    let chat = app.engine.new_chat(ada).await.unwrap().id;
    app.model.reply("Does it?");
    app.send(chat, &format!("Listen, {CANARY}.")).await;
    (ada, chat)
}

fn days(first: &str, last: &str) -> ForgetSubject {
    ForgetSubject::Days {
        first: first.into(),
        last: last.into(),
    }
}

#[tokio::test]
async fn forgotten_character_is_in_no_file() {
    let app = Headless::new().await;
    let ada = a_chat_about_it(&app).await.0;
    app.engine.backup().await.unwrap();
    let subject = ForgetSubject::Character { id: ada };
    let preview = app.engine.forget_preview(subject.clone()).await.unwrap();
    assert_eq!((preview.backups, preview.second_place_missing), (1, false));
    let report = app.engine.forget(subject, true).await.unwrap();
    assert_eq!(report.removed, preview.removed);
    assert_eq!((report.removed.characters, report.removed.chats), (1, 1));
    assert_eq!((report.removed.messages, report.removed.prompts), (2, 1));
    assert_eq!((report.backups, report.left), (1, Vec::new()));
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
    assert_eq!(app.engine.list_backups().await.unwrap().len(), 1);
}

#[tokio::test]
async fn backups_stay_if_the_user_wants_them() {
    let app = Headless::new().await;
    let ada = a_chat_about_it(&app).await.0;
    let backup = app.engine.backup().await.unwrap();
    let report = app
        .engine
        .forget(ForgetSubject::Character { id: ada }, false)
        .await
        .unwrap();
    assert_eq!(report.backups, 0);
    assert_eq!(report.left[0].kind, RemainderKind::BackupsKept);
    assert_eq!(canary_in(app.dir.path()), [backup.file]);
}

#[tokio::test]
async fn a_running_reply_is_stopped_first() {
    let app = Headless::new().await;
    let (ada, chat) = a_chat_about_it(&app).await;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().text(CANARY).gate(&gate).text("more"));
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(chat, "And then?".into())
        .await
        .unwrap();
    gate.reached().await;
    let report = app
        .engine
        .forget(ForgetSubject::Character { id: ada }, true)
        .await
        .unwrap();
    ended(&mut events, chat).await;
    assert_eq!(report.removed.messages, 4);
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
}

#[tokio::test]
async fn a_second_place_is_cleaned_when_it_is_back() {
    let app = Headless::new().await;
    let second = tempfile::tempdir().unwrap();
    let ada = a_chat_about_it(&app).await.0;
    app.engine
        .set_second_place(second.path().to_owned())
        .await
        .unwrap();
    app.engine.backup().await.unwrap();
    let (ours, away) = (
        second.path().join("Inglenook backups"),
        second.path().join("away"),
    );
    std::fs::rename(&ours, &away).unwrap();
    let report = app
        .engine
        .forget(ForgetSubject::Character { id: ada }, true)
        .await
        .unwrap();
    assert_eq!(report.left[0].kind, RemainderKind::SecondPlaceAway);
    assert_eq!(app.engine.owed_removals().await.unwrap(), 1);
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
    assert_eq!(canary_in(&away).len(), 1);

    std::fs::rename(&away, &ours).unwrap();
    app.engine.backup().await.unwrap();
    assert_eq!(canary_in(second.path()), [""; 0]);
    assert_eq!(app.engine.owed_removals().await.unwrap(), 0);
}

#[tokio::test]
async fn a_day_takes_its_messages_along() {
    let app = Headless::new().await;
    let chat = a_chat_about_it(&app).await.1;
    let none = app.engine.forget(days("2026-11-20", "2026-11-20"), true);
    assert_eq!(none.await.unwrap().removed, ForgetCounts::default());
    let report = app
        .engine
        .forget(days("2026-11-21", "2026-11-21"), true)
        .await
        .unwrap();
    assert!(report.removed.messages >= 2);
    assert!(app.engine.open_chat(chat).await.is_err(), "it is empty");
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
    assert!(
        app.engine
            .forget_preview(days("2026-11-22", "2026-11-21"))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_persona_leaves_messages_without_its_name() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let persona = PersonaDraft {
        id: None,
        name: "Kai Marlowe".into(),
        description: CANARY.into(),
        instructions: String::new(),
        place: PersonaPlace::default(),
    };
    let kai = app.engine.save_persona(persona).await.unwrap().id;
    app.engine.set_chat_persona(chat, kai).await.unwrap();
    app.model.reply("Welcome aboard.");
    app.send(chat, "Ahoy.").await;
    assert!(!canary_in(app.dir.path()).is_empty());
    let report = app
        .engine
        .forget(ForgetSubject::Persona { id: kai }, true)
        .await
        .unwrap();
    assert_eq!((report.removed.personas, report.removed.messages), (1, 0));
    assert!(report.removed.prompts >= 1);
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
    let lines = app.transcript(chat).await;
    assert!(lines.contains(&"You: Ahoy.".to_owned()), "{lines:?}");
}

#[tokio::test]
async fn the_last_persona_cannot_be_forgotten() {
    let app = Headless::new().await;
    let personas = app.engine.list_personas().await.unwrap();
    assert_eq!(personas.len(), 1);
    let subject = ForgetSubject::Persona { id: personas[0].id };
    assert!(app.engine.forget(subject, true).await.is_err());
    assert_eq!(app.engine.list_personas().await.unwrap(), personas);
}
