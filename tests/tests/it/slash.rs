//! Slash commands, as every front end runs them.

use domain::ChatId;
use engine::api::{CommandOutcome, CommandSetting, RefusalCode, Role, SettingOwner, WhatIf};
use tests::headless::{Headless, ended, selected_text};

async fn run(app: &Headless, chat: ChatId, text: &str) -> CommandOutcome {
    app.engine
        .run_command(chat, text.to_owned(), Vec::new())
        .await
        .unwrap()
}

async fn refused(app: &Headless, chat: ChatId, text: &str) -> (RefusalCode, Vec<String>) {
    match run(app, chat, text).await {
        CommandOutcome::Refused { refusal } => (refusal.code, refusal.near),
        other => panic!("{text}: {other:?}"),
    }
}

async fn prompt(app: &Headless, chat: ChatId) -> String {
    app.engine
        .preview_prompt(chat, "Hello".into(), WhatIf::default())
        .await
        .unwrap()
        .text
}

#[tokio::test]
async fn mode_command_changes_only_the_mode() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let before = app.transcript(chat).await;
    app.engine
        .save_draft(chat, "/mode study".into())
        .await
        .unwrap();
    let set = run(&app, chat, "/mode STUDY").await;
    assert_eq!(
        set,
        CommandOutcome::Set {
            setting: CommandSetting::Mode,
            value: "study".into()
        }
    );
    let owner = SettingOwner::Chat { id: chat };
    let settings = app.engine.layered_settings(owner).await.unwrap().settings;
    let mode = settings
        .into_iter()
        .find(|setting| setting.key == "mode")
        .unwrap();
    assert_eq!(serde_json::to_value(mode.value).unwrap(), "study");
    assert_eq!(
        app.transcript(chat).await,
        before,
        "nothing was added to the history"
    );
}

#[tokio::test]
async fn two_slashes_send_the_command_as_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let mut events = app.engine.subscribe();
    let CommandOutcome::Started { started } = run(&app, chat, "//mode study").await else {
        panic!()
    };
    assert_eq!(selected_text(&started.sent.unwrap()), "/mode study");
    ended(&mut events, chat).await;
}

#[tokio::test]
async fn unknown_commands_and_names_are_refused() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let before = app.transcript(chat).await;
    assert_eq!(
        refused(&app, chat, "/mdoe study").await,
        (
            RefusalCode::UnknownCommand,
            vec!["mode".into(), "model".into()]
        )
    );
    assert_eq!(
        refused(&app, chat, "/mode stduy").await,
        (RefusalCode::UnknownName, vec!["study".into()])
    );
    let CommandOutcome::Refused { refusal } = run(&app, chat, "/mode nosuch").await else {
        panic!()
    };
    assert!(
        refusal.message.contains("default, study, chill, creative"),
        "{}",
        refusal.message
    );
    assert_eq!(
        refused(&app, chat, "/persona Nobody").await.0,
        RefusalCode::UnknownName
    );
    assert_eq!(
        refused(&app, chat, "/roll luck").await.0,
        RefusalCode::BadDice
    );
    assert_eq!(
        refused(&app, chat, "/swipe 9").await.0,
        RefusalCode::BadNumber
    );
    assert_eq!(
        refused(&app, chat, "/sys").await.0,
        RefusalCode::ArgumentMissing
    );
    assert_eq!(
        refused(&app, chat, "/sendas Mira").await.0,
        RefusalCode::ArgumentMissing
    );
    assert_eq!(
        refused(&app, chat, "/forget the purple elephant").await.0,
        RefusalCode::NothingFound
    );
    assert_eq!(app.transcript(chat).await, before);
}

#[tokio::test]
async fn refused_command_keeps_the_draft() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for (text, kept) in [("/tpyo", "/tpyo"), ("/note Rain.", "")] {
        app.engine.save_draft(chat, text.into()).await.unwrap();
        run(&app, chat, text).await;
        assert_eq!(app.engine.open_chat(chat).await.unwrap().draft, kept);
    }
}

