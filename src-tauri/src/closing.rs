//! Closes the app: hides the window at once, and gives the engine time to save partial replies and end its worker.

use std::time::Duration;

use tauri::{AppHandle, Manager, RunEvent};

use crate::core::Core;
use crate::local_api::LocalApi;
use crate::window;

/// Longer than the engine's own limit of three seconds. A process without a window must not stay longer.
const PATIENCE: Duration = Duration::from_secs(4);

/// Ends the engine, then the app with `code`.
pub(crate) fn quit(app: &AppHandle, code: i32) {
    end(app, code, |app, code| app.exit(code));
}

/// Restarts the app after the engine has stopped.
pub(crate) fn restart(app: &AppHandle) {
    end(app, 0, |app, _| app.request_restart());
}

fn end(app: &AppHandle, code: i32, leave: fn(&AppHandle, i32)) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Some(window) = app.get_webview_window(window::LABEL) {
            window.hide().ok();
        }
        let end = async {
            app.state::<LocalApi>().stop().await;
            if let Some(engine) = app.state::<Core>().take() {
                engine.shutdown().await;
                // The last clone closes the database, which waits for its threads.
                tokio::task::spawn_blocking(move || drop(engine)).await.ok();
            }
        };
        if tokio::time::timeout(PATIENCE, end).await.is_err() {
            tracing::warn!(seconds = PATIENCE.as_secs(), "the engine did not stop in time");
        }
        tracing::info!(code, "exiting");
        leave(&app, code);
    });
}

/// Keeps the process alive after the last window has closed, until the engine has ended.
pub(crate) fn watch(app: &AppHandle, event: RunEvent) {
    if let RunEvent::ExitRequested { code: None, api, .. } = event {
        api.prevent_exit();
        quit(app, 0);
    }
}

/// Ends the app in order on SIGTERM and SIGINT.
#[cfg(unix)]
pub(crate) async fn watch_signals(app: AppHandle) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    quit(&app, 0);
    Ok(())
}
