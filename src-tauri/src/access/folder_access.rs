//! Whether the data folder is locked, being opened, converted or open, and the keys on their way
//! from the page to the engine.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use engine::api::{ApiError, ProtectionStatus, SecretText, UnfinishedConversion};
use engine::{
    Engine, Options, PreparedProtection, UnlockError, UnlockSecret, UnlockedFolder, WrongTries,
};
use serde::Serialize;
use tokio::sync::watch;

/// The access to the data folder, as the page sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(
    tag = "state",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum AccessState {
    Opening,
    Locked {
        unlock_at_login: bool,
        /// Why the folder needs attention, such as a damaged key file.
        problem: Option<String>,
        /// Remaining seconds until another try, after several wrong ones.
        wait_seconds: u64,
    },
    Converting {
        encrypting: bool,
    },
    /// The folder was encrypted or decrypted in this process. Only a restart goes on.
    Converted,
    Open,
}

/// The access to the data folder. The keys of an open folder are only in its engine.
pub(crate) struct FolderAccess {
    /// Options of the engine, without keys.
    options: Options,
    state: watch::Sender<AccessState>,
    tries: Mutex<WrongTries>,
    /// One secret is checked at a time, so that tries in parallel are counted.
    checking: tokio::sync::Mutex<()>,
    keys: watch::Sender<Option<UnlockedFolder>>,
    prepared: Mutex<Option<PreparedProtection>>,
}

