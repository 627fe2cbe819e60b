//! Protection of the open data folder: its status, and the ways to unlock it.

use crate::api::{ApiError, NewRecoveryCode, ProtectionStatus, SecretText};
use crate::base::error::{ApiResult, internal};
use crate::base::handle::Base;
use crate::base::protection::key_files::KeyFiles;
use crate::base::protection::unlock::UnlockSecret;
use crate::base::protection::{blocking, convert, rewrite, status};
use crate::settings::keychain::Keychain;

/// The protection of the data folder. Clones share one state.
#[derive(Clone)]
pub(crate) struct Protection {
    base: Base,
    keychain: Keychain,
}

impl Protection {
    pub(super) fn new(base: &Base, keychain: &Keychain) -> Self {
        Self {
            base: base.clone(),
            keychain: keychain.clone(),
        }
    }

    pub(crate) async fn protection_status(&self) -> ApiResult<ProtectionStatus> {
        let dir = self.base.store().dir().to_owned();
        let unlocked = self.base.keys().cloned();
        let read = tokio::task::spawn_blocking(move || {
            let status = status::status(&dir);
            ProtectionStatus {
                plain_leftovers: unlocked
                    .map(|unlocked| convert::plain_leftovers(&dir, &unlocked))
                    .unwrap_or_default(),
                ..status
            }
        });
        read.await
            .map_err(|_| internal("the status of the protection could not be read"))
    }

    /// # Errors
    /// `BadInput` if the old passphrase is wrong, or the new one cannot be a passphrase.
    pub(crate) async fn change_passphrase(
        &self,
        old: SecretText,
        new: SecretText,
    ) -> ApiResult<()> {
        self.set_passphrase(UnlockSecret::Passphrase(old), new)
            .await
    }

    /// # Errors
    /// `BadInput` if the code is wrong, or the new passphrase cannot be one.
    pub(crate) async fn reset_passphrase(
        &self,
        code: SecretText,
        new: SecretText,
    ) -> ApiResult<()> {
        self.set_passphrase(UnlockSecret::RecoveryCode(code), new)
            .await
    }

    async fn set_passphrase(&self, current: UnlockSecret, new: SecretText) -> ApiResult<()> {
        let files = self.key_files();
        let changed = blocking(move || rewrite::change_passphrase(&files, &current, &new));
        Ok(changed.await?)
    }

    /// # Errors
    /// `BadInput` if the passphrase is wrong.
    pub(crate) async fn renew_recovery_code(
        &self,
        passphrase: SecretText,
    ) -> ApiResult<NewRecoveryCode> {
        let files = self.key_files();
        let current = UnlockSecret::Passphrase(passphrase);
        let code = blocking(move || rewrite::renew_recovery_code(&files, &current)).await?;
        Ok(NewRecoveryCode { code })
    }

    /// # Errors
    /// `BadInput` if the passphrase is wrong; `Keychain` if this system has none.
    pub(crate) async fn set_unlock_at_login(
        &self,
        on: bool,
        passphrase: SecretText,
    ) -> ApiResult<()> {
        let files = self.key_files();
        let current = UnlockSecret::Passphrase(passphrase);
        self.keychain
            .with_secrets(move |secrets| {
                rewrite::set_unlock_at_login(&files, secrets, on, &current).map_err(ApiError::from)
            })
            .await
    }

    fn key_files(&self) -> KeyFiles {
        KeyFiles::of(self.base.store().dir())
    }
}
