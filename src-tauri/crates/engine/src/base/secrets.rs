//! Stores secrets of endpoints and tool servers (keys, header values, variables) in the OS
//! keychain. Without a keychain, they stay in memory until the app ends. They are never written to
//! a file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::{EndpointId, ToolServerId};
use keyring_core::{CredentialStore, Entry, Error};

use crate::api::ApiError;
use crate::base::error::{ApiResult, internal};

const SERVICE: &str = "org.inglenook.app";

/// Identifies a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Secret {
    Key(EndpointId),
    /// The endpoint's header values, as one JSON object by header name.
    Headers(EndpointId),
    /// The values of a tool server's variables or headers, as one JSON object by name.
    ToolServer(ToolServerId),
    /// The access token of the model hub.
    HubToken,
    /// The key that unlocks a protected data folder when its user logs in.
    DataFolder(u32),
}

impl Secret {
    /// Account name in the keychain.
    fn account(self) -> String {
        match self {
            Self::Key(id) => id.to_string(),
            Self::Headers(id) => format!("{id}.headers"),
            Self::ToolServer(id) => format!("{id}.tools"),
            Self::HubToken => "hub".to_owned(),
            Self::DataFolder(id) => format!("folder-{id:08x}"),
        }
    }
}

/// Stores secrets in the keychain, or in memory for this session.
pub(crate) struct Secrets {
    keychain: Option<Arc<CredentialStore>>,
    session: Mutex<HashMap<Secret, String>>,
    /// Secrets for this run only, which come before the stored ones.
    given: Mutex<HashMap<Secret, String>>,
}

impl Secrets {
    /// Finds the keychain of this system. Blocks until it answers.
    pub(crate) fn find() -> Self {
        Self {
            keychain: keychain(),
            session: Mutex::default(),
            given: Mutex::default(),
        }
    }

    /// Keeps secrets in memory, for tests and for systems without a keychain.
    pub(crate) fn for_session() -> Self {
        Self {
            keychain: None,
            session: Mutex::default(),
            given: Mutex::default(),
        }
    }

    /// Whether secrets are lost when the app closes.
    pub(crate) fn is_for_session(&self) -> bool {
        self.keychain.is_none()
    }

    /// Uses a secret until the app ends, instead of a stored one.
    pub(crate) fn give(&self, id: Secret, text: String) {
        lock(&self.given).insert(id, text);
    }

    /// The secret that was given for this run.
    pub(crate) fn given(&self, id: Secret) -> Option<String> {
        lock(&self.given).get(&id).cloned()
    }

    pub(crate) fn get(&self, id: Secret) -> ApiResult<Option<String>> {
        if let Some(given) = self.given(id) {
            return Ok(Some(given));
        }
        let Some(entry) = self.entry(id)? else {
            return Ok(self.session().get(&id).cloned());
        };
        match entry.get_password() {
            Ok(key) => Ok(Some(key)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(refused(&error)),
        }
    }

    pub(crate) fn set(&self, id: Secret, key: &str) -> ApiResult<()> {
        lock(&self.given).remove(&id);
        match self.entry(id)? {
            Some(entry) => entry.set_password(key).map_err(|error| refused(&error)),
            None => {
                self.session().insert(id, key.to_owned());
                Ok(())
            }
        }
    }

    pub(crate) fn remove(&self, id: Secret) -> ApiResult<()> {
        lock(&self.given).remove(&id);
        let Some(entry) = self.entry(id)? else {
            self.session().remove(&id);
            return Ok(());
        };
        match entry.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }

    fn entry(&self, id: Secret) -> ApiResult<Option<Entry>> {
        let Some(keychain) = &self.keychain else {
            return Ok(None);
        };
        keychain
            .build(SERVICE, &id.account(), None)
            .map(Some)
            .map_err(|error| refused(&error))
    }

    fn session(&self) -> std::sync::MutexGuard<'_, HashMap<Secret, String>> {
        lock(&self.session)
    }
}

fn lock(
    secrets: &Mutex<HashMap<Secret, String>>,
) -> std::sync::MutexGuard<'_, HashMap<Secret, String>> {
    secrets.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keychain() -> Option<Arc<CredentialStore>> {
    #[cfg(target_os = "linux")]
    let store = zbus_secret_service_keyring_store::Store::new();
    #[cfg(target_os = "macos")]
    let store = apple_native_keyring_store::keychain::Store::new();
    #[cfg(windows)]
    let store = windows_native_keyring_store::Store::new();
    match store {
        Ok(store) => Some(store),
        Err(error) => {
            tracing::info!(%error, "no keychain; keys are kept for this session only");
            None
        }
    }
}

fn refused(error: &Error) -> ApiError {
    tracing::warn!(%error, "the keychain returned an error");
    match error {
        Error::BadEncoding(_) | Error::Invalid(..) | Error::TooLong(..) => {
            internal("the keychain rejected a key")
        }
        _ => ApiError::Keychain {
            message: "The keychain of this system did not answer.".into(),
            hint: "Unlock it and try again.".into(),
        },
    }
}