#[tokio::test]
async fn stored_messages_reach_the_next_prompt() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let own = chat
        .character_name
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned();
    for (text, role, stored) in [
        (
            "/narrate The rain stops.".to_owned(),
            Role::Narrator,
            "The rain stops.".to_owned(),
        ),
        (
            "/sys The power fails for {{user}}.".to_owned(),
            Role::Event,
            format!("The power fails for {}.", chat.persona.name),
        ),
        (
            format!("/sendas {own} Mind the step."),
            Role::Character,
            "Mind the step.".to_owned(),
        ),
        (
            "/roll 3d1+2 to climb".to_owned(),
            Role::Event,
            format!(
                "{}: 3d1+2 = 5 (1 + 1 + 1 + 2) – to climb",
                chat.persona.name
            ),
        ),
    ] {
        let CommandOutcome::Added { message } = run(&app, chat.id, &text).await else {
            panic!("{text}")
        };
        assert_eq!(
            (message.role, selected_text(&message)),
            (role, stored.as_str())
        );
        assert!(prompt(&app, chat.id).await.contains(&stored), "{stored}");
    }
}

#[tokio::test]
async fn note_command_sets_shows_and_removes_the_note() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    run(&app, chat, "/note Everyone whispers.").await;
    assert!(prompt(&app, chat).await.contains("Everyone whispers."));
    let shown = CommandOutcome::Shown {
        setting: CommandSetting::Note,
        value: "Everyone whispers.".into(),
        choices: vec![],
    };
    assert_eq!(run(&app, chat, "/note").await, shown);
    run(&app, chat, "/note -").await;
    assert!(!prompt(&app, chat).await.contains("whispers"));
}

#[tokio::test]
async fn remember_and_forget_change_memories() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    run(
        &app,
        chat.id,
        "/remember The lighthouse key hangs behind the clock.",
    )
    .await;
    let texts = || async {
        let all = app.engine.every_memory(chat.character).await.unwrap();
        all.into_iter()
            .map(|memory| memory.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        texts().await,
        ["The lighthouse key hangs behind the clock."]
    );
    assert_eq!(
        run(&app, chat.id, "/forget lighthouse key").await,
        CommandOutcome::Memorized
    );
    assert!(texts().await.is_empty());
}

#[tokio::test]
async fn swipe_and_hide_change_the_last_messages() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.send(chat, "Hello").await;
    let mut events = app.engine.subscribe();
    assert!(matches!(
        run(&app, chat, "/swipe").await,
        CommandOutcome::Started { .. }
    ));
    ended(&mut events, chat).await;
    let CommandOutcome::Updated { messages } = run(&app, chat, "/swipe 1").await else {
        panic!()
    };
    assert_eq!((messages[0].selected, messages[0].swipes.len()), (0, 2));
    let CommandOutcome::Updated { messages } = run(&app, chat, "/hide 2").await else {
        panic!()
    };
    assert!(messages.len() == 2 && messages.iter().all(|message| message.hidden));
    let CommandOutcome::Updated { messages } = run(&app, chat, "/unhide 1").await else {
        panic!()
    };
    assert_eq!((messages.len(), messages[0].hidden), (1, false));
}

#[tokio::test]
async fn commands_of_cards_and_models_do_not_run() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let fields = app
        .engine
        .get_character(app.first_chat().await.character)
        .await
        .unwrap()
        .fields;
    let card = engine::api::CharacterFields {
        first_message: "/mode study".into(),
        ..fields
    };
    let id = app.engine.create_character(card).await.unwrap().id;
    let other = app.engine.new_chat(id).await.unwrap();
    assert_eq!(selected_text(&other.page.messages[0]), "/mode study");
    app.engine
        .send_message(chat, "/mode study".into())
        .await
        .unwrap();
    for chat in [chat, other.id] {
        let shown = run(&app, chat, "/mode").await;
        assert!(matches!(shown, CommandOutcome::Shown { value, .. } if value == "default"));
    }
}

