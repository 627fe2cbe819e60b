//! Reloads the page when the web view's own process has died. Typed text is in the engine, so the
//! new page shows it again.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tauri::{Manager, WebviewWindow};
use webkit2gtk::WebViewExt;

use crate::{closing, dialogs};

/// After more crashes within [`PERIOD`], the user decides, because a page that always crashes would
/// reload forever.
const LIMIT: usize = 3;
const PERIOD: Duration = Duration::from_secs(60);

const TITLE: &str = "The page keeps crashing";
const EXPLANATION: &str = "The process that draws this window has ended several times within a minute. Your chats and \
    the text that you typed are saved. Too little memory is the usual reason: close other programs, or choose a smaller \
    model. The logs folder in the data folder has details.";

/// Recent crashes of the page's process.
#[derive(Default)]
struct Crashes(VecDeque<Instant>);

impl Crashes {
    /// Records a crash at `now`. Returns whether there were more than [`LIMIT`] within [`PERIOD`].
    fn record(&mut self, now: Instant) -> bool {
        self.0.push_back(now);
        while self
            .0
            .front()
            .is_some_and(|first| now.duration_since(*first) > PERIOD)
        {
            self.0.pop_front();
        }
        self.0.len() > LIMIT
    }
}

/// Watches the process of the window's page.
///
/// # Errors
/// The web view does not exist.
pub(crate) fn watch(window: &WebviewWindow) -> tauri::Result<()> {
    let crashes = RefCell::new(Crashes::default());
    let window_of_page = window.clone();
    window.with_webview(move |view| {
        view.inner()
            .connect_web_process_terminated(move |_, reason| {
                tracing::error!(?reason, "the page's process has ended");
                recover(&window_of_page, crashes.borrow_mut().record(Instant::now()));
            });
    })
}

fn recover(window: &WebviewWindow, too_often: bool) {
    if too_often {
        let window = window.clone();
        tauri::async_runtime::spawn(async move {
            match dialogs::ask(window.app_handle(), TITLE, EXPLANATION, &["Reload", "Quit"]).await {
                0 => reload(&window),
                _ => closing::quit(window.app_handle(), 1),
            }
        });
    } else {
        reload(window);
    }
}

fn reload(window: &WebviewWindow) {
    if let Err(error) = window.reload() {
        tracing::error!(%error, "cannot reload the page");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frequent_crashes_are_too_many() {
        let start = Instant::now();
        let mut crashes = Crashes::default();
        let mut at = |seconds| crashes.record(start + Duration::from_secs(seconds));
        assert_eq!([0, 1, 2, 3].map(&mut at), [false, false, false, true]);
        assert_eq!(
            [90, 120, 150, 151].map(&mut at),
            [false, false, false, false]
        );
    }
}
