//! Questions and messages in dialogs of the system, for when there is no page to show them.

use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::{
    DialogExt, MessageDialogBuilder, MessageDialogButtons, MessageDialogKind, MessageDialogResult,
};
use tokio::sync::oneshot;

use crate::window;

/// Says that something failed. The app goes on meanwhile.
pub(crate) fn tell(app: &AppHandle, title: &str, message: &str) {
    message_in_front(app, title, message).show(|_| {});
}

/// Lets the user choose one of two or three ways on and returns its place in `ways`; the last one is taken when the dialog is
/// closed without a choice.
pub(crate) async fn ask(app: &AppHandle, title: &str, message: &str, ways: &[&str]) -> usize {
    let last = ways.len().saturating_sub(1);
    let buttons = match ways {
        [one] => MessageDialogButtons::OkCustom((*one).into()),
        [first, second] => MessageDialogButtons::OkCancelCustom((*first).into(), (*second).into()),
        [first, second, third, ..] => {
            MessageDialogButtons::YesNoCancelCustom((*first).into(), (*second).into(), (*third).into())
        }
        [] => MessageDialogButtons::Ok,
    };
    let (tell, told) = oneshot::channel();
    message_in_front(app, title, message).buttons(buttons).show_with_result(move |result| {
        tell.send(result).ok();
    });
    match told.await {
        Ok(MessageDialogResult::Custom(chosen)) => ways.iter().position(|way| *way == chosen).unwrap_or(last),
        Ok(MessageDialogResult::Ok | MessageDialogResult::Yes) => 0,
        Ok(MessageDialogResult::No) => 1.min(last),
        Ok(MessageDialogResult::Cancel) | Err(_) => last,
    }
}

/// A dialog in front of the window, where there is one to see.
fn message_in_front(app: &AppHandle, title: &str, message: &str) -> MessageDialogBuilder<tauri::Wry> {
    let dialog = app.dialog().message(message).title(title).kind(MessageDialogKind::Error);
    match app.get_webview_window(window::LABEL) {
        Some(window) if window.is_visible().unwrap_or(false) => dialog.parent(&window),
        _ => dialog,
    }
}
