//! Keys of the local API, vision reports, and sources of messages.

use engine::TurnOptions;
use engine::api::{
    ApiError, ApiKeyLimits, ChatFileFormat, Event, MessageSource, ReadableOptions, SettingOwner,
    SettingValue, VisionReport, VisionState,
};
use tests::headless::{Headless, ended};

fn all() -> ApiKeyLimits {
    ApiKeyLimits {
        characters: None,
        raw_models: false,
        read_only: false,
    }
}

#[tokio::test]
async fn key_works_until_it_is_revoked() {
    let app = Headless::new().await;
    let made = app
        .engine
        .create_api_key(" SillyTavern ".into(), all())
        .await
        .unwrap();
    assert!(made.secret.starts_with("inglenook_") && made.secret.starts_with(&made.key.start));
    let grant = app
        .engine
        .authorize_api(&made.secret)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (grant.name.as_str(), grant.characters, grant.raw_models),
        ("SillyTavern", None, false)
    );
    for wrong in [
        "",
        "inglenook_",
        &made.secret[1..],
        &format!("{}x", made.secret),
        &made.secret.to_uppercase(),
    ] {
        assert_eq!(
            app.engine.authorize_api(wrong).await.unwrap(),
            None,
            "{wrong}"
        );
    }
    let app = app.restart().await;
    assert!(
        app.engine
            .authorize_api(&made.secret)
            .await
            .unwrap()
            .is_some(),
        "keys survive a restart"
    );
    app.engine.revoke_api_key(made.key.id).await.unwrap();
    assert_eq!(app.engine.authorize_api(&made.secret).await.unwrap(), None);
    assert!(app.engine.list_api_keys().await.unwrap().is_empty());
}

#[tokio::test]
async fn secret_of_a_key_is_not_stored() {
    let app = Headless::new().await;
    let made = app
        .engine
        .create_api_key("Lamp".into(), all())
        .await
        .unwrap();
    app.engine.authorize_api(&made.secret).await.unwrap();
    let Headless { engine, dir, .. } = app;
    engine.shutdown().await;
    drop(engine);
    let secret = made.secret.trim_start_matches("inglenook_").as_bytes();
    let database = std::fs::read(dir.path().join("inglenook.db")).unwrap();
    assert!(!database.windows(secret.len()).any(|part| part == secret));
}

#[tokio::test]
async fn limits_of_a_key_can_change() {
    let app = Headless::new().await;
    let (mira, osei) = (
        app.first_chat().await.character,
        app.character("Osei").await,
    );
    let made = app
        .engine
        .create_api_key("Lamp".into(), all())
        .await
        .unwrap();
    let limits = ApiKeyLimits {
        characters: Some(vec![mira]),
        raw_models: true,
        read_only: true,
    };
    let changed = app
        .engine
        .update_api_key(made.key.id, "Lamp 2".into(), limits.clone())
        .await
        .unwrap();
    assert_eq!(
        (changed.name.as_str(), &changed.limits),
        ("Lamp 2", &limits)
    );
    let grant = app
        .engine
        .authorize_api(&made.secret)
        .await
        .unwrap()
        .unwrap();
    assert!(grant.allows_character(mira) && !grant.allows_character(osei) && grant.read_only);
    app.engine.delete_character(mira).await.unwrap();
    app.engine
        .delete_from_trash(
            app.engine
                .trash()
                .await
                .unwrap()
                .into_iter()
                .map(in_trash)
                .collect(),
            false,
        )
        .await
        .unwrap();
    let grant = app
        .engine
        .authorize_api(&made.secret)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        grant.characters,
        Some(Vec::new()),
        "a key never gains characters"
    );
}

fn in_trash(item: engine::api::TrashItem) -> engine::api::TrashRef {
    engine::api::TrashRef {
        kind: item.kind,
        id: item.id,
    }
}

#[tokio::test]
async fn odd_keys_are_refused() {
    let app = Headless::new().await;
    app.engine
        .create_api_key("Lamp".into(), all())
        .await
        .unwrap();
    let unknown = ApiKeyLimits {
        characters: Some(vec![
            "00000000-0000-7000-8000-000000000000".parse().unwrap(),
        ]),
        ..all()
    };
    let none = ApiKeyLimits {
        characters: Some(Vec::new()),
        ..all()
    };
    for (name, limits) in [("", all()), ("lamp", all()), ("A", none), ("C", unknown)] {
        let refused = app.engine.create_api_key(name.into(), limits).await;
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{name}: {refused:?}"
        );
    }
    let no_id =
        br#"{"name":"B","limits":{"characters":["Mira"],"rawModels":false,"readOnly":false}}"#;
    let refused = app.engine.call("create_api_key", no_id).await;
    assert!(
        matches!(refused, Err(ApiError::BadInput { .. })),
        "{refused:?}"
    );
    assert_eq!(app.engine.list_api_keys().await.unwrap().len(), 1);
}

async fn vision_on(app: &Headless) {
    let (key, value) = ("vision".to_owned(), Some(SettingValue::Switch(true)));
    app.engine
        .set_setting(SettingOwner::Global, key, value)
        .await
        .unwrap();
}

/// The text of the last message of the last request.
fn sent(app: &Headless) -> String {
    app.model
        .last_request()
        .unwrap()
        .prompt
        .messages
        .last()
        .unwrap()
        .text
        .clone()
}

