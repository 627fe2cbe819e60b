//! Locks the app: lets replies end, and restarts it with a locked data folder.

use std::time::Duration;

use engine::api::ApiError;
use tauri::{AppHandle, Manager};

use crate::access::folder_access::{AccessState, FolderAccess};
use crate::access::lock_conditions::LockConditions;
use crate::closing::{self, NextStart};

/// Maximum time for running replies. A reply that takes longer is stopped, and its text is stored.
const REPLY_PATIENCE: Duration = Duration::from_secs(120);

/// Whether running replies may end first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyWait {
    BySetting,
    /// They may not, because the computer goes to sleep, or they had their time.
    Never,
}

/// Locks the app, and returns whether it restarts for that. A folder that is locked already, or that
/// is being converted, stays as it is.
///
/// # Errors
/// `BadInput` if the folder is not protected.
pub(crate) async fn lock(app: &AppHandle, wait: ReplyWait) -> Result<bool, ApiError> {
    let access = app.state::<FolderAccess>();
    if !access.is_protected() {
        return Err(not_protected());
    }
    if let AccessState::Locked { .. } | AccessState::Converting { .. } = access.state() {
        return Ok(false);
    }
    if wait == ReplyWait::BySetting {
        let_replies_end(app).await;
    }
    closing::restart(app, NextStart::Locked);
    Ok(true)
}

/// Locks the app for another program, which cannot show an error.
pub(crate) fn lock_in_background(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Err(error) = lock(&app, ReplyWait::BySetting).await {
            tracing::warn!(%error, "the app was not locked");
        }
    });
}

/// Waits for running replies if the settings say so.
pub(super) async fn let_replies_end(app: &AppHandle) {
    let conditions = app.state::<LockConditions>();
    if !conditions.rules().finish_replies {
        return;
    }
    let ended = conditions.replies.all_ended();
    if tokio::time::timeout(REPLY_PATIENCE, ended).await.is_err() {
        tracing::warn!(
            seconds = REPLY_PATIENCE.as_secs(),
            "a reply did not end in time"
        );
    }
}

fn not_protected() -> ApiError {
    ApiError::BadInput {
        message: "Your data is not encrypted, so there is nothing to lock.".to_owned(),
        hint: "Encrypt it first.".to_owned(),
    }
}
