//! Layered settings through the engine: precedence, validation, and their effect on a turn.

use domain::ChatId;
use engine::api::{
    ApiError, Changed, ChatFormat, EndpointDraft, Event, LayeredSetting, LayeredSettings, ModelRef,
    PromptBlock, SettingKind, SettingLayer, SettingOwner, SettingValue, SettingsChange, Theme,
    WhatIf, Zone,
};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;
use tests::headless::{Headless, ended, selected_text};

const NOBODY: &str = "00000000-0000-7000-8000-000000000000";

fn chat_owner(chat: ChatId) -> SettingOwner {
    SettingOwner::Chat { id: chat }
}

fn one<'a>(all: &'a LayeredSettings, key: &str) -> &'a LayeredSetting {
    all.settings
        .iter()
        .find(|setting| setting.key == key)
        .unwrap()
}

async fn set(
    app: &Headless,
    owner: &SettingOwner,
    key: &str,
    value: SettingValue,
) -> LayeredSettings {
    app.engine
        .set_setting(owner.clone(), key.to_owned(), Some(value))
        .await
        .unwrap()
}

async fn endpoint(app: &Headless, name: &str, context: u32) -> ModelRef {
    let draft = EndpointDraft {
        id: None,
        name: name.to_owned(),
        url: "http://127.0.0.1:8080/v1".to_owned(),
        model: name.to_owned(),
        context,
        key: None,
        ..EndpointDraft::default()
    };
    let endpoint = app.engine.save_endpoint(draft).await.unwrap();
    ModelRef::Remote {
        id: endpoint.id.to_string(),
    }
}

/// Precedence: environment, chat, character, model, global, built-in.
#[tokio::test]
async fn most_specific_layer_wins_and_is_shown() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let model = endpoint(&app, "big", 100_000).await;
    app.engine
        .set_chat_model(chat.id, Some(model.clone()))
        .await
        .unwrap();
    let owners = [
        (SettingOwner::Global, SettingLayer::Global),
        (SettingOwner::Model { model }, SettingLayer::Model),
        (
            SettingOwner::Character { id: chat.character },
            SettingLayer::Character,
        ),
        (chat_owner(chat.id), SettingLayer::Chat),
    ];
    let seen = async || {
        let all = app
            .engine
            .layered_settings(chat_owner(chat.id))
            .await
            .unwrap();
        let setting = one(&all, "history_cap").clone();
        (setting.value, setting.origin, setting.layers.len())
    };
    assert_eq!(
        seen().await,
        (SettingValue::Text("auto".into()), SettingLayer::BuiltIn, 0)
    );
    for (count, (owner, layer)) in [1_u32, 2, 3, 4].into_iter().zip(&owners) {
        set(
            &app,
            owner,
            "history_cap",
            SettingValue::Whole(count * 1_000),
        )
        .await;
        assert_eq!(
            seen().await,
            (SettingValue::Whole(count * 1_000), *layer, count as usize)
        );
    }
    for (count, (owner, layer)) in [1_u32, 2, 3, 4].into_iter().zip(&owners).rev() {
        assert_eq!(
            seen().await,
            (SettingValue::Whole(count * 1_000), *layer, count as usize)
        );
        app.engine
            .set_setting(owner.clone(), "history_cap".into(), None)
            .await
            .unwrap();
    }
    assert_eq!(seen().await.1, SettingLayer::BuiltIn);
}

