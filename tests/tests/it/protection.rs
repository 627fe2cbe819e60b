//! A protected data folder: encrypted, unlocked, used, and decrypted again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::ChatId;
use engine::api::{ApiError, EndReason, SecretText, UnfinishedConversion};
use engine::{
    Clock, Engine, MemoryMeter, OpenError, Options, ProtectError, UnlockError, UnlockSecret,
    UnlockedFolder,
};
use provider::fake::FakeProvider;
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::headless::{Headless, NOW, ended};

use crate::trash::{CANARY, canary_in};

const PASSPHRASE: &str = "whale oil";

fn secret(text: &str) -> SecretText {
    SecretText::new(text.to_owned())
}

fn passphrase(text: &str) -> UnlockSecret {
    UnlockSecret::Passphrase(secret(text))
}

/// A data folder with a chat that contains the canary. No engine has it open.
struct Folder {
    dir: TempDir,
    model: FakeProvider,
    chat: ChatId,
}

impl Folder {
    async fn plain() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        app.model.reply("So it is.");
        app.send(chat, &format!("Listen, {CANARY}.")).await;
        app.engine.backup().await.unwrap();
        let Headless {
            engine, model, dir, ..
        } = app;
        engine.shutdown().await;
        Self { dir, model, chat }
    }

    /// Returns the recovery code as well.
    async fn protected() -> (Self, SecretText) {
        let folder = Self::plain().await;
        let code = folder.protect().await;
        (folder, code)
    }

    async fn protect(&self) -> SecretText {
        let prepared = Engine::prepare_protection(secret(PASSPHRASE))
            .await
            .unwrap();
        let code = prepared.recovery_code();
        assert!(!format!("{prepared:?} {code:?}").contains(code.expose()));
        let report = Engine::protect(&self.options(None), prepared, code.clone()).await;
        let report = report.unwrap();
        assert_eq!((report.databases, report.failed), (2, Vec::new()));
        assert_eq!(report.plain_leftovers, [""; 0]);
        code
    }

    fn options(&self, keys: Option<UnlockedFolder>) -> Options {
        Options {
            data_dir: self.dir.path().to_owned(),
            keys,
            without_keychain: true,
            clock: Clock::stopped(NOW),
            provider: Some(Arc::new(self.model.clone())),
            memory_meter: MemoryMeter::fixed(50_000_000_000),
            ..Options::default()
        }
    }

    async fn unlock(&self, secret: UnlockSecret) -> Result<UnlockedFolder, UnlockError> {
        Engine::unlock(&self.options(None), secret).await
    }

    async fn open(&self) -> Engine {
        let keys = self.unlock(passphrase(PASSPHRASE)).await.unwrap();
        self.open_with(Some(keys)).await
    }

    async fn open_with(&self, keys: Option<UnlockedFolder>) -> Engine {
        let opened = Engine::open(self.options(keys)).await;
        opened.unwrap_or_else(|error| panic!("{error}"))
    }

    fn key_file(&self) -> PathBuf {
        self.dir.path().join("protection.json")
    }

    /// Notes in the key file that a conversion was interrupted.
    fn interrupt(&self, direction: &str) {
        let mut file: Value = serde_json::from_slice(&fs::read(self.key_file()).unwrap()).unwrap();
        file["converting"] = json!(direction);
        fs::write(self.key_file(), file.to_string()).unwrap();
    }

    /// The backups, each with its manifest.
    fn backups(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(self.dir.path().join("backups")).unwrap();
        let ours = files.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            path.is_file() && name.starts_with("inglenook-")
        });
        ours.map(|path| (path.clone(), fs::read(&path).unwrap()))
            .collect()
    }

    fn key_file_copies(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(self.dir.path().join("backups")).unwrap();
        let copies = files.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("protection-")
        });
        copies
            .map(|path| (path.clone(), fs::read(&path).unwrap()))
            .collect()
    }
}

async fn close(engine: Engine) {
    engine.shutdown().await;
    drop(engine);
}

fn is_protected(dir: &Path) -> bool {
    engine::is_protected(dir)
}

#[tokio::test]
async fn a_turn_in_a_protected_folder_leaves_no_text() {
    let folder = Folder::protected().await.0;
    assert!(is_protected(folder.dir.path()));
    assert_eq!(canary_in(folder.dir.path()), [""; 0]);
    let Err(refused) = Engine::open(folder.options(None)).await else {
        panic!("it opened without the passphrase")
    };
    assert!(matches!(refused, OpenError::Protected { .. }), "{refused}");

    let engine = folder.open().await;
    let mut events = engine.subscribe();
    folder.model.reply(&format!("Yes, {CANARY}."));
    engine
        .send_message(folder.chat, "Again?".into())
        .await
        .unwrap();
    let (message, reason) = ended(&mut events, folder.chat).await;
    assert_eq!(reason, EndReason::Stop);
    assert!(message.is_some());
    engine.backup().await.unwrap();
    assert_eq!(canary_in(folder.dir.path()), [""; 0], "while it is open");
    let status = engine.protection_status().await.unwrap();
    assert_eq!(
        (status.protected, status.plain_leftovers),
        (true, Vec::new())
    );
    assert!(engine.check_data().await.unwrap().ok);
    close(engine).await;
    assert_eq!(canary_in(folder.dir.path()), [""; 0]);
    let engine = folder.open().await;
    let messages = engine.whole_chat(folder.chat).await.unwrap().page.messages;
    assert!(messages.len() >= 4, "{messages:?}");
    close(engine).await;
}

