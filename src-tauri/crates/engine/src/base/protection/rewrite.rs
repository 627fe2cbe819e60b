//! Changes the ways to unlock a folder. Only the key file is written; the data key and all encrypted
//! files stay as they are.

use protection::{DataKey, KeyFile, KeychainKey, Passphrase, RecoveryCode};

use crate::api::SecretText;
use crate::base::protection::error::UnlockError;
use crate::base::protection::key_files::KeyFiles;
use crate::base::protection::prepare::measured_cost;
use crate::base::protection::unlock::{UnlockSecret, UnwrappedKey, unlock};
use crate::base::secrets::{Secret, Secrets};

/// Sets another passphrase. `current` is the old passphrase, or the recovery code.
///
/// # Errors
/// [`UnlockError`]. The old passphrase is valid then.
pub(crate) fn change_passphrase(
    files: &KeyFiles,
    current: &UnlockSecret,
    new: &SecretText,
) -> Result<(), UnlockError> {
    let passphrase = Passphrase::new(new.expose())?;
    let UnwrappedKey { key, mut file } = unlock(files, current, Secrets::for_session)?;
    file.set_passphrase(&key, &passphrase, measured_cost()?)?;
    files.replace(&file, |written| {
        verify(written, written.unlock_with_passphrase(&passphrase), files)
    })
}

/// Replaces the recovery code, and returns the new one.
///
/// # Errors
/// [`UnlockError`]. The old code is valid then.
pub(crate) fn renew_recovery_code(
    files: &KeyFiles,
    current: &UnlockSecret,
) -> Result<SecretText, UnlockError> {
    let UnwrappedKey { key, mut file } = unlock(files, current, Secrets::for_session)?;
    let code = RecoveryCode::generate()?;
    file.set_recovery_code(&key, &code)?;
    files.replace(&file, |written| {
        verify(written, written.unlock_with_recovery_code(&code), files)
    })?;
    Ok(code.text().into())
}

/// Lets a new key in the keychain unlock the folder, or removes that key.
///
/// # Errors
/// [`UnlockError`]. The folder is unlocked as before then.
pub(crate) fn set_unlock_at_login(
    files: &KeyFiles,
    secrets: &Secrets,
    on: bool,
    current: &UnlockSecret,
) -> Result<(), UnlockError> {
    let UnwrappedKey { key, mut file } = unlock(files, current, Secrets::for_session)?;
    let Some(id) = file.folder_id() else {
        return Err(UnlockError::failed(
            "the key file does not identify its folder",
        ));
    };
    let secret = Secret::DataFolder(id);
    if !on {
        file.remove_keychain_key();
        files.replace(&file, |_| Ok(()))?;
        return secrets.remove(secret).map_err(keychain);
    }
    if secrets.is_for_session() {
        return Err(UnlockError::Keychain {
            problem: "this system has no keychain".to_owned(),
        });
    }
    let new = KeychainKey::generate()?;
    file.set_keychain_key(&key, &new)?;
    let text = SecretText::from(new.text());
    secrets.set(secret, text.expose()).map_err(keychain)?;
    files.replace(&file, |written| {
        verify(written, written.unlock_with_keychain(&new), files)
    })
}

/// Checks that the written key file unlocks the same folder.
fn verify(
    written: &KeyFile,
    unlocked: Result<DataKey, protection::UnlockError>,
    files: &KeyFiles,
) -> Result<(), UnlockError> {
    let key = unlocked.map_err(|error| UnlockError::of(error, &files.path()))?;
    if written.belongs_to(&key) {
        Ok(())
    } else {
        Err(UnlockError::failed(
            "the new key file was not written as it should be",
        ))
    }
}

fn keychain(error: crate::api::ApiError) -> UnlockError {
    UnlockError::Keychain {
        problem: error.to_string(),
    }
}
