//! Prompts of past turns and log files are kept only as the settings say.

use std::path::Path;
use std::sync::Arc;

use domain::{ChatId, SwipeId, Timestamp};
use engine::api::{ApiError, PrivacySpace, SettingOwner, SettingValue, WhatIf};
use engine::{Clock, Engine, LogFolder, Options};
use provider::fake::FakeProvider;
use tests::headless::{Headless, NOW, ended};

use crate::trash::{CANARY, canary_in};

const DAY: i64 = 24 * 3_600_000;

async fn set(engine: &Engine, key: &str, value: Option<SettingValue>) {
    engine
        .set_setting(SettingOwner::Global, key.to_owned(), value)
        .await
        .unwrap();
}

async fn keep(engine: &Engine, which: &str) {
    set(
        engine,
        "keep_prompts",
        Some(SettingValue::Text(which.into())),
    )
    .await;
}

/// Sends `text` and returns the reply.
async fn send(engine: &Engine, chat: ChatId, text: &str) -> SwipeId {
    let mut events = engine.subscribe();
    engine.send_message(chat, text.to_owned()).await.unwrap();
    let (message, _) = ended(&mut events, chat).await;
    message.unwrap().swipes[0].id
}

async fn is_not_kept(engine: &Engine, swipe: SwipeId) -> bool {
    let prompt = engine.manifest(swipe).await;
    matches!(prompt, Err(ApiError::PromptNotKept { .. }))
}

/// Sends a message while the instructions contain the canary, which is then only in the stored
/// prompt.
async fn prompt_with_canary(app: &Headless, chat: ChatId) -> SwipeId {
    let canary = SettingValue::Text(CANARY.into());
    set(&app.engine, "extra_instructions", Some(canary)).await;
    app.model.reply("Good evening.");
    let swipe = send(&app.engine, chat, "Hello.").await;
    set(&app.engine, "extra_instructions", None).await;
    swipe
}

#[tokio::test]
async fn switching_off_erases_stored_prompts() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let swipe = prompt_with_canary(&app, chat).await;
    let prompt = app.engine.manifest(swipe).await.unwrap();
    assert!(prompt.text.contains(CANARY));
    assert!(!canary_in(app.dir.path()).is_empty());
    let before = app.engine.privacy_space().await.unwrap();
    assert_eq!((before.prompts, before.log_bytes), (1, 0));
    assert!(before.prompt_bytes > CANARY.len() as u64);

    keep(&app.engine, "off").await;
    let after = app.engine.privacy_space().await.unwrap();
    assert_eq!(after, PrivacySpace::default());
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
    assert!(is_not_kept(&app.engine, swipe).await);
    let shown = app.engine.whole_chat(chat).await.unwrap();
    let reply = shown.page.messages.last().unwrap();
    assert!(reply.swipes[0].figures.is_some(), "figures stay");
}

#[tokio::test]
async fn no_prompt_is_stored_while_prompts_are_off() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    keep(&app.engine, "off").await;
    app.model.reply("Good evening.").reply("It is late.");
    let first = send(&app.engine, chat, "Hello.").await;
    let second = send(&app.engine, chat, "How late is it?").await;
    let space = app.engine.privacy_space().await.unwrap();
    assert_eq!(space, PrivacySpace::default());
    for swipe in [first, second] {
        assert!(is_not_kept(&app.engine, swipe).await);
        let changes = app.engine.compare_prompt(swipe).await;
        assert!(matches!(changes, Err(ApiError::PromptNotKept { .. })));
    }
    assert!(
        app.engine
            .past_turns(chat, None, 9)
            .await
            .unwrap()
            .is_empty()
    );

    let [one, two] = &app.model.requests()[..] else {
        panic!("two requests")
    };
    let read = &one.prompt.messages;
    assert_eq!(
        two.prompt.messages[..read.len()],
        read[..],
        "the next prompt continues the first one"
    );
}

