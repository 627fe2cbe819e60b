//! Locks the app by itself: after a time without input, and when the computer sleeps or its session
//! is locked. The latter is known on Linux only.

use std::time::Instant;

use tauri::{AppHandle, Manager};

use crate::access::folder_access::{AccessState, FolderAccess};
use crate::access::lock_conditions::LockConditions;
use crate::access::locking::{ReplyWait, let_replies_end, lock};

/// Watches until the app ends.
pub(crate) fn start(app: &AppHandle) {
    tauri::async_runtime::spawn(lock_when_idle(app.clone()));
    #[cfg(target_os = "linux")]
    tauri::async_runtime::spawn(super::logind::watch(app.clone()));
}

/// Sleeps until the user could be idle for long enough, and looks again.
async fn lock_when_idle(app: AppHandle) {
    let access = app.state::<FolderAccess>();
    let conditions = app.state::<LockConditions>();
    let mut states = access.changes();
    let mut rules = conditions.rule_changes();
    loop {
        let changed = tokio::select! {
            () = sleep_until(idle_end(&access, &conditions)) => false,
            _ = states.changed() => true,
            _ = rules.changed() => true,
        };
        if changed || !is_idle(&access, &conditions) {
            continue;
        }
        let_replies_end(&app).await;
        // The user may have come back meanwhile.
        if !is_idle(&access, &conditions) {
            continue;
        }
        match lock(&app, ReplyWait::Never).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the app was not locked"),
        }
    }
}

/// When the app must lock itself; `None` if it never does, as things are.
fn idle_end(access: &FolderAccess, conditions: &LockConditions) -> Option<Instant> {
    let can_lock = access.state() == AccessState::Open && access.is_protected();
    conditions.idle_end().filter(|_| can_lock)
}

fn is_idle(access: &FolderAccess, conditions: &LockConditions) -> bool {
    idle_end(access, conditions).is_some_and(|end| end <= Instant::now())
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