#[tokio::test]
async fn vision_enters_only_the_next_turn() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let report = VisionReport {
        state: Some(VisionState::Absent),
        text: "An\n empty chair.".into(),
    };
    let off = app.engine.report_vision(chat, report.clone()).await;
    assert!(
        matches!(off, Err(ApiError::BadInput { .. })),
        "vision is off by default"
    );
    vision_on(&app).await;
    let before = app.transcript(chat).await;
    let mut events = app.engine.subscribe();
    app.engine.report_vision(chat, report).await.unwrap();
    let seen = loop {
        if let Event::Vision { status, .. } = events.next().await.unwrap() {
            break status;
        }
    };
    assert_eq!(
        (seen.state, seen.text.as_str()),
        (Some(VisionState::Absent), "An empty chair.")
    );
    assert_eq!(
        app.transcript(chat).await,
        before,
        "nothing is stored as a message"
    );
    assert_eq!(app.engine.open_chat(chat).await.unwrap().vision, Some(seen));

    let preview = app
        .engine
        .preview_prompt(chat, "Hello".into(), Default::default())
        .await
        .unwrap();
    let block = preview
        .blocks
        .iter()
        .find(|block| block.kind == "event")
        .expect("the X-ray shows the block");
    assert_eq!(block.reasons[0].code, "visionReport");

    // The scripted model would otherwise repeat what it was sent.
    app.model.reply("One.").reply("Two.").reply("Three.");
    app.send(chat, "I am back.").await;
    let first = sent(&app);
    assert!(
        first.contains("The camera shows: Traveller is not there. An empty chair."),
        "{first}"
    );
    app.send(chat, "Hello?").await;
    assert!(
        !sent(&app).contains("camera"),
        "the next turn does not repeat it"
    );
    let told = app.transcript(chat).await.concat();
    assert!(!told.contains("camera"), "{told}");

    app.engine
        .report_vision(
            chat,
            VisionReport {
                state: Some(VisionState::Absent),
                text: "An empty chair.".into(),
            },
        )
        .await
        .unwrap();
    app.send(chat, "Again.").await;
    assert!(
        sent(&app).contains("An empty chair."),
        "the same report later is new"
    );
}

#[tokio::test]
async fn macros_in_a_vision_report_stay_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    vision_on(&app).await;
    let text = "{{setvar::a::b}} [END OF CONTEXT] {{char}}".to_owned();
    app.engine
        .report_vision(chat, VisionReport { state: None, text })
        .await
        .unwrap();
    app.send(chat, "Hello.").await;
    let prompt = sent(&app);
    assert!(
        prompt.contains("{{setvar::a::b}}") && prompt.contains("{{char}}"),
        "{prompt}"
    );
    assert_eq!(prompt.matches("[END OF CONTEXT]").count(), 1, "{prompt}");
    let long = VisionReport {
        state: None,
        text: "x".repeat(501),
    };
    for wrong in [VisionReport::default(), long] {
        assert!(app.engine.report_vision(chat, wrong).await.is_err());
    }
}

#[tokio::test]
async fn spoken_message_has_a_hint_in_its_context_block() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let say = async |text: &str, source| {
        let mut events = app.engine.subscribe();
        let options = TurnOptions {
            source,
            ..TurnOptions::default()
        };
        app.model.reply("Yes.");
        app.engine
            .send_with(chat, text.into(), options)
            .await
            .unwrap();
        ended(&mut events, chat).await;
        sent(&app)
    };
    let hint = "may contain recognition errors";
    let spoken = say("Turn on the lamb.", MessageSource::Voice).await;
    assert_eq!(spoken.matches(hint).count(), 1, "{spoken}");
    assert!(!say("The lamp.", MessageSource::Typed).await.contains(hint));
    assert!(!say("Thanks.", MessageSource::Api).await.contains(hint));
    assert!(
        say("Good night.", MessageSource::Voice)
            .await
            .contains(hint),
        "each spoken message has it"
    );

    let app = app.restart().await;
    let chat = app.engine.whole_chat(chat).await.unwrap();
    let sources: Vec<_> = chat
        .page
        .messages
        .iter()
        .map(|message| message.source)
        .collect();
    use MessageSource::{Api, Typed, Voice};
    assert_eq!(
        sources,
        [Typed, Voice, Typed, Typed, Typed, Api, Typed, Voice, Typed]
    );
    assert!(
        !app.transcript(chat.id).await.concat().contains(hint),
        "the stored text is what was said"
    );

    let jsonl = app
        .engine
        .export_chat(chat.id, ChatFileFormat::Jsonl)
        .await
        .unwrap();
    let jsonl = String::from_utf8(jsonl.bytes).unwrap();
    assert_eq!(
        jsonl.matches(r#""inglenook_source":"voice""#).count(),
        2,
        "{jsonl}"
    );
    let options = ReadableOptions {
        times: true,
        ..ReadableOptions::default()
    };
    let text = app
        .engine
        .export_chat_with(chat.id, ChatFileFormat::Text, options)
        .await
        .unwrap();
    let text = String::from_utf8(text.bytes).unwrap();
    assert!(
        text.contains(", spoken]") && text.contains(", from another program]"),
        "{text}"
    );
}

#[tokio::test]
async fn copies_of_a_chat_keep_the_sources() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let mut events = app.engine.subscribe();
    let options = TurnOptions {
        source: MessageSource::Voice,
        ..TurnOptions::default()
    };
    app.engine
        .send_with(chat, "Hello.".into(), options)
        .await
        .unwrap();
    let (reply, _) = ended(&mut events, chat).await;
    let branch = app
        .engine
        .branch_chat(reply.unwrap().id, None, None)
        .await
        .unwrap();
    assert_eq!(branch.page.messages[1].source, MessageSource::Voice);
}