#[tokio::test]
async fn environment_overrides_every_layer() {
    let app = Headless::with_environment(&[
        ("INGLENOOK_CONTEXT_LIMIT", "4096"),
        ("INGLENOOK_TOP_P", "lots"),
    ])
    .await;
    let chat = app.first_chat().await.id;
    let all = set(
        &app,
        &chat_owner(chat),
        "context_limit",
        SettingValue::Whole(9_000),
    )
    .await;
    let limit = one(&all, "context_limit");
    assert_eq!(
        (&limit.value, limit.origin),
        (&SettingValue::Whole(4_096), SettingLayer::Environment)
    );
    let bad = &one(&all, "top_p").layers[0];
    assert_eq!(
        (bad.layer, bad.problem.as_deref()),
        (
            SettingLayer::Environment,
            Some("\"lots\" is not a number from 0 to 1")
        )
    );

    assert_eq!(
        app.engine
            .preview_prompt(chat, "Hello.".into(), WhatIf::default())
            .await
            .unwrap()
            .tokens
            .limit,
        4_096
    );
    let health = app.engine.health().await.unwrap();
    let check = health
        .checks
        .iter()
        .find(|check| check.name == "settings")
        .unwrap();
    assert_eq!(
        (check.ok, check.reason.as_str()),
        (
            false,
            "INGLENOOK_TOP_P is set, but \"lots\" is not a number from 0 to 1"
        )
    );

    let app = Headless::with_environment(&[("INGLENOOK_CONTEXT_LIMIT", "4096")]).await;
    let health = app.engine.health().await.unwrap();
    let check = health
        .checks
        .iter()
        .find(|check| check.name == "settings")
        .unwrap();
    assert_eq!(
        (check.ok, check.reason.as_str()),
        (true, "INGLENOOK_CONTEXT_LIMIT=4096 overrides context_limit")
    );
}

