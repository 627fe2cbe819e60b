//! The local API: its server, its keys, and what a key allows.

use domain::{ApiKeyId, CharacterId};
use serde::{Deserialize, Serialize};
use specta::Type;

/// Whether the app offers the local API, and on which port of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LocalApiSettings {
    pub enabled: bool,
    /// From 1 to 65535.
    pub port: u16,
}

impl LocalApiSettings {
    pub const DEFAULT_PORT: u16 = 8000;
}

impl Default for LocalApiSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            port: Self::DEFAULT_PORT,
        }
    }
}

/// The local API as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LocalApi {
    pub settings: LocalApiSettings,
    /// Address of the server, such as `http://127.0.0.1:8000`; `null` while the API is off or the
    /// server failed.
    pub address: Option<String>,
    /// The server was started with its own port, which the settings do not change.
    pub fixed_port: bool,
    /// The server was started with the API, which the settings do not switch off.
    pub always_on: bool,
    pub failure: Option<LocalApiFailure>,
}

/// Why the server of the local API could not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct LocalApiFailure {
    pub message: String,
    pub hint: String,
    /// A port that is free, if the chosen one is used by another program.
    pub free_port: Option<u16>,
}

/// The server that a front end runs for the local API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ApiServerState {
    #[default]
    Stopped,
    /// The front end follows the settings: it starts and stops the server.
    Following {
        address: String,
    },
    /// The front end serves at its own address as long as it runs. The API is on if `always` is set
    /// or the settings say so.
    Fixed {
        address: String,
        always: bool,
    },
    Failed(LocalApiFailure),
}

/// Limits of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyLimits {
    /// Ids of the only characters that it may use; `null` allows all.
    pub characters: Option<Vec<CharacterId>>,
    /// Whether it may use models without a character.
    pub raw_models: bool,
    /// It may store nothing: no message, no memory, no change.
    pub read_only: bool,
}

/// A key of the local API. The key itself is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub name: String,
    /// The first characters of the key.
    pub start: String,
    pub limits: ApiKeyLimits,
    pub created: String,
    /// To the minute; `null` if it was never used.
    pub last_used: Option<String>,
}

/// A new key, with the only copy of the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    pub key: ApiKey,
    pub secret: String,
}

/// Hides the secret, so that it cannot get into a log.
impl std::fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewApiKey")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Rights of a request to the local API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiGrant {
    /// Name of the key, for logs.
    pub name: String,
    /// Ids of the only characters that it may use; `None` allows all.
    pub characters: Option<Vec<CharacterId>>,
    /// Whether it may use models without a character.
    pub raw_models: bool,
    /// It may store nothing.
    pub read_only: bool,
}

impl ApiGrant {
    /// Everything is allowed.
    pub fn full(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            characters: None,
            raw_models: true,
            read_only: false,
        }
    }

    /// Whether anything is not allowed.
    pub fn is_limited(&self) -> bool {
        self.characters.is_some() || !self.raw_models || self.read_only
    }

    pub fn allows_character(&self, id: CharacterId) -> bool {
        self.characters
            .as_ref()
            .is_none_or(|allowed| allowed.contains(&id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grant_without_a_list_allows_all_characters() {
        let one = CharacterId(uuid::Uuid::now_v7());
        let other = CharacterId(uuid::Uuid::now_v7());
        assert!(ApiGrant::full("token").allows_character(one));
        let limited = ApiGrant {
            characters: Some(vec![one]),
            ..ApiGrant::full("key")
        };
        assert!(limited.allows_character(one) && !limited.allows_character(other));
        let none_left = ApiGrant {
            characters: Some(Vec::new()),
            ..limited
        };
        assert!(!none_left.allows_character(one));
    }
}
