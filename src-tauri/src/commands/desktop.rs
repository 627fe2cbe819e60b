//! Commands that join the page with the desktop: files that other programs ask to import,
//! notifications, the data folder.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::api::ApiError;
use notify_rust::Notification;
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager, State, WebviewWindow};

use crate::clipboard;
use crate::closing::Closing;
use crate::core::Core;
use crate::files;
use crate::openings::Openings;

/// Maximum length of a notification's text, in characters.
const MAX_TEXT: usize = 200;

/// Sends the paths that wait for the user's answer, now and whenever they change, until the page is
/// closed.
#[tauri::command]
pub(crate) async fn watch_openings(
    core: State<'_, Core>,
    openings: State<'_, Openings>,
    paths: Channel<Vec<String>>,
) -> Result<(), ApiError> {
    let mut page = core.page_changes();
    let mut changes = openings.changes();
    let shown = openings.shown();
    if !shown.is_empty() && paths.send(shown).is_err() {
        return Ok(());
    }
    loop {
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() || paths.send(openings.shown()).is_err() {
                    return Ok(());
                }
            }
            _ = page.changed() => return Ok(()),
        }
    }
}

/// Imports the first `shown` files that wait, or forgets them.
#[tauri::command]
pub(crate) async fn answer_openings(
    app: AppHandle,
    openings: State<'_, Openings>,
    accept: bool,
    shown: usize,
) -> Result<(), ApiError> {
    let taken = openings.take(shown);
    if accept {
        files::import(&app, taken);
    }
    Ok(())
}

/// Sends one message when the app is closing, so that the page saves what was typed. Ends with the
/// page.
#[tauri::command]
pub(crate) async fn watch_closing(
    core: State<'_, Core>,
    closing: State<'_, Closing>,
    requests: Channel<()>,
) -> Result<(), ApiError> {
    let mut page = core.page_changes();
    let mut asked = closing.requests();
    let is_asked = async { asked.wait_for(|asked| *asked).await.is_ok() };
    let is_closing = tokio::select! {
        is_asked = is_asked => is_asked,
        _ = page.changed() => false,
    };
    // A page that cannot be reached has nothing to wait for.
    if is_closing && requests.send(()).is_err() {
        closing.page_saved();
    }
    Ok(())
}

/// Says that the page has saved everything, so that the app can close.
#[tauri::command]
pub(crate) async fn page_saved(closing: State<'_, Closing>) -> Result<(), ApiError> {
    closing.page_saved();
    Ok(())
}

/// The picture in the clipboard as a PNG in base64; `null` if there is none.
#[tauri::command]
pub(crate) async fn clipboard_picture(app: AppHandle) -> Result<Option<String>, ApiError> {
    clipboard::picture(&app)
        .await
        .map(|png| png.map(|png| BASE64_STANDARD.encode(png)))
}

/// Shows a notification of the desktop, unless the window is in front. A click on it brings the
/// window to the front.
#[tauri::command]
pub(crate) async fn notify(
    window: WebviewWindow,
    title: String,
    text: String,
) -> Result<(), ApiError> {
    // An unknown state counts as in front: a missing notification is better than one over the chat.
    if window.is_focused().unwrap_or(true) {
        return Ok(());
    }
    let app = window.app_handle().clone();
    tauri::async_runtime::spawn_blocking(move || show(&app, &shortened(&title), &body(&text)));
    Ok(())
}

fn show(app: &AppHandle, title: &str, text: &str) {
    let mut notification = Notification::new();
    notification.appname("Inglenook").summary(title).body(text);
    #[cfg(all(unix, not(target_os = "macos")))]
    notification
        .action("default", "Open")
        .icon("org.inglenook.app");
    match notification.show() {
        #[cfg(all(unix, not(target_os = "macos")))]
        Ok(shown) => shown.wait_for_action(|action| {
            if action == "default" {
                crate::window::focus(app);
            }
        }),
        #[cfg(not(all(unix, not(target_os = "macos"))))]
        Ok(_) => _ = app,
        Err(error) => tracing::debug!(%error, "the desktop shows no notification"),
    }
}

/// One line of plain text.
fn shortened(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_TEXT)
        .collect()
}

/// The body of a notification as one line. Only desktops of the freedesktop specification read
/// markup, and only in the body.
fn body(text: &str) -> String {
    let plain = shortened(text);
    if cfg!(all(unix, not(target_os = "macos"))) {
        plain
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    } else {
        plain
    }
}

/// Opens the data folder in the file manager.
#[tauri::command]
pub(crate) async fn open_data_folder(core: State<'_, Core>) -> Result<(), ApiError> {
    open_folder(&core.engine().await.data_folder())
}

/// Opens a folder in the file manager.
pub(super) fn open_folder(folder: &Path) -> Result<(), ApiError> {
    let program = if cfg!(windows) {
        "explorer"
    } else if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    // The exit status is ignored: the file manager outlives the command, and Windows Explorer
    // reports failure on success.
    std::process::Command::new(program)
        .arg(folder)
        .spawn()
        .map(drop)
        .map_err(|error| ApiError::Storage {
            message: format!(
                "The folder {} could not be shown: {error}.",
                folder.display()
            ),
            hint: "Open it in your file manager.".into(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notification_is_one_short_plain_line() {
        assert_eq!(shortened("A & B\n<b>hi</b>"), "A & B <b>hi</b>");
        let escaped = "She says &lt;b&gt;hi&lt;/b&gt; &amp; waves";
        let shown = if cfg!(all(unix, not(target_os = "macos"))) {
            escaped
        } else {
            "She says <b>hi</b> & waves"
        };
        assert_eq!(body("She\nsays <b>hi</b> & waves"), shown);
        assert_eq!(shortened(&"long ".repeat(500)).chars().count(), MAX_TEXT);
    }
}
