//! Progress of downloads in the task bar or the dock, where the system has one.

use std::collections::BTreeMap;

use engine::api::{Download, DownloadState, Event};
use tauri::window::{ProgressBarState, ProgressBarStatus};
use tauri::{AppHandle, Manager};

use crate::window;

/// The downloads that are not complete, by id.
#[derive(Default)]
pub(crate) struct TaskBar {
    downloads: BTreeMap<String, Download>,
}

impl TaskBar {
    /// Follows an event. Returns the share of all downloads in percent, with whether one runs;
    /// `None` if the event changes nothing.
    fn follow(&mut self, event: &Event) -> Option<Shown> {
        match event {
            Event::Downloading { download } => {
                drop(self.downloads.insert(download.id.clone(), download.clone()))
            }
            Event::DownloadEnded { id, .. } => drop(self.downloads.remove(id)),
            _ => return None,
        }
        Some(self.shown())
    }

    fn shown(&self) -> Shown {
        let is = |state| {
            self.downloads
                .values()
                .any(|download| download.state == state)
        };
        let total: u64 = self
            .downloads
            .values()
            .filter_map(|download| download.total)
            .sum();
        let done: u64 = self
            .downloads
            .values()
            .filter(|download| download.total.is_some())
            .map(|one| one.done)
            .sum();
        let percent = (done.min(total) * 100).checked_div(total).unwrap_or(0);
        if self.downloads.is_empty() {
            Shown::Nothing
        } else if is(DownloadState::Failed) {
            Shown::Failed(percent)
        } else if self
            .downloads
            .values()
            .all(|download| download.state == DownloadState::Paused)
        {
            Shown::Paused(percent)
        } else {
            Shown::Running(percent)
        }
    }

    /// Shows the state after `event`.
    pub(crate) fn show(&mut self, app: &AppHandle, event: &Event) {
        let (Some(shown), Some(window)) =
            (self.follow(event), app.get_webview_window(window::LABEL))
        else {
            return;
        };
        let (status, percent) = match shown {
            Shown::Nothing => (ProgressBarStatus::None, 0),
            Shown::Running(percent) => (ProgressBarStatus::Normal, percent),
            Shown::Paused(percent) => (ProgressBarStatus::Paused, percent),
            Shown::Failed(percent) => (ProgressBarStatus::Error, percent),
        };
        let state = ProgressBarState {
            status: Some(status),
            progress: Some(percent),
        };
        if let Err(error) = window.set_progress_bar(state) {
            tracing::debug!(%error, "the task bar shows no progress");
        }
    }
}

/// The state of the task bar, with a share in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Running(u64),
    Paused(u64),
    Failed(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn download(id: &str, done: u64, state: DownloadState) -> Event {
        let download = Download {
            id: id.into(),
            repo: "a/b".into(),
            file: "b.gguf".into(),
            licence: None,
            state,
            done,
            total: Some(100),
            speed: None,
            seconds_left: None,
            reason: String::new(),
            hint: String::new(),
            retry_in: None,
            makes_default: false,
        };
        Event::Downloading { download }
    }

    #[test]
    fn task_bar_sums_all_downloads() {
        let mut bar = TaskBar::default();
        assert_eq!(bar.follow(&Event::Missed), None);
        assert_eq!(
            bar.follow(&download("a", 50, DownloadState::Running)),
            Some(Shown::Running(50))
        );
        assert_eq!(
            bar.follow(&download("b", 10, DownloadState::Paused)),
            Some(Shown::Running(30))
        );
        assert_eq!(
            bar.follow(&download("a", 50, DownloadState::Failed)),
            Some(Shown::Failed(30))
        );
        let end = |id: &str| Event::DownloadEnded {
            id: id.into(),
            name: String::new(),
            model: None,
            makes_default: false,
        };
        assert_eq!(bar.follow(&end("a")), Some(Shown::Paused(10)));
        assert_eq!(bar.follow(&end("b")), Some(Shown::Nothing));
    }
}
