//! Commands that lock and unlock the data folder, and switch its encryption on and off. They work
//! while no engine is open.

use std::time::Instant;

use engine::UnlockSecret;
use engine::api::{ApiError, ProtectionReport, SecretText};
use serde::Deserialize;
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

use crate::access::conversion;
use crate::access::folder_access::{AccessState, FolderAccess};
use crate::access::lock_conditions::LockConditions;
use crate::access::locking::{self, ReplyWait};
use crate::closing::{self, NextStart};
use crate::core::Core;
use crate::shell_store::ShellStore;

/// Sends the access to the data folder, now and whenever it changes, until the page is closed.
#[tauri::command]
pub(crate) async fn watch_access(
    core: State<'_, Core>,
    folder: State<'_, FolderAccess>,
    access: Channel<AccessState>,
) -> Result<(), ApiError> {
    let mut page = core.page_changes();
    let mut changes = folder.changes();
    while access.send(folder.state()).is_ok() {
        let ends = tokio::select! {
            changed = changes.changed() => changed.is_err(),
            () = folder.wait_over() => false,
            _ = page.changed() => true,
        };
        if ends {
            break;
        }
    }
    Ok(())
}

/// The ways to unlock the data folder.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnlockKind {
    Passphrase,
    RecoveryCode,
    Keychain,
}

/// Unlocks the data folder. The keychain needs no text.
#[tauri::command]
pub(crate) async fn unlock(
    folder: State<'_, FolderAccess>,
    kind: UnlockKind,
    text: SecretText,
) -> Result<(), ApiError> {
    let secret = match kind {
        UnlockKind::Passphrase => UnlockSecret::Passphrase(text),
        UnlockKind::RecoveryCode => UnlockSecret::RecoveryCode(text),
        UnlockKind::Keychain => UnlockSecret::Keychain,
    };
    folder.unlock(secret).await
}

/// Restarts the app with a locked data folder, after running replies if the settings say so.
#[tauri::command]
pub(crate) async fn lock(app: AppHandle) -> Result<(), ApiError> {
    locking::lock(&app, ReplyWait::BySetting).await.map(drop)
}

/// Says that the user typed, clicked or scrolled.
#[tauri::command]
pub(crate) async fn mark_active(conditions: State<'_, LockConditions>) -> Result<(), ApiError> {
    conditions.mark_active(Instant::now());
    Ok(())
}

/// Makes keys for encrypting the data folder, and returns their recovery code. They stay in memory.
#[tauri::command]
pub(crate) async fn prepare_protection(
    folder: State<'_, FolderAccess>,
    passphrase: SecretText,
) -> Result<SecretText, ApiError> {
    folder.prepare(passphrase).await
}

/// Forgets the prepared keys.
#[tauri::command]
pub(crate) async fn forget_preparation(folder: State<'_, FolderAccess>) -> Result<(), ApiError> {
    folder.forget_prepared();
    Ok(())
}

/// Encrypts the data folder with the prepared keys. The user has typed their recovery code.
#[tauri::command]
pub(crate) async fn protect(
    app: AppHandle,
    code: SecretText,
) -> Result<ProtectionReport, ApiError> {
    conversion::protect(&app, code).await
}

/// Decrypts the data folder.
#[tauri::command]
pub(crate) async fn unprotect(
    app: AppHandle,
    passphrase: SecretText,
) -> Result<ProtectionReport, ApiError> {
    conversion::unprotect(&app, passphrase).await
}

/// Restarts the app after a conversion. A protected folder is locked then.
#[tauri::command]
pub(crate) async fn restart_locked(
    app: AppHandle,
    folder: State<'_, FolderAccess>,
) -> Result<(), ApiError> {
    let next = if folder.is_protected() {
        NextStart::Locked
    } else {
        NextStart::Usual
    };
    closing::restart(&app, next);
    Ok(())
}

/// The language of the page at the last start; empty follows the system.
#[tauri::command]
pub(crate) async fn saved_language(store: State<'_, ShellStore>) -> Result<String, ApiError> {
    Ok(store.language())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_names_the_ways_to_unlock() {
        for (name, expected) in [
            ("\"passphrase\"", "Passphrase"),
            ("\"recovery_code\"", "RecoveryCode"),
            ("\"keychain\"", "Keychain"),
        ] {
            let kind: UnlockKind = serde_json::from_str(name).unwrap();
            assert_eq!(format!("{kind:?}"), expected);
        }
    }
}
