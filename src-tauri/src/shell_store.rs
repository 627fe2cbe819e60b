//! What only the window needs between two starts: where it stood, and which colours to paint it in before the page does.
//! Everything a user would miss is in the engine's database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::api::Theme;
use serde::{Deserialize, Serialize};
use tauri::{App, Wry};
use tauri_plugin_store::{Store, StoreExt};

/// Long enough for a window that is being dragged, short enough for a crash.
const SAVED_AFTER: Duration = Duration::from_millis(500);

/// Where the window stands, in physical pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) maximized: bool,
}

impl Place {
    /// Whether enough of the title bar is inside `monitor` (x, y, width, height) to be grabbed.
    pub(crate) fn is_within_reach(&self, monitor: (i32, i32, u32, u32)) -> bool {
        const GRIP: i64 = 48;
        let (left, top) = (i64::from(monitor.0), i64::from(monitor.1));
        let (right, bottom) = (left + i64::from(monitor.2), top + i64::from(monitor.3));
        let (x, y) = (i64::from(self.x), i64::from(self.y));
        let grabbable = x + i64::from(self.width) >= left + GRIP && x + GRIP <= right;
        grabbable && y + GRIP > top && y + GRIP <= bottom
    }
}

/// The shell's own small file.
pub(crate) struct ShellStore(Arc<Store<Wry>>);

impl ShellStore {
    /// # Errors
    /// When the store cannot be made. An unreadable file is not an error: it counts as empty.
    pub(crate) fn open(app: &App, data_dir: &Path) -> Result<Self, tauri_plugin_store::Error> {
        Ok(Self(app.store_builder(data_dir.join("shell.json")).auto_save(SAVED_AFTER).build()?))
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.0.get("window").and_then(|value| serde_json::from_value(value).ok())
    }

    pub(crate) fn keep_place(&self, place: Place) {
        if let Ok(value) = serde_json::to_value(place) {
            self.0.set("window", value);
        }
    }

    pub(crate) fn theme(&self) -> Theme {
        self.0.get("theme").and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    pub(crate) fn keep_theme(&self, theme: Theme) {
        if let Ok(value) = serde_json::to_value(theme) {
            self.0.set("theme", value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Place {
        Place { x, y, width: 1280, height: 820, maximized: false }
    }

    #[test]
    fn a_window_on_an_unplugged_monitor_is_out_of_reach() {
        let left_monitor = (0, 0, 1920, 1080);
        assert!(at(100, 100).is_within_reach(left_monitor));
        assert!(at(-1200, 0).is_within_reach(left_monitor));
        assert!(!at(1920, 100).is_within_reach(left_monitor));
        assert!(!at(100, 1080).is_within_reach(left_monitor));
        assert!(!at(i32::MIN, i32::MAX).is_within_reach(left_monitor));
    }
}
