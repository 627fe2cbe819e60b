//! Closes the app: lets the page save what was typed, hides the window, and gives the engine time
//! to save partial replies and end its worker.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser as _;
use installation::Installation;
use tauri::{AppHandle, Manager, RunEvent, WindowEvent};
use tokio::sync::watch;

use crate::arguments::AppArguments;
use crate::core::Core;
use crate::local_api::LocalApi;
use crate::openings::Openings;
use crate::window;

/// Longer than the engine's own limit of three seconds. A process without a window must not stay
/// longer.
const PATIENCE: Duration = Duration::from_secs(4);

/// Maximum time for the page to save. A page that hangs must not keep the app open.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);

/// The page's part in closing: it is asked to save what was typed, and says when it has.
pub(crate) struct Closing {
    begun: AtomicBool,
    asked: watch::Sender<bool>,
    saved: watch::Sender<bool>,
}

impl Closing {
    pub(crate) fn new() -> Self {
        Self {
            begun: AtomicBool::new(false),
            asked: watch::Sender::new(false),
            saved: watch::Sender::new(false),
        }
    }

    /// Becomes `true` when the page must save. Only pages that wait for it are waited for.
    pub(crate) fn requests(&self) -> watch::Receiver<bool> {
        self.asked.subscribe()
    }

    /// Records that the page has saved everything.
    pub(crate) fn page_saved(&self) {
        self.saved.send_replace(true);
    }

    /// Asks the page to save, and waits until it has, up to [`PAGE_PATIENCE`].
    async fn let_page_save(&self) {
        if self.asked.receiver_count() == 0 {
            return;
        }
        let mut saved = self.saved.subscribe();
        self.asked.send_replace(true);
        if tokio::time::timeout(PAGE_PATIENCE, saved.wait_for(|saved| *saved))
            .await
            .is_err()
        {
            tracing::warn!(
                seconds = PAGE_PATIENCE.as_secs(),
                "the page did not save in time"
            );
        }
    }
}

/// How the app starts after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStart {
    Usual,
    /// The keychain does not unlock a protected folder.
    Locked,
}

/// Ends the engine, then the app with `code`.
pub(crate) fn quit(app: &AppHandle, code: i32) {
    end(app, move |app| app.exit(code));
}

/// Restarts the app after the engine has stopped. An installation that updates itself is started
/// by its launcher, because another version may be the current one.
pub(crate) fn restart(app: &AppHandle, next: NextStart) {
    end(app, move |app| {
        let waiting = app.state::<Openings>().waiting();
        let arguments = AppArguments::parse().of_next_start(next == NextStart::Locked, waiting);
        let launcher = Installation::of_this_program().and_then(|own| launcher(&own));
        let own = tauri::process::current_binary(&app.env()).ok();
        // Otherwise the new process would only bring this one to the front.
        tauri_plugin_single_instance::destroy(app);
        let mut programs = launcher.into_iter().chain(own);
        let is_started = programs.any(|program| start(&program, &arguments));
        app.exit(i32::from(!is_started));
    });
}

/// Returns the launcher of an installation that updates itself.
fn launcher(installation: &Installation) -> Option<PathBuf> {
    let name = format!("inglenook{}", std::env::consts::EXE_SUFFIX);
    let launcher = installation.root()?.join(name);
    Some(launcher).filter(|launcher| launcher.is_file())
}

/// Returns `false` if the program does not start.
fn start(program: &Path, arguments: &[OsString]) -> bool {
    let started = Command::new(program).args(arguments).spawn().map(drop);
    if let Err(error) = &started {
        tracing::error!(%error, path = %program.display(), "the app does not start again");
    }
    started.is_ok()
}

fn end(app: &AppHandle, leave: impl FnOnce(&AppHandle) + Send + 'static) {
    // A second request, such as another click on the close button, must not cut the first short.
    if app.state::<Closing>().begun.swap(true, Ordering::SeqCst) {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        app.state::<Closing>().let_page_save().await;
        if let Some(window) = app.get_webview_window(window::LABEL) {
            window.hide().ok();
        }
        if tokio::time::timeout(PATIENCE, close_engine(&app))
            .await
            .is_err()
        {
            tracing::warn!(
                seconds = PATIENCE.as_secs(),
                "the engine did not stop in time"
            );
        }
        tracing::info!("exiting");
        leave(&app);
    });
}

/// Closes the engine, so that nothing uses the data folder. Calls of the page wait until another
/// engine is open.
pub(crate) async fn close_engine(app: &AppHandle) {
    app.state::<LocalApi>().stop().await;
    if let Some(engine) = app.state::<Core>().take() {
        engine.shutdown().await;
        // The last clone closes the database, which waits for its threads.
        tokio::task::spawn_blocking(move || drop(engine)).await.ok();
    }
}

/// Keeps the process alive after the last window has closed, until the engine has ended.
pub(crate) fn watch(app: &AppHandle, event: RunEvent) {
    if let RunEvent::ExitRequested {
        code: None, api, ..
    } = event
    {
        api.prevent_exit();
        quit(app, 0);
    }
}

/// Keeps the window open after its close button was pressed, until the page has saved.
pub(crate) fn watch_window(window: &tauri::Window, event: &WindowEvent) {
    if let WindowEvent::CloseRequested { api, .. } = event
        && window.label() == window::LABEL
    {
        api.prevent_close();
        quit(window.app_handle(), 0);
    }
}

/// Ends the app in order on SIGTERM and SIGINT.
#[cfg(unix)]
pub(crate) async fn watch_signals(app: AppHandle) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    quit(&app, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn only_folders_of_versions_have_a_launcher() {
        let root = tempfile::tempdir().unwrap();
        let of = |program: &str| launcher(&Installation::of(&root.path().join(program)).unwrap());
        assert_eq!(of("versions/0.1.0/bin/inglenook"), None);
        let name = format!("inglenook{}", std::env::consts::EXE_SUFFIX);
        std::fs::write(root.path().join(&name), "").unwrap();
        let found = of("versions/0.1.0/bin/inglenook");
        assert_eq!(found, Some(root.path().join(name)));
        assert_eq!(of("bin/inglenook"), None);
    }

    #[tokio::test]
    async fn closing_waits_for_a_page_that_saves() {
        let closing = Closing::new();
        let mut page = closing.requests();
        let save = async {
            page.wait_for(|asked| *asked).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            closing.page_saved();
        };
        let start = Instant::now();
        tokio::join!(closing.let_page_save(), save);
        assert!(start.elapsed() >= Duration::from_millis(200));
        assert!(start.elapsed() < PAGE_PATIENCE);
    }

    #[tokio::test]
    async fn closing_waits_two_seconds_at_most() {
        let closing = Closing::new();
        let start = Instant::now();
        closing.let_page_save().await;
        assert!(start.elapsed() < PAGE_PATIENCE, "no page waits");
        let _page = closing.requests();
        closing.let_page_save().await;
        assert!(start.elapsed() >= PAGE_PATIENCE);
    }
}
