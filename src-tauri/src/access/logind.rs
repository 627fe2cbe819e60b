//! Locks the app when logind reports that the computer goes to sleep or that the session is locked.
//! Sleep waits until the app has ended, within the limit of logind.

use futures_util::StreamExt as _;
use tauri::{AppHandle, Manager};
use zbus::zvariant::{OwnedFd, OwnedObjectPath};
use zbus::{Connection, Proxy};

use crate::access::folder_access::FolderAccess;
use crate::access::lock_conditions::LockConditions;
use crate::access::locking::{ReplyWait, lock};

const SERVICE: &str = "org.freedesktop.login1";
const MANAGER_PATH: &str = "/org/freedesktop/login1";
/// An alias of the session in which the app runs. Signals have the path of the session itself.
const OWN_SESSION_PATH: &str = "/org/freedesktop/login1/session/auto";
const MANAGER: &str = "org.freedesktop.login1.Manager";
const SESSION: &str = "org.freedesktop.login1.Session";

/// Watches until the app ends. Without a protected folder, a system bus or logind, it does nothing.
pub(super) async fn watch(app: AppHandle) {
    // A conversion restarts the app.
    if !app.state::<FolderAccess>().is_protected() {
        return;
    }
    let watched = async {
        let bus = Connection::system().await?;
        let manager = Proxy::new(&bus, SERVICE, MANAGER_PATH, MANAGER).await?;
        tokio::join!(
            async { note(watch_sleep(&app, &manager).await, "sleep") },
            async { note(watch_session(&app, &bus, &manager).await, "the session") },
        );
        Ok::<(), zbus::Error>(())
    };
    note(watched.await, "anything");
}

fn note(watched: zbus::Result<()>, what: &str) {
    if let Err(error) = watched {
        tracing::debug!(%error, what, "logind does not report it");
    }
}

async fn watch_sleep(app: &AppHandle, manager: &Proxy<'_>) -> zbus::Result<()> {
    let mut sleeps = manager.receive_signal("PrepareForSleep").await?;
    let mut delay = delay_sleep(manager).await;
    while let Some(signal) = sleeps.next().await {
        let begins: bool = signal.body().deserialize()?;
        delay = if !begins {
            delay_sleep(manager).await
        } else if lock_by_rule(app, ReplyWait::Never).await {
            // Held until the process has ended.
            delay
        } else {
            None
        };
    }
    drop(delay);
    Ok(())
}

async fn watch_session(app: &AppHandle, bus: &Connection, manager: &Proxy<'_>) -> zbus::Result<()> {
    let alias = Proxy::new(bus, SERVICE, OWN_SESSION_PATH, SESSION).await?;
    let id: String = alias.get_property("Id").await?;
    let path: OwnedObjectPath = manager.call("GetSession", &(id,)).await?;
    let session = Proxy::new(bus, SERVICE, path, SESSION).await?;
    let mut locks = session.receive_signal("Lock").await?;
    while locks.next().await.is_some() {
        lock_by_rule(app, ReplyWait::BySetting).await;
    }
    Ok(())
}

/// Lets sleep wait for this process, as long as the result is held.
async fn delay_sleep(manager: &Proxy<'_>) -> Option<OwnedFd> {
    let reason = ("sleep", "Inglenook", "Locks the encrypted data", "delay");
    let delay: zbus::Result<OwnedFd> = manager.call("Inhibit", &reason).await;
    delay
        .inspect_err(|error| tracing::debug!(%error, "sleep does not wait for the lock"))
        .ok()
}

/// Locks the app if the settings say so. Returns whether it restarts for that.
async fn lock_by_rule(app: &AppHandle, wait: ReplyWait) -> bool {
    if !app.state::<LockConditions>().rules().on_suspend {
        return false;
    }
    lock(app, wait)
        .await
        .inspect_err(|error| tracing::debug!(%error, "the app was not locked"))
        .unwrap_or(false)
}
