//! System dialogs for questions and messages when there is no page to show them.

use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::{
    DialogExt, MessageDialogBuilder, MessageDialogButtons, MessageDialogKind, MessageDialogResult,
};
use tokio::sync::oneshot;

use crate::window;

/// Shows a failure without blocking the app.
pub(crate) fn show_error(app: &AppHandle, title: &str, message: &str) {
    message_in_front(app, title, message).show(|_| {});
}

/// Lets the user choose one of two or three options and returns its index in `ways`. Closing the
/// dialog chooses the last one.
pub(crate) async fn ask(app: &AppHandle, title: &str, message: &str, ways: &[&str]) -> usize {
    let last = ways.len().saturating_sub(1);
    let buttons = match ways {
        [one] => MessageDialogButtons::OkCustom((*one).into()),
        [first, second] => MessageDialogButtons::OkCancelCustom((*first).into(), (*second).into()),
        [first, second, third, ..] => MessageDialogButtons::YesNoCancelCustom(
            (*first).into(),
            (*second).into(),
            (*third).into(),
        ),
        [] => MessageDialogButtons::Ok,
    };
    let (sender, receiver) = oneshot::channel();
    message_in_front(app, title, message)
        .buttons(buttons)
        .show_with_result(move |result| {
            sender.send(result).ok();
        });
    match receiver.await {
        Ok(MessageDialogResult::Custom(chosen)) => {
            ways.iter().position(|way| *way == chosen).unwrap_or(last)
        }
        Ok(MessageDialogResult::Ok | MessageDialogResult::Yes) => 0,
        Ok(MessageDialogResult::No) => 1.min(last),
        Ok(MessageDialogResult::Cancel) | Err(_) => last,
    }
}

/// Creates a dialog in front of the window, if it is visible.
fn message_in_front(
    app: &AppHandle,
    title: &str,
    message: &str,
) -> MessageDialogBuilder<tauri::Wry> {
    let dialog = app
        .dialog()
        .message(message)
        .title(title)
        .kind(MessageDialogKind::Error);
    match app.get_webview_window(window::LABEL) {
        Some(window) if window.is_visible().unwrap_or(false) => dialog.parent(&window),
        _ => dialog,
    }
}
