//! Encryption at rest of a data folder that no engine has open.

use crate::api::{ProtectionReport, ProtectionStatus, SecretText};
use crate::base::options::Options;
use crate::base::protection::error::UnlockError;
use crate::base::protection::key_files::KeyFiles;
use crate::base::protection::prepare::{self, PreparedProtection};
use crate::base::protection::protect_error::ProtectError;
use crate::base::protection::unlock::{self, UnlockSecret, UnlockedFolder};
use crate::base::protection::{blocking, convert, status};
use crate::base::secrets::Secrets;
use crate::operations::engine::Engine;

impl Engine {
    /// Whether a data folder is protected, open or not. Needs no passphrase.
    pub async fn protection(options: &Options) -> ProtectionStatus {
        let dir = options.data_dir.clone();
        let read = tokio::task::spawn_blocking(move || status::status(&dir));
        read.await.unwrap_or_default()
    }

    /// Unlocks a protected data folder, for [`Options::keys`]. Takes about half a second with a
    /// passphrase.
    ///
    /// # Errors
    /// [`UnlockError`] tells a wrong secret from a damaged key file.
    pub async fn unlock(
        options: &Options,
        secret: UnlockSecret,
    ) -> Result<UnlockedFolder, UnlockError> {
        let files = KeyFiles::of(&options.data_dir);
        let find_secrets: fn() -> Secrets = if options.without_keychain {
            Secrets::for_session
        } else {
            Secrets::find
        };
        blocking(move || unlock::unlock(&files, &secret, find_secrets).map(UnlockedFolder::from))
            .await
    }

    /// Makes the keys of a folder that is about to be protected, and its recovery code. Nothing is
    /// written. Takes about a second.
    ///
    /// # Errors
    /// The text is no passphrase, or memory or random bytes are missing.
    pub async fn prepare_protection(
        passphrase: SecretText,
    ) -> Result<PreparedProtection, UnlockError> {
        blocking(move || prepare::prepare(&passphrase)).await
    }

    /// Encrypts a data folder. The engine must be closed. `typed_code` is the recovery code, which
    /// the user has typed or stored.
    ///
    /// # Errors
    /// [`ProtectError`]. After a kill or an error, [`Engine::open`] with the keys, or
    /// [`UnlockedFolder::finish_conversion`], finishes the work.
    pub async fn protect(
        options: &Options,
        prepared: PreparedProtection,
        typed_code: SecretText,
    ) -> Result<ProtectionReport, ProtectError> {
        let options = options.clone();
        blocking(move || convert::protect(&options, prepared, &typed_code)).await
    }

    /// Decrypts a data folder and removes its key file. The engine must be closed.
    ///
    /// # Errors
    /// [`ProtectError`]. After a kill or an error, [`Engine::open`] with the keys, or
    /// [`UnlockedFolder::finish_conversion`], finishes the work.
    pub async fn unprotect(
        options: &Options,
        unlocked: UnlockedFolder,
    ) -> Result<ProtectionReport, ProtectError> {
        let options = options.clone();
        blocking(move || convert::unprotect(&options, &unlocked)).await
    }
}