#[tokio::test]
async fn completes_arguments_of_the_chat() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let texts = |text: &str| {
        let (engine, id, text) = (app.engine.clone(), chat.id, text.to_owned());
        async move {
            let found = engine.complete_command(id, text).await.unwrap();
            found.into_iter().map(|one| one.text).collect::<Vec<_>>()
        }
    };
    assert_eq!(texts("/mode st").await, ["/mode study"]);
    assert_eq!(texts("/help sw").await, ["/help swipe", "/help delswipe"]);
    assert_eq!(
        texts("/export ").await,
        [
            "/export markdown",
            "/export html",
            "/export text",
            "/export jsonl"
        ]
    );
    assert!(
        texts("/model ")
            .await
            .contains(&"/model default".to_owned())
    );
    assert!(
        texts("/sendas nar")
            .await
            .contains(&"/sendas narrator ".to_owned())
    );
    assert!(texts("//mode ").await.is_empty() && texts("hello /mode ").await.is_empty());
}

#[tokio::test]
async fn branch_and_checkpoint_keep_the_place() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.send(chat, "Hello").await;
    let set = run(&app, chat, "/checkpoint The door").await;
    assert_eq!(
        set,
        CommandOutcome::Set {
            setting: CommandSetting::Checkpoint,
            value: "The door".into()
        }
    );
    let names = async || -> Vec<String> {
        let marks = app.engine.chat_marks(chat).await.unwrap();
        marks
            .checkpoints
            .into_iter()
            .map(|mark| mark.name)
            .collect()
    };
    assert_eq!(names().await, ["The door"]);
    let CommandOutcome::Opened { chat: branch, .. } = run(&app, chat, "/branch").await else {
        panic!()
    };
    assert_eq!(app.transcript(branch).await, app.transcript(chat).await);
    run(&app, chat, "/checkpoint -").await;
    assert!(names().await.is_empty());
    assert_eq!(
        refused(&app, chat, "/checkpoint").await.0,
        RefusalCode::ArgumentMissing
    );
}

#[tokio::test]
async fn versions_of_a_reply_can_be_deleted() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("One.").reply("Two.").reply("Three.");
    app.send(chat, "Hi.").await;
    for _ in 0..2 {
        let mut events = app.engine.subscribe();
        app.engine.regenerate(chat).await.unwrap();
        ended(&mut events, chat).await;
    }
    let texts = async || {
        let message = app
            .engine
            .open_chat(chat)
            .await
            .unwrap()
            .page
            .messages
            .pop()
            .unwrap();
        let texts: Vec<String> = message
            .swipes
            .iter()
            .map(|swipe| swipe.text.clone())
            .collect();
        (texts, message.selected)
    };
    run(&app, chat, "/swipe 2").await;
    assert!(matches!(
        run(&app, chat, "/delswipe 1").await,
        CommandOutcome::Updated { .. }
    ));
    assert_eq!(
        texts().await,
        (vec!["Two.".into(), "Three.".into()], 0),
        "the shown version stays"
    );
    assert_eq!(
        refused(&app, chat, "/delswipe 3").await.0,
        RefusalCode::BadNumber
    );
    run(&app, chat, "/delswipe").await;
    assert_eq!(
        texts().await,
        (vec!["Three.".into()], 0),
        "the next one is shown"
    );
    assert!(
        app.engine
            .run_command(chat, "/delswipe".into(), Vec::new())
            .await
            .is_err(),
        "the only one stays"
    );
    assert_eq!(texts().await.0.len(), 1);
    app.model.reply("Four.");
    let mut events = app.engine.subscribe();
    app.engine.regenerate(chat).await.unwrap();
    ended(&mut events, chat).await;
    assert_eq!(texts().await, (vec!["Three.".into(), "Four.".into()], 1));
    let hits = app
        .engine
        .search_messages("Two".into(), Some(chat), 0)
        .await
        .unwrap();
    assert!(
        hits.hits.is_empty(),
        "deleted words are not found: {hits:?}"
    );
}
