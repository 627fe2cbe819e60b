//! The hint after the first week that the chats are not encrypted.

use std::path::Path;

use domain::Timestamp;
use engine::api::SecretText;
use engine::{Clock, Engine, MemoryMeter, Options, UnlockSecret};
use tempfile::TempDir;
use tests::headless::{Headless, NOW};

const DAY: i64 = 24 * 3_600_000;

/// A closed data folder in which the user has written so many messages.
async fn folder(messages: usize) -> TempDir {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    for _ in 0..messages {
        app.model.reply("So it is.");
        app.send(chat, "Go on.").await;
    }
    assert!(
        !app.engine.hints_at_encryption().await.unwrap(),
        "the first week is not over"
    );
    let Headless { engine, dir, .. } = app;
    engine.shutdown().await;
    dir
}

/// So many days after the first start.
fn options(dir: &Path, days: i64) -> Options {
    Options {
        data_dir: dir.to_owned(),
        without_keychain: true,
        clock: Clock::stopped(Timestamp(NOW.0 + days * DAY)),
        memory_meter: MemoryMeter::fixed(50_000_000_000),
        ..Options::default()
    }
}

async fn hints(options: Options) -> bool {
    let engine = open(options).await;
    let hints = engine.hints_at_encryption().await.unwrap();
    engine.shutdown().await;
    hints
}

async fn open(options: Options) -> Engine {
    let opened = Engine::open(options).await;
    opened.unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn encryption_is_offered_after_a_week_of_use() {
    let few = folder(19).await;
    assert!(!hints(options(few.path(), 8)).await);
    let many = folder(20).await;
    assert!(!hints(options(many.path(), 6)).await);
    assert!(hints(options(many.path(), 8)).await);
}

#[tokio::test]
async fn dismissed_offer_of_encryption_never_returns() {
    let dir = folder(20).await;
    let engine = open(options(dir.path(), 8)).await;
    engine.dismiss_encryption_hint().await.unwrap();
    assert!(!engine.hints_at_encryption().await.unwrap());
    engine.shutdown().await;
    drop(engine);
    assert!(!hints(options(dir.path(), 30)).await);
}

#[tokio::test]
async fn encrypted_folder_is_offered_no_encryption() {
    let dir = folder(20).await;
    let options = options(dir.path(), 8);
    let passphrase = SecretText::new("whale oil".to_owned());
    let prepared = Engine::prepare_protection(passphrase.clone())
        .await
        .unwrap();
    let code = prepared.recovery_code();
    Engine::protect(&options, prepared, code).await.unwrap();
    let keys = Engine::unlock(&options, UnlockSecret::Passphrase(passphrase)).await;
    let unlocked = Options {
        keys: Some(keys.unwrap()),
        ..options
    };
    assert!(!hints(unlocked).await);
}