/// Contradictory values are refused with the calculated sum, and nothing is stored.
#[tokio::test]
async fn contradictory_values_are_refused_with_their_sum() {
    let app = Headless::new().await;
    let global = SettingOwner::Global;
    set(&app, &global, "context_limit", SettingValue::Whole(8_192)).await;
    set(&app, &global, "reply_reserve", SettingValue::Whole(2_000)).await;
    let refused = app
        .engine
        .set_setting(
            global.clone(),
            "history_cap".into(),
            Some(SettingValue::Whole(7_000)),
        )
        .await;
    let Err(ApiError::BadInput { message, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(
        message,
        "history cap does not fit the other settings: reply reserve 2000 + history cap 7000 = 9000 tokens, which exceeds the context limit of \
         8192."
    );
    let all = app.engine.layered_settings(global).await.unwrap();
    assert_eq!(one(&all, "history_cap").origin, SettingLayer::BuiltIn);

    // A contradiction caused later by a lower limit is reported, and turns continue.
    let chat = app.first_chat().await.id;
    set(
        &app,
        &chat_owner(chat),
        "history_cap",
        SettingValue::Whole(6_000),
    )
    .await;
    app.engine
        .set_setting(
            SettingOwner::Global,
            "reply_reserve".into(),
            Some(SettingValue::Whole(2_100)),
        )
        .await
        .unwrap();
    set(
        &app,
        &SettingOwner::Global,
        "context_limit",
        SettingValue::Whole(4_096),
    )
    .await;
    let all = app.engine.layered_settings(chat_owner(chat)).await.unwrap();
    assert_eq!(
        all.contradictions,
        [
            "reply reserve 2100 + history cap 6000 = 8100 tokens, which exceeds the context limit of 4096"
        ]
    );
    app.model.reply("Still here.");
    assert_eq!(
        selected_text(&app.send(chat, "Hello?").await.0.unwrap()),
        "Still here."
    );
}

#[tokio::test]
async fn values_and_owners_are_validated() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let try_set = async |owner: SettingOwner, key: &str, value: SettingValue| {
        app.engine
            .set_setting(owner, key.to_owned(), Some(value))
            .await
    };
    let text = |text: &str| SettingValue::Text(text.to_owned());
    for (key, value) in [
        ("temperature", SettingValue::Number(2.5)),
        ("top_k", SettingValue::Number(1.5)),
        ("placement", text("somewhere")),
        ("context_limit", text("large")),
        ("start_mode", text("empty")),
        ("volume", SettingValue::Whole(11)),
        ("template", text("two\nlines")),
        ("reminder", text(&"x".repeat(4_001))),
    ] {
        let refused = try_set(chat_owner(chat), key, value).await;
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{key}: {refused:?}"
        );
    }
    for owner in [
        chat_owner(NOBODY.parse().unwrap()),
        SettingOwner::Character {
            id: NOBODY.parse().unwrap(),
        },
        SettingOwner::Model {
            model: ModelRef::Local {
                id: NOBODY.parse().unwrap(),
            },
        },
        SettingOwner::Model {
            model: ModelRef::Remote { id: NOBODY.into() },
        },
    ] {
        let refused = try_set(owner, "temperature", SettingValue::Number(1.0)).await;
        assert!(
            matches!(refused, Err(ApiError::NotFound { .. })),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn change_sends_an_event_and_survives_restart() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let mut events = app.engine.subscribe();
    set(
        &app,
        &chat_owner(chat),
        "temperature",
        SettingValue::Number(0.3),
    )
    .await;
    assert_eq!(
        events.next().await,
        Some(Event::Changed {
            what: Changed::Settings,
            id: Some(chat.to_string())
        })
    );

    let app = app.restart().await;
    app.model.reply("Cool.");
    app.send(chat, "How warm is it?").await;
    assert_eq!(app.model.last_request().unwrap().sampling.temperature, 0.3);
}

#[tokio::test]
async fn invalid_stored_value_does_not_affect_others() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for (key, value) in [
        ("temperature", SettingValue::Number(0.3)),
        ("top_k", SettingValue::Whole(7)),
    ] {
        set(&app, &chat_owner(chat), key, value).await;
    }
    app.engine
        .update_settings(SettingsChange {
            theme: Some(Theme::Dark),
            language: Some("de".into()),
            ..Default::default()
        })
        .await
        .unwrap();
    let app = app
        .restart_after(|folder| {
            let database = tests::open_database(folder);
            database
                .execute(
                    "UPDATE scoped_setting SET value = '\"warm\"' WHERE key = 'temperature'",
                    [],
                )
                .unwrap();
            database
                .execute("UPDATE setting SET value = '[7]' WHERE key = 'theme'", [])
                .unwrap();
        })
        .await;
    let all = app.engine.layered_settings(chat_owner(chat)).await.unwrap();
    let temperature = one(&all, "temperature");
    assert_eq!(
        (&temperature.value, temperature.origin),
        (&temperature.default, SettingLayer::BuiltIn)
    );
    assert_eq!(
        temperature.layers[0].problem.as_deref(),
        Some("\"warm\" is not a number from 0 to 2")
    );
    assert_eq!(one(&all, "top_k").value, SettingValue::Whole(7));
    let settings = app.engine.get_settings().await.unwrap();
    assert_eq!(
        (settings.theme, settings.language.as_str()),
        (Theme::System, "de")
    );
}

/// Two windows that each change a different field do not undo each other.
#[tokio::test]
async fn a_change_of_one_field_leaves_the_others() {
    let app = Headless::new().await;
    let dark = SettingsChange {
        theme: Some(Theme::Dark),
        ..Default::default()
    };
    let german = SettingsChange {
        language: Some("de".into()),
        ..Default::default()
    };
    tokio::try_join!(
        app.engine.update_settings(dark),
        app.engine.update_settings(german)
    )
    .unwrap();
    let app = app.restart().await;
    let settings = app.engine.get_settings().await.unwrap();
    assert_eq!(
        (settings.theme, settings.language.as_str()),
        (Theme::Dark, "de")
    );
}

/// A template's suggestion applies unless the user sets a value, and has its own origin.
#[tokio::test]
async fn template_suggests_the_reply_length() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let owner = chat_owner(chat);
    let longest = |all: &LayeredSettings| {
        let setting = one(all, "max_tokens");
        (setting.value.clone(), setting.origin)
    };
    let sent = async || {
        app.model.reply("Hm.");
        app.send(chat, "Hi.").await;
        app.model.last_request().unwrap().sampling.max_tokens
    };
    assert_eq!(
        longest(&app.engine.layered_settings(owner.clone()).await.unwrap()).1,
        SettingLayer::BuiltIn
    );
    assert_eq!(sent().await, 512);

    let all = set(&app, &owner, "template", SettingValue::Text("sms".into())).await;
    assert_eq!(
        longest(&all),
        (SettingValue::Whole(90), SettingLayer::Template)
    );
    assert_eq!(sent().await, 90);

    set(
        &app,
        &SettingOwner::Global,
        "max_tokens",
        SettingValue::Whole(300),
    )
    .await;
    let all = app.engine.layered_settings(owner.clone()).await.unwrap();
    assert_eq!(
        longest(&all),
        (SettingValue::Whole(300), SettingLayer::Global)
    );
    assert_eq!(sent().await, 300);

    app.engine
        .set_setting(SettingOwner::Global, "max_tokens".into(), None)
        .await
        .unwrap();
    let own = json!({"schema": "inglenook.promptTemplate", "version": 2, "id": "own", "name": "Own", "style": "sms",
        "sections": [{"name": "a", "lines": ["Be brief."]}]});
    let own = app
        .engine
        .save_template(String::new(), own.to_string())
        .await
        .unwrap()
        .summary
        .id;
    set(&app, &owner, "template", SettingValue::Text(own)).await;
    assert_eq!(sent().await, 90, "its style is short messages");
}