impl FolderAccess {
    /// A protected folder begins locked, except while the keychain is asked for its key.
    pub(crate) fn new(options: Options, status: &ProtectionStatus, may_ask_keychain: bool) -> Self {
        let asks_keychain = may_ask_keychain && status.unlock_at_login;
        let state = if status.protected && !asks_keychain {
            locked(status, None)
        } else {
            AccessState::Opening
        };
        Self {
            options,
            state: watch::Sender::new(state),
            tries: Mutex::default(),
            checking: tokio::sync::Mutex::default(),
            keys: watch::Sender::new(None),
            prepared: Mutex::default(),
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Whether the folder is protected now. A conversion changes it.
    pub(crate) fn is_protected(&self) -> bool {
        engine::is_protected(&self.options.data_dir)
    }

    /// The state now, with the seconds that remain.
    pub(crate) fn state(&self) -> AccessState {
        let state = self.state.borrow().clone();
        match state {
            AccessState::Locked {
                unlock_at_login,
                problem,
                ..
            } => AccessState::Locked {
                unlock_at_login,
                problem,
                wait_seconds: self.tries().wait_seconds(Instant::now()),
            },
            other => other,
        }
    }

    pub(crate) fn set(&self, state: AccessState) {
        self.state.send_replace(state);
    }

    /// Changes with the state, and after each wrong try.
    pub(crate) fn changes(&self) -> watch::Receiver<AccessState> {
        self.state.subscribe()
    }

    /// Ends when another secret may be tried; never if none has to wait.
    pub(crate) async fn wait_over(&self) {
        let wait = self.tries().wait(Instant::now());
        if wait.is_zero() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(wait).await;
    }

    /// Unlocks the folder with a secret that the user gives. The engine is opened then.
    ///
    /// # Errors
    /// `BadInput` for a wrong secret, and for one that comes too early; it is not checked.
    pub(crate) async fn unlock(&self, secret: UnlockSecret) -> Result<(), ApiError> {
        let _turn = self.checking.lock().await;
        if !self.is_locked() {
            return Ok(());
        }
        self.tries().refuse_early(Instant::now())?;
        let is_typed = !matches!(secret, UnlockSecret::Keychain);
        match Engine::unlock(&self.options, secret).await {
            Ok(keys) => {
                self.tries().forget();
                self.set(AccessState::Opening);
                self.keys.send_replace(Some(keys));
                Ok(())
            }
            Err(error) => {
                if is_typed && matches!(error, UnlockError::Wrong { .. }) {
                    self.tries().record(Instant::now());
                    self.state.send_modify(|_| {});
                }
                Err(error.into())
            }
        }
    }

    /// Locks the folder, and waits until the page gives the keys. `problem` says why the keys that
    /// were there do not help.
    pub(crate) async fn keys_from_page(&self, problem: Option<String>) -> UnlockedFolder {
        let status = Engine::protection(&self.options).await;
        self.set(locked(&status, problem));
        loop {
            // Cannot fail while `self` holds the sender.
            self.keys.subscribe().wait_for(Option::is_some).await.ok();
            if let Some(keys) = self.keys.send_replace(None) {
                return keys;
            }
        }
    }

    /// Makes new keys for a folder that is about to be encrypted. They replace those before.
    ///
    /// # Errors
    /// `BadInput` if the text is no passphrase.
    pub(crate) async fn prepare(&self, passphrase: SecretText) -> Result<SecretText, ApiError> {
        let prepared = Engine::prepare_protection(passphrase).await?;
        let code = prepared.recovery_code();
        *self.prepared() = Some(prepared);
        Ok(code)
    }

    pub(crate) fn forget_prepared(&self) {
        *self.prepared() = None;
    }

    /// Takes the prepared keys if `code` is their recovery code, and begins the conversion.
    ///
    /// # Errors
    /// `BadInput` for another code. The keys stay then.
    pub(crate) fn begin_encrypting(
        &self,
        code: &SecretText,
    ) -> Result<PreparedProtection, ApiError> {
        let mut kept = self.prepared();
        let prepared = kept.as_ref().ok_or_else(nothing_prepared)?;
        prepared.check_code(code)?;
        self.begin_converting(true)?;
        kept.take().ok_or_else(nothing_prepared)
    }

    /// Begins a conversion of the open folder.
    ///
    /// # Errors
    /// `Busy` if the folder is not open, such as during another conversion.
    pub(crate) fn begin_converting(&self, encrypting: bool) -> Result<(), ApiError> {
        let begun = self.state.send_if_modified(|state| {
            let is_open = *state == AccessState::Open;
            if is_open {
                *state = AccessState::Converting { encrypting };
            }
            is_open
        });
        if begun { Ok(()) } else { Err(not_open()) }
    }

    fn is_locked(&self) -> bool {
        matches!(*self.state.borrow(), AccessState::Locked { .. })
    }

    fn tries(&self) -> MutexGuard<'_, WrongTries> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn prepared(&self) -> MutexGuard<'_, Option<PreparedProtection>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(status: &ProtectionStatus, problem: Option<String>) -> AccessState {
    AccessState::Locked {
        unlock_at_login: status.unlock_at_login,
        problem: problem.or_else(|| problem_of(status)),
        wait_seconds: 0,
    }
}

fn problem_of(status: &ProtectionStatus) -> Option<String> {
    let unfinished = status.unfinished.map(|unfinished| match unfinished {
        UnfinishedConversion::Encrypting => {
            "Encrypting your data was interrupted. It goes on when you unlock it."
        }
        UnfinishedConversion::Decrypting => {
            "Decrypting your data was interrupted. It goes on when you unlock it."
        }
    });
    status
        .key_file_problem
        .clone()
        .or_else(|| unfinished.map(str::to_owned))
}

fn nothing_prepared() -> ApiError {
    ApiError::BadInput {
        message: "There are no new keys to encrypt your data with.".to_owned(),
        hint: "Choose a passphrase first.".to_owned(),
    }
}

fn not_open() -> ApiError {
    ApiError::Busy {
        message: "Your data is not open.".to_owned(),
        hint: "Wait until it is, then try again.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a key file, which no secret opens.
    fn protected(folder: &tempfile::TempDir, unlock_at_login: bool) -> FolderAccess {
        let options = Options {
            data_dir: folder.path().to_owned(),
            without_keychain: true,
            ..Options::default()
        };
        let status = ProtectionStatus {
            protected: true,
            unlock_at_login,
            ..ProtectionStatus::default()
        };
        FolderAccess::new(options, &status, true)
    }

    fn passphrase(text: &str) -> UnlockSecret {
        UnlockSecret::Passphrase(SecretText::new(text.to_owned()))
    }

    #[test]
    fn protected_folder_begins_locked() {
        let folder = tempfile::tempdir().unwrap();
        assert!(protected(&folder, false).is_locked());
        let with_keychain = protected(&folder, true);
        assert_eq!(with_keychain.state(), AccessState::Opening);
        let plain = ProtectionStatus::default();
        let access = FolderAccess::new(Options::default(), &plain, true);
        assert_eq!(access.state(), AccessState::Opening);
    }

    #[test]
    fn lock_page_hears_of_an_interrupted_conversion() {
        let status = ProtectionStatus {
            protected: true,
            unlock_at_login: true,
            unfinished: Some(UnfinishedConversion::Encrypting),
            ..ProtectionStatus::default()
        };
        // `--locked` asks no keychain.
        let access = FolderAccess::new(Options::default(), &status, false);
        let shown = serde_json::to_value(access.state()).unwrap();
        assert_eq!(shown["state"], "locked");
        assert_eq!(shown["unlockAtLogin"], true);
        assert_eq!(shown["waitSeconds"], 0);
        let problem = shown["problem"].as_str().unwrap();
        assert!(problem.contains("Encrypting"), "{problem}");
        let converting = AccessState::Converting { encrypting: true };
        assert_eq!(
            serde_json::to_value(converting).unwrap(),
            serde_json::json!({ "state": "converting", "encrypting": true })
        );
    }

    #[tokio::test]
    async fn early_try_is_refused_without_a_check() {
        let folder = tempfile::tempdir().unwrap();
        let access = protected(&folder, false);
        let unchecked = access.unlock(passphrase("whale oil")).await.unwrap_err();
        assert!(!unchecked.to_string().contains("seconds"), "{unchecked}");
        for _ in 0..5 {
            access.tries().record(Instant::now());
        }
        let AccessState::Locked { wait_seconds, .. } = access.state() else {
            panic!("the folder is locked");
        };
        assert!((29..=30).contains(&wait_seconds), "{wait_seconds}");
        let early = access.unlock(passphrase("whale oil")).await.unwrap_err();
        assert!(matches!(early, ApiError::BadInput { .. }), "{early:?}");
        assert!(early.to_string().contains("seconds"), "{early}");
    }

    #[tokio::test]
    async fn conversion_needs_the_code_and_an_open_folder() {
        let access = FolderAccess::new(Options::default(), &ProtectionStatus::default(), true);
        let code = SecretText::new(String::new());
        assert_eq!(
            access.begin_encrypting(&code).unwrap_err(),
            nothing_prepared()
        );
        let passphrase = SecretText::new("whale oil".to_owned());
        let code = access.prepare(passphrase.clone()).await.unwrap();
        assert_eq!(access.begin_encrypting(&code).unwrap_err(), not_open());
        access.set(AccessState::Open);
        let other = access.prepare(passphrase).await.unwrap();
        access.begin_encrypting(&code).unwrap_err();
        assert_eq!(access.state(), AccessState::Open);
        access.begin_encrypting(&other).unwrap();
        assert_eq!(access.state(), AccessState::Converting { encrypting: true });
    }
}
