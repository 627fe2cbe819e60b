//! Keys of the local API: made, limited, listed, revoked, checked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{ApiKeyId, CharacterId, Timestamp};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::api::{self, ApiGrant, ApiKeyLimits, Changed, NewApiKey};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::settings::access::Access;

/// Every key starts with it, so that people and secret scanners recognise one.
const PREFIX: &str = "inglenook_";
/// Length of a key: the prefix and 256 random bits in base64.
const LENGTH: usize = PREFIX.len() + 43;
/// Characters of a key that stay readable in the list.
const START: usize = PREFIX.len() + 4;
const MAX_KEYS: usize = 100;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 60;
/// The time of the last use is stored at most this often, in milliseconds.
const USE_INTERVAL: i64 = 60_000;

impl Access {
    /// The oldest first.
    pub(crate) async fn list_api_keys(&self) -> ApiResult<Vec<api::ApiKey>> {
        let keys = self
            .base()
            .store()
            .read(|store| store.api_keys().list())
            .await?;
        Ok(keys.into_iter().map(shown).collect())
    }

    /// Makes a key. Only its hash is stored, so the result has the only copy of the secret.
    ///
    /// # Errors
    /// `BadInput` if the name is empty, too long or taken, or if a character does not exist.
    pub(crate) async fn create_api_key(
        &self,
        name: String,
        limits: ApiKeyLimits,
    ) -> ApiResult<NewApiKey> {
        let secret = format!(
            "{PREFIX}{}",
            URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
        );
        let key = store::ApiKey {
            id: ApiKeyId(Uuid::now_v7()),
            name: checked_name(&name)?,
            hash: hash(&secret),
            start: secret.chars().take(START).collect(),
            characters: checked_characters(limits.characters)?,
            raw_models: limits.raw_models,
            read_only: limits.read_only,
            created: self.base().now(),
            last_used: None,
        };
        self.check_api_key(&key).await?;
        let row = key.clone();
        self.base()
            .store()
            .write(move |store| store.api_keys_mut().insert(&row))
            .await?;
        self.base().events().changed(Changed::Settings, None);
        Ok(NewApiKey {
            key: shown(key),
            secret,
        })
    }

    /// Changes the name and the limits of a key, at once for every later request.
    ///
    /// # Errors
    /// `NotFound`; the errors of [`Self::create_api_key`].
    pub(crate) async fn update_api_key(
        &self,
        id: ApiKeyId,
        name: String,
        limits: ApiKeyLimits,
    ) -> ApiResult<api::ApiKey> {
        let stored = self
            .base()
            .store()
            .read(move |store| store.api_keys().get(id))
            .await?;
        let key = store::ApiKey {
            name: checked_name(&name)?,
            characters: checked_characters(limits.characters)?,
            raw_models: limits.raw_models,
            read_only: limits.read_only,
            ..stored.ok_or_else(|| not_found("API key"))?
        };
        self.check_api_key(&key).await?;
        let row = key.clone();
        self.base()
            .store()
            .write(move |store| store.api_keys_mut().update(&row))
            .await?;
        self.base().events().changed(Changed::Settings, None);
        Ok(shown(key))
    }

    /// Deletes a key. Requests with it are refused from now on.
    pub(crate) async fn revoke_api_key(&self, id: ApiKeyId) -> ApiResult<()> {
        self.base()
            .store()
            .write(move |store| store.api_keys_mut().delete(id))
            .await?;
        self.base().events().changed(Changed::Settings, None);
        Ok(())
    }

    /// Rights of the key `secret`; `None` if it is not valid. Every stored hash is compared in
    /// constant time.
    pub(crate) async fn authorize_api(&self, secret: &str) -> ApiResult<Option<ApiGrant>> {
        if secret.len() != LENGTH || !secret.starts_with(PREFIX) {
            return Ok(None);
        }
        let presented = hash(secret);
        let keys = self
            .base()
            .store()
            .read(|store| store.api_keys().list())
            .await?;
        let mut found = None;
        for key in keys {
            if bool::from(key.hash.ct_eq(&presented)) {
                found = Some(key);
            }
        }
        let Some(key) = found else { return Ok(None) };
        self.note_use(&key);
        Ok(Some(ApiGrant {
            name: key.name,
            characters: key.characters,
            raw_models: key.raw_models,
            read_only: key.read_only,
        }))
    }

