//! Encrypts and decrypts the data folder while its engine is closed.

use engine::api::{ApiError, ProtectionReport, SecretText};
use engine::{Engine, ProtectError, UnlockSecret};
use tauri::{AppHandle, Manager};

use crate::access::folder_access::{AccessState, FolderAccess};
use crate::{closing, opening};

/// Encrypts the folder with the prepared keys, whose recovery code is `code`.
///
/// # Errors
/// `BadInput` for a wrong code; nothing is closed then. After any other error, the folder is opened
/// again.
pub(crate) async fn protect(
    app: &AppHandle,
    code: SecretText,
) -> Result<ProtectionReport, ApiError> {
    let access = app.state::<FolderAccess>();
    if access.is_protected() {
        return Err(already_protected());
    }
    let prepared = access.begin_encrypting(&code)?;
    closing::close_engine(app).await;
    let done = Engine::protect(access.options(), prepared, code.clone()).await;
    ended(app, done, UnlockSecret::RecoveryCode(code))
}

/// Decrypts the folder.
///
/// # Errors
/// As [`protect`], with the passphrase instead of the code.
pub(crate) async fn unprotect(
    app: &AppHandle,
    passphrase: SecretText,
) -> Result<ProtectionReport, ApiError> {
    let access = app.state::<FolderAccess>();
    let secret = UnlockSecret::Passphrase(passphrase);
    let unlocked = Engine::unlock(access.options(), secret.clone()).await?;
    access.begin_converting(false)?;
    closing::close_engine(app).await;
    let done = Engine::unprotect(access.options(), unlocked).await;
    ended(app, done, secret)
}

fn ended(
    app: &AppHandle,
    done: Result<ProtectionReport, ProtectError>,
    secret: UnlockSecret,
) -> Result<ProtectionReport, ApiError> {
    match done {
        Ok(report) => {
            app.state::<FolderAccess>().set(AccessState::Converted);
            Ok(report)
        }
        Err(error) => {
            tracing::error!(%error, "the data folder was not converted");
            // In the background, because it may ask the user.
            tauri::async_runtime::spawn(opening::reopen(app.clone(), secret));
            Err(error.into())
        }
    }
}

fn already_protected() -> ApiError {
    ApiError::BadInput {
        message: "Your data is encrypted already.".to_owned(),
        hint: "Restart Inglenook if it does not show that.".to_owned(),
    }
}