/// A mode or preset that is gone does not stop replies; the turn says what it uses instead.
#[tokio::test]
async fn things_that_are_gone_fall_back_with_a_notice() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let owner = chat_owner(chat);
    let named = |name: &str| SettingValue::Text(name.into());
    let mode = engine::api::Mode {
        name: "pirate".into(),
        text: "Arr.".into(),
        built_in: false,
        changed: false,
    };
    app.engine.save_mode(mode).await.unwrap();
    let preset = engine::api::SamplerPreset {
        id: String::new(),
        name: "Calm".into(),
        built_in: false,
        values: [("temperature".to_owned(), SettingValue::Number(0.2))].into(),
    };
    let preset = app.engine.save_sampler_preset(preset).await.unwrap().id;
    let own = json!({"schema": "inglenook.promptTemplate", "version": 2, "id": "own", "name": "Own",
        "sections": [{"name": "a", "lines": ["Be brief."]}]});
    let template = app
        .engine
        .save_template(String::new(), own.to_string())
        .await
        .unwrap()
        .summary
        .id;
    set(&app, &owner, "mode", named("Pirate")).await;
    set(&app, &owner, "template", named("own")).await;
    set(&app, &owner, "sampler_preset", named(&preset)).await;
    app.engine.delete_mode("pirate".into()).await.unwrap();
    app.engine.delete_template(template.clone()).await.unwrap();
    app.engine
        .delete_sampler_preset(preset.clone())
        .await
        .unwrap();

    app.model.reply("Hm.");
    let (reply, reason) = app.send(chat, "Hi.").await;
    assert_eq!(reason, engine::api::EndReason::Stop);
    let notices = app
        .engine
        .manifest(reply.unwrap().swipes[0].id)
        .await
        .unwrap()
        .notices
        .join("\n");
    for gone in [
        "\"pirate\"",
        &format!("\"{template}\""),
        &format!("\"{preset}\""),
    ] {
        assert!(notices.contains(gone), "{gone}: {notices}");
    }
    app.engine
        .preview_prompt(chat, "Hi.".into(), engine::api::WhatIf::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn unknown_names_are_refused_with_the_list() {
    let app = Headless::new().await;
    app.first_chat().await;
    for (key, listed) in [
        ("mode", "default, study, chill, creative"),
        ("template", "storyteller"),
        ("chat_format", "chatml"),
        ("sampler_preset", "none"),
        ("memory_model", "auto"),
        ("continue_prompt", "auto"),
    ] {
        for value in ["nosuch", "nosuch-2"] {
            let owner = SettingOwner::Global;
            let refused = app
                .engine
                .set_setting_in_words(owner, key.into(), value.into())
                .await
                .unwrap_err();
            let engine::api::ApiError::BadInput { message, hint, .. } = &refused else {
                panic!("{refused:?}")
            };
            assert!(
                message.contains(value) && hint.contains(listed),
                "{key}: {message} {hint}"
            );
        }
    }
    for (key, value) in [
        ("mode", "STUDY"),
        ("template", "Base Role-play"),
        ("continue_prompt", "continue"),
    ] {
        app.engine
            .set_setting_in_words(SettingOwner::Global, key.into(), value.into())
            .await
            .unwrap();
    }
    let all = app
        .engine
        .layered_settings(SettingOwner::Global)
        .await
        .unwrap();
    assert_eq!(one(&all, "mode").value, SettingValue::Text("study".into()));
    assert_eq!(
        one(&all, "template").value,
        SettingValue::Text("base-roleplay".into())
    );
}

/// Limits come from the model's profile.
#[tokio::test]
async fn two_models_have_two_profiles() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let (small, large) = (
        endpoint(&app, "small", 100_000).await,
        endpoint(&app, "large", 100_000).await,
    );
    for (model, limit) in [(&small, 4_096), (&large, 32_768)] {
        set(
            &app,
            &SettingOwner::Model {
                model: model.clone(),
            },
            "context_limit",
            SettingValue::Whole(limit),
        )
        .await;
    }
    for (model, limit) in [(small, 4_096), (large, 32_768)] {
        app.engine.set_chat_model(chat, Some(model)).await.unwrap();
        assert_eq!(
            app.engine
                .preview_prompt(chat, "Hi.".into(), WhatIf::default())
                .await
                .unwrap()
                .tokens
                .limit,
            limit
        );
    }
}

