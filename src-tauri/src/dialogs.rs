//! Questions and messages in dialogs of the system, for when there is no page to show them.

use tauri::AppHandle;
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind, MessageDialogResult};
use tokio::sync::oneshot;

/// Says that something failed. The app goes on meanwhile.
pub(crate) fn tell(app: &AppHandle, title: &str, message: &str) {
    app.dialog().message(message).title(title).kind(MessageDialogKind::Error).show(|_| {});
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
    let dialog = app.dialog().message(message).title(title).kind(MessageDialogKind::Error).buttons(buttons);
    dialog.show_with_result(move |result| {
        tell.send(result).ok();
    });
    match told.await {
        Ok(MessageDialogResult::Custom(chosen)) => ways.iter().position(|way| *way == chosen).unwrap_or(last),
        Ok(MessageDialogResult::Ok | MessageDialogResult::Yes) => 0,
        Ok(MessageDialogResult::No) => 1.min(last),
        Ok(MessageDialogResult::Cancel) | Err(_) => last,
    }
}