#[tokio::test]
async fn wrong_secrets_are_told_from_a_damaged_key_file() {
    let (folder, code) = Folder::protected().await;
    let wrong = folder.unlock(passphrase("sperm oil")).await.unwrap_err();
    assert!(matches!(wrong, UnlockError::Wrong { .. }), "{wrong}");
    let empty = folder.unlock(passphrase(" ")).await.unwrap_err();
    assert!(matches!(empty, UnlockError::Malformed { .. }), "{empty}");
    let keychain = folder.unlock(UnlockSecret::Keychain).await.unwrap_err();
    assert!(
        matches!(keychain, UnlockError::Missing { .. }),
        "{keychain}"
    );
    folder
        .unlock(UnlockSecret::RecoveryCode(code))
        .await
        .unwrap();
    let plain = Folder::plain().await;
    let none = plain.unlock(passphrase(PASSPHRASE)).await.unwrap_err();
    assert!(matches!(none, UnlockError::NotProtected { .. }), "{none}");

    for (path, _) in folder.key_file_copies() {
        fs::remove_file(path).unwrap();
    }
    fs::write(folder.key_file(), "{").unwrap();
    let damaged = folder.unlock(passphrase("sperm oil")).await.unwrap_err();
    assert!(matches!(damaged, UnlockError::Damaged { .. }), "{damaged}");
}

#[tokio::test]
async fn damaged_key_file_replaces_no_whole_copy() {
    let (folder, code) = Folder::protected().await;
    let copies = folder.key_file_copies();
    assert_eq!(copies.len(), 1);
    let mut file: Value = serde_json::from_slice(&fs::read(folder.key_file()).unwrap()).unwrap();
    file["recovery_code"]["wrapped"] = json!("00");
    fs::write(folder.key_file(), file.to_string()).unwrap();

    let engine = folder.open().await;
    let status = engine.protection_status().await.unwrap();
    assert!(status.key_file_problem.is_some(), "{status:?}");
    engine.backup().await.unwrap();
    close(engine).await;
    assert_eq!(folder.key_file_copies(), copies);
    folder
        .unlock(UnlockSecret::RecoveryCode(code))
        .await
        .unwrap();
}

#[tokio::test]
async fn decryption_without_the_second_place_keeps_the_key() {
    let folder = Folder::plain().await;
    let second = tempfile::tempdir().unwrap();
    let engine = folder.open_with(None).await;
    engine
        .set_second_place(second.path().to_owned())
        .await
        .unwrap();
    engine.backup().await.unwrap();
    close(engine).await;
    let prepared = Engine::prepare_protection(secret(PASSPHRASE))
        .await
        .unwrap();
    let code = prepared.recovery_code();
    Engine::protect(&folder.options(None), prepared, code)
        .await
        .unwrap();
    let keys = folder.unlock(passphrase(PASSPHRASE)).await.unwrap();
    fs::rename(second.path(), second.path().with_extension("away")).unwrap();

    let report = Engine::unprotect(&folder.options(None), keys)
        .await
        .unwrap();
    assert!(report.second_place_missing);
    assert_eq!(folder.key_file_copies().len(), 1);
    let engine = folder.open_with(None).await;
    assert!(engine.check_data().await.unwrap().ok);
    close(engine).await;
    fs::remove_dir_all(second.path().with_extension("away")).unwrap();
}

#[tokio::test]
async fn typed_code_must_be_the_shown_one() {
    let folder = Folder::plain().await;
    let options = folder.options(None);
    let other = Engine::prepare_protection(secret("x")).await.unwrap();
    for typed in [other.recovery_code(), secret("CNK6C")] {
        let prepared = Engine::prepare_protection(secret(PASSPHRASE))
            .await
            .unwrap();
        let refused = Engine::protect(&options, prepared, typed)
            .await
            .unwrap_err();
        assert!(
            matches!(
                refused,
                ProtectError::OtherCode | ProtectError::Unlock(UnlockError::Malformed { .. })
            ),
            "{refused}"
        );
    }
    assert!(!is_protected(folder.dir.path()));
    close(folder.open_with(None).await).await;
}

#[tokio::test]
async fn an_open_folder_is_not_protected() {
    let folder = Folder::plain().await;
    let engine = folder.open_with(None).await;
    let prepared = Engine::prepare_protection(secret(PASSPHRASE))
        .await
        .unwrap();
    let code = prepared.recovery_code();
    let refused = Engine::protect(&folder.options(None), prepared, code).await;
    assert!(
        matches!(refused, Err(ProtectError::Open(OpenError::InUse { .. }))),
        "{refused:?}"
    );
    assert!(!is_protected(folder.dir.path()));
    close(engine).await;
    close(folder.open_with(None).await).await;
}