/// With a history cap of 3,000 in 200 random chats, only whole messages are sent.
#[tokio::test]
async fn history_stays_below_its_cap_in_whole_messages() {
    let app = Headless::new().await;
    let character = app.first_chat().await.character;
    set(
        &app,
        &SettingOwner::Global,
        "history_cap",
        SettingValue::Whole(3_000),
    )
    .await;
    let mut random = StdRng::seed_from_u64(14);
    let (mut full, mut messages) = (0, 0);
    let chats = if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        200
    } else {
        50
    };
    for _ in 0..chats {
        let chat = app.engine.new_chat(character).await.unwrap().id;
        for _ in 0..random.random_range(1..6) {
            let mut words = |most| "lamp oil ".repeat(random.random_range(1..most));
            let (question, reply) = (words(300), words(500));
            app.model.reply(&reply);
            app.send(chat, &question).await;
        }
        let said = app.engine.whole_chat(chat).await.unwrap();
        let said: Vec<_> = said.page.messages.iter().map(selected_text).collect();
        let report = app
            .engine
            .preview_prompt(chat, "And now?".into(), WhatIf::default())
            .await
            .unwrap();
        assert!(report.tokens.by_zone.window <= 3_000, "{:?}", report.tokens);
        full += u32::from(report.tokens.by_zone.window > 1_500);
        let is_sent = |block: &&PromptBlock| {
            block.zone == Zone::Window && block.kind == "message" && block.kept
        };
        for block in report.blocks.iter().filter(is_sent) {
            messages += 1;
            assert!(
                said.iter().any(|text| text.trim() == block.text.trim()),
                "a message was truncated: {}",
                block.text
            );
        }
    }
    assert!(
        full > chats / 10,
        "{full} of {chats} chats came near the cap"
    );
    assert!(messages > 2 * chats, "{messages} messages in {chats} chats");
}

/// `none` starts a chat without a greeting.
#[tokio::test]
async fn chat_can_start_without_a_greeting() {
    let app = Headless::new().await;
    let character = app.first_chat().await.character;
    let owner = SettingOwner::Character { id: character };
    set(
        &app,
        &owner,
        "start_mode",
        SettingValue::Text("empty".into()),
    )
    .await;
    assert!(
        app.engine
            .new_chat(character)
            .await
            .unwrap()
            .page
            .messages
            .is_empty()
    );
    app.engine
        .set_setting(owner, "start_mode".into(), None)
        .await
        .unwrap();
    assert_eq!(
        app.engine
            .new_chat(character)
            .await
            .unwrap()
            .page
            .messages
            .len(),
        1
    );
}

/// Without streaming, listeners get no tokens, and the same message is stored and displayed at the
/// end.
#[tokio::test]
async fn reply_can_be_shown_without_streaming() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    set(
        &app,
        &chat_owner(chat),
        "show_streaming",
        SettingValue::Switch(false),
    )
    .await;
    app.model.reply("One two three.");
    let (mut events, mut listener) = (app.engine.subscribe(), app.engine.subscribe());
    app.engine
        .send_message(chat, "Count.".into())
        .await
        .unwrap();
    assert_eq!(
        selected_text(&ended(&mut events, chat).await.0.unwrap()),
        "One two three."
    );
    loop {
        match listener.next().await.unwrap() {
            Event::Token { text, .. } => panic!("{text} was streamed"),
            Event::Ended { .. } => break,
            _ => {}
        }
    }
}

/// The number of messages to load is a setting.
#[tokio::test]
async fn opened_chat_loads_the_configured_number() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for _ in 0..4 {
        app.model.reply(&"lamp oil ".repeat(200));
        app.send(chat, "More.").await;
    }
    assert!(!app.engine.open_chat(chat).await.unwrap().page.more);
    set(
        &app,
        &SettingOwner::Global,
        "eager_load_tokens",
        SettingValue::Whole(600),
    )
    .await;
    let page = app.engine.open_chat(chat).await.unwrap().page;
    assert!(
        page.more && page.messages.len() < 4,
        "{}",
        page.messages.len()
    );
}