#[tokio::test]
async fn preview_says_that_reuse_is_unknown() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let preview = async |text: &str| {
        let shown = app
            .engine
            .preview_prompt(chat, text.to_owned(), WhatIf::default());
        let shown = shown.await.unwrap();
        let says_so = shown
            .notices
            .iter()
            .any(|notice| notice.contains("not kept"));
        (shown.tokens.reusable.is_some(), says_so)
    };
    assert_eq!(
        preview("Hello.").await,
        (false, false),
        "no prompt was sent"
    );
    app.model.reply("Good evening.").reply("It is late.");
    send(&app.engine, chat, "Hello.").await;
    assert_eq!(preview("How late is it?").await, (true, false));

    keep(&app.engine, "off").await;
    assert_eq!(preview("How late is it?").await, (false, true));
    let changes = app.engine.compare_next(chat, "How late?".to_owned()).await;
    assert!(matches!(changes, Err(ApiError::PromptNotKept { .. })));
    let recalled = app.engine.recalled(chat).await.unwrap();
    assert!(recalled.notices[0].contains("not kept"));

    keep(&app.engine, "on").await;
    let second = send(&app.engine, chat, "How late is it?").await;
    let prompt = app.engine.manifest(second).await.unwrap();
    assert!(prompt.text.contains("How late is it?"));
    assert_eq!(preview("So late!").await, (true, false));
}

#[tokio::test]
async fn environment_can_switch_prompts_off() {
    let app = Headless::with_environment(&[("INGLENOOK_KEEP_PROMPTS", "off")]).await;
    let chat = app.first_chat().await.id;
    keep(&app.engine, "on").await;
    app.model.reply("Good evening.");
    let swipe = send(&app.engine, chat, "Hello.").await;
    assert!(is_not_kept(&app.engine, swipe).await);
}

/// A session on this day, with the look at the clock that each session has.
async fn session(dir: &Path, model: &FakeProvider, day: i64) -> Engine {
    let options = Options {
        data_dir: dir.to_owned(),
        without_keychain: true,
        clock: Clock::stopped(Timestamp(NOW.0 + day * DAY)),
        provider: Some(Arc::new(model.clone())),
        ..Options::default()
    };
    let engine = Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    engine.purge_now().await.unwrap();
    engine
}

async fn close(engine: Engine) {
    engine.shutdown().await;
}

/// A clock that jumps ahead counts one day later.
#[tokio::test]
async fn prompts_are_removed_after_thirty_days() {
    let Headless {
        engine, model, dir, ..
    } = Headless::new().await;
    let chat = engine.startup().await.unwrap().chat.unwrap();
    keep(&engine, "30-days").await;
    model.reply("Good evening.").reply("It is late.");
    let old = send(&engine, chat, "Hello.").await;
    close(engine).await;
    close(session(dir.path(), &model, 20).await).await;

    let engine = session(dir.path(), &model, 21).await;
    let young = send(&engine, chat, "How late is it?").await;
    let prompt = engine.manifest(young).await.unwrap();
    assert!(prompt.text.contains("Good evening."));
    assert_eq!(engine.remove_outdated_prompts().await.unwrap(), 0);
    close(engine).await;

    let engine = session(dir.path(), &model, 32).await;
    let removed = engine.remove_outdated_prompts().await.unwrap();
    assert_eq!(removed, 0, "the clock may be wrong");
    close(engine).await;

    let engine = session(dir.path(), &model, 33).await;
    assert_eq!(engine.remove_outdated_prompts().await.unwrap(), 1);
    assert!(is_not_kept(&engine, old).await);
    let kept = engine.manifest(young).await.unwrap();
    assert_eq!(kept.text, prompt.text, "it shared text with the old one");
    assert_eq!(kept.blocks.len(), prompt.blocks.len());
    assert_eq!(engine.privacy_space().await.unwrap().prompts, 1);
    assert_eq!(engine.remove_outdated_prompts().await.unwrap(), 0);
}

#[tokio::test]
async fn switching_the_log_off_deletes_its_files() {
    let app = Headless::new().await;
    let folder = LogFolder::in_data(app.dir.path());
    let file = folder.path().join("inglenook.2026-11-21.log");
    std::fs::create_dir(folder.path()).unwrap();
    std::fs::write(&file, "a line\n").unwrap();
    let space = app.engine.privacy_space().await.unwrap();
    assert_eq!(space.log_bytes, 7);

    set(&app.engine, "write_log", Some(SettingValue::Switch(false))).await;
    assert!(folder.is_off() && !file.exists());
    let app = app
        .restart_after(|_| std::fs::remove_file(folder.path().join("off")).unwrap())
        .await;
    assert!(folder.is_off(), "each start follows the setting");

    set(&app.engine, "write_log", None).await;
    assert!(!folder.is_off());
}