    /// Stores the time of the use without waiting for it, so that a full disk does not refuse the
    /// request.
    fn note_use(&self, key: &store::ApiKey) {
        let id = key.id;
        let now = self.base().now();
        if !is_due(key.last_used, now) {
            return;
        }
        let noted = self
            .base()
            .store()
            .checkpoint(move |store| store.api_keys_mut().set_last_used(id, now));
        let events = self.base().events().clone();
        tokio::spawn(async move {
            match noted.await {
                Ok(()) => events.changed(Changed::Settings, None),
                Err(error) => tracing::warn!(%error, "the use of an API key could not be stored"),
            }
        });
    }

    /// # Errors
    /// `BadInput` if another key has the name, if there are too many keys, or if a character does
    /// not exist.
    async fn check_api_key(&self, key: &store::ApiKey) -> ApiResult<()> {
        let id = key.id;
        let characters = key.characters.clone();
        let (keys, missing) = self
            .base()
            .store()
            .read(move |store| {
                let mut missing = false;
                for character in characters.iter().flatten() {
                    missing |= store.characters().get(*character)?.is_none();
                }
                Ok((store.api_keys().list()?, missing))
            })
            .await?;
        let name = key.name.to_lowercase();
        if keys
            .iter()
            .any(|other| other.id != id && other.name.to_lowercase() == name)
        {
            let message = format!("There is already a key with the name \"{}\".", key.name);
            return Err(bad_input(message, "Choose another name."));
        }
        if missing {
            return Err(bad_input(
                "The key names a character that does not exist.",
                "Choose another character.",
            ));
        }
        if keys.iter().all(|other| other.id != id) && keys.len() >= MAX_KEYS {
            return Err(bad_input(
                format!("There are already {MAX_KEYS} keys."),
                "Revoke a key that nobody uses.",
            ));
        }
        Ok(())
    }
}

fn is_due(last_used: Option<Timestamp>, now: Timestamp) -> bool {
    last_used.is_none_or(|last| now.0.saturating_sub(last.0) >= USE_INTERVAL)
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

fn checked_name(name: &str) -> ApiResult<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        let hint = format!("Use 1 to {MAX_NAME} characters, for example the name of the program.");
        return Err(bad_input("The key needs a name.", hint));
    }
    Ok(name.to_owned())
}

fn checked_characters(ids: Option<Vec<CharacterId>>) -> ApiResult<Option<Vec<CharacterId>>> {
    if ids.as_ref().is_some_and(Vec::is_empty) {
        return Err(bad_input(
            "The key allows no character.",
            "Choose at least one character, or all of them.",
        ));
    }
    Ok(ids)
}

fn shown(key: store::ApiKey) -> api::ApiKey {
    api::ApiKey {
        id: key.id,
        name: key.name,
        start: key.start,
        limits: ApiKeyLimits {
            characters: key.characters,
            raw_models: key.raw_models,
            read_only: key.read_only,
        },
        created: rfc3339(key.created),
        last_used: key.last_used.map(rfc3339),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_is_stored_once_a_minute() {
        assert!(is_due(None, Timestamp(0)));
        assert!(!is_due(Some(Timestamp(1_000)), Timestamp(60_999)));
        assert!(is_due(Some(Timestamp(1_000)), Timestamp(61_000)));
    }

    #[test]
    fn names_are_trimmed_and_limited() {
        assert_eq!(checked_name("  SillyTavern ").unwrap(), "SillyTavern");
        for wrong in ["", "  ", "a\nb", &"x".repeat(MAX_NAME + 1)] {
            assert!(checked_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