#[tokio::test]
async fn lists_templates_and_modes_by_name() {
    let app = Headless::new().await;
    let all = app
        .engine
        .layered_settings(SettingOwner::Global)
        .await
        .unwrap();
    let offered = |key| {
        let SettingKind::Name { choices, .. } = &one(&all, key).kind else {
            panic!("{key} holds no name")
        };
        choices
            .iter()
            .map(|choice| choice.name.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(offered("mode"), ["default", "study", "chill", "creative"]);
    let templates = offered("template");
    assert!(
        templates.contains(&"base-roleplay") && templates.contains(&"sms"),
        "{templates:?}"
    );
    assert!(
        !templates.contains(&"summary"),
        "templates of background tasks are not offered for chats"
    );
}

/// At most this many messages are sent; the others stay in the chat.
#[tokio::test]
async fn message_ceiling_limits_sent_messages() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for turn in 0..6 {
        app.model.reply(&format!("Answer {turn}."));
        app.send(chat, &format!("Question {turn}?")).await;
    }
    let sent = async || {
        let report = app
            .engine
            .preview_prompt(chat, "And now?".into(), WhatIf::default())
            .await
            .unwrap();
        report
            .blocks
            .iter()
            .filter(|block| block.kind == "message" && block.kept)
            .count()
    };
    assert_eq!(sent().await, 14);
    set(
        &app,
        &chat_owner(chat),
        "message_ceiling",
        SettingValue::Whole(4),
    )
    .await;
    assert!((1..=4).contains(&sent().await), "{}", sent().await);
    assert_eq!(
        app.engine
            .whole_chat(chat)
            .await
            .unwrap()
            .page
            .messages
            .len(),
        13
    );
}

#[tokio::test]
async fn custom_chat_formats_do_not_change_built_in_ones() {
    let app = Headless::new().await;
    let shipped = app
        .engine
        .list_chat_formats()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.id == "chatml")
        .unwrap();
    let refused = app
        .engine
        .save_chat_format(ChatFormat {
            name: "Mine".into(),
            ..shipped.clone()
        })
        .await
        .unwrap_err();
    assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");

    let copy = ChatFormat {
        id: String::new(),
        name: "ChatML".into(),
        stop: vec!["You:".into(), " ".into()],
        ..shipped
    };
    let own = app.engine.save_chat_format(copy.clone()).await.unwrap();
    assert_eq!(
        (own.id.as_str(), own.stop.len(), own.built_in),
        ("chatml-2", 1, false)
    );
    let offered = app
        .engine
        .layered_settings(SettingOwner::Global)
        .await
        .unwrap();
    let SettingKind::Name { choices, .. } = &one(&offered, "chat_format").kind else {
        panic!("it holds no name")
    };
    assert!(
        choices.iter().any(|choice| choice.name == "chatml-2"),
        "{choices:?}"
    );
    let renamed = app
        .engine
        .save_chat_format(ChatFormat {
            name: "Letters".into(),
            ..own
        })
        .await
        .unwrap();
    assert_eq!(
        (renamed.id.as_str(), renamed.name.as_str()),
        ("chatml-2", "Letters")
    );

    let long = ChatFormat {
        name: "\u{0130}".repeat(100),
        ..copy.clone()
    };
    assert!(
        app.engine.save_chat_format(long).await.unwrap().id.len() <= 200,
        "the setting accepts no longer id"
    );
    for wrong in [
        ChatFormat {
            jinja: "{% for %}".into(),
            ..copy.clone()
        },
        ChatFormat {
            name: " ".into(),
            ..copy.clone()
        },
        ChatFormat {
            id: "auto".into(),
            ..copy.clone()
        },
        ChatFormat {
            stop: vec!["x".repeat(401)],
            ..copy
        },
    ] {
        assert!(app.engine.save_chat_format(wrong).await.is_err());
    }
    app.engine
        .delete_chat_format("chatml-2".into())
        .await
        .unwrap();
    assert!(
        app.engine
            .list_chat_formats()
            .await
            .unwrap()
            .iter()
            .all(|format| format.id != "chatml-2")
    );
}