#[tokio::test]
async fn an_open_folder_stays_protected() {
    let folder = Folder::protected().await.0;
    let engine = folder.open().await;
    let keys = folder.unlock(passphrase(PASSPHRASE)).await.unwrap();
    let refused = Engine::unprotect(&folder.options(None), keys).await;
    assert!(
        matches!(refused, Err(ProtectError::Open(OpenError::InUse { .. }))),
        "{refused:?}"
    );
    close(engine).await;
    let status = Engine::protection(&folder.options(None)).await;
    assert_eq!((status.protected, status.unfinished), (true, None));
}

#[tokio::test]
async fn changed_secrets_unlock_and_old_ones_do_not() {
    let (folder, code) = Folder::protected().await;
    let engine = folder.open().await;
    let wrong = engine
        .change_passphrase(secret("sperm oil"), secret("lamp black"))
        .await;
    assert!(matches!(wrong, Err(ApiError::BadInput { .. })), "{wrong:?}");
    let changed = engine.change_passphrase(secret(PASSPHRASE), secret("lamp black"));
    changed.await.unwrap();
    let old = folder.unlock(passphrase(PASSPHRASE)).await.unwrap_err();
    assert!(matches!(old, UnlockError::Wrong { .. }), "{old}");
    folder.unlock(passphrase("lamp black")).await.unwrap();

    let reset = engine.reset_passphrase(code.clone(), secret(PASSPHRASE));
    reset.await.unwrap();
    folder.unlock(passphrase(PASSPHRASE)).await.unwrap();
    let renewed = engine
        .renew_recovery_code(secret(PASSPHRASE))
        .await
        .unwrap();
    let old = folder.unlock(UnlockSecret::RecoveryCode(code)).await;
    assert!(matches!(old, Err(UnlockError::Wrong { .. })));
    let new = UnlockSecret::RecoveryCode(renewed.code);
    folder.unlock(new).await.unwrap();
    let copies = folder.key_file_copies();
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].1, fs::read(folder.key_file()).unwrap());

    let no_keychain = engine.set_unlock_at_login(true, secret(PASSPHRASE)).await;
    assert!(
        matches!(no_keychain, Err(ApiError::Keychain { .. })),
        "{no_keychain:?}"
    );
    close(engine).await;
}

#[tokio::test]
async fn unprotecting_gives_a_plain_folder() {
    let folder = Folder::protected().await.0;
    let keys = folder.unlock(passphrase(PASSPHRASE)).await.unwrap();
    let report = Engine::unprotect(&folder.options(None), keys)
        .await
        .unwrap();
    assert_eq!((report.databases, report.failed), (2, Vec::new()));
    assert!(!is_protected(folder.dir.path()));
    assert!(folder.key_file_copies().is_empty());
    assert!(!canary_in(folder.dir.path()).is_empty());
    let engine = folder.open_with(None).await;
    assert!(engine.check_data().await.unwrap().ok);
    close(engine).await;
}

#[tokio::test]
async fn interrupted_encryption_is_finished_at_opening() {
    let folder = Folder::plain().await;
    let plain = folder.backups();
    folder.protect().await;
    // As if the process was killed before the backup was encrypted.
    for (path, _) in folder.backups() {
        fs::remove_file(path).unwrap();
    }
    for (path, bytes) in plain {
        fs::write(path, bytes).unwrap();
    }
    folder.interrupt("on");
    assert!(!canary_in(folder.dir.path()).is_empty());
    let status = Engine::protection(&folder.options(None)).await;
    assert_eq!(status.unfinished, Some(UnfinishedConversion::Encrypting));

    let engine = folder.open().await;
    let notices = engine.startup().await.unwrap().notices;
    assert!(
        notices.iter().any(|notice| notice.contains("encryption")),
        "{notices:?}"
    );
    let status = engine.protection_status().await.unwrap();
    assert_eq!(status.unfinished, None);
    close(engine).await;
    assert_eq!(canary_in(folder.dir.path()), [""; 0]);
}

#[tokio::test]
async fn interrupted_decryption_is_finished_at_opening() {
    let folder = Folder::protected().await.0;
    folder.interrupt("off");
    let status = Engine::protection(&folder.options(None)).await;
    assert_eq!(status.unfinished, Some(UnfinishedConversion::Decrypting));
    close(folder.open().await).await;
    assert!(!is_protected(folder.dir.path()));
    close(folder.open_with(None).await).await;
}

#[tokio::test]
async fn encryption_stopped_before_the_database_is_finished() {
    let folder = Folder::plain().await;
    let database = folder.dir.path().join("inglenook.db");
    let plain = fs::read(&database).unwrap();
    folder.protect().await;
    fs::write(&database, plain).unwrap();
    folder.interrupt("on");
    let keys = folder.unlock(passphrase(PASSPHRASE)).await.unwrap();
    let report = keys.finish_conversion(&folder.options(None)).await;
    assert_eq!(report.unwrap().unwrap().databases, 1);
    assert_eq!(canary_in(folder.dir.path()), [""; 0]);
    close(folder.open().await).await;
}
