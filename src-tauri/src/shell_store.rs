//! Window state between two starts: position, background colour before the page is painted, and the
//! language of the lock page. User data is in the engine's database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::api::Theme;
use serde::{Deserialize, Serialize};
use tauri::{App, Wry};
use tauri_plugin_store::{Store, StoreExt};

/// Delay before saving: long enough while a window is dragged, short enough for a crash.
const SAVED_AFTER: Duration = Duration::from_millis(500);

/// Position and size of the window in physical pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WindowPosition {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) maximized: bool,
}

/// Position and size of a monitor: x, y, width, height, in physical pixels.
pub(crate) type Screen = (i32, i32, u32, u32);

/// The window size if the stored one is unusable. It must match `tauri.conf.json`.
const DEFAULT_SIZE: (u32, u32) = (1280, 820);
/// The minimum window size. It must match `tauri.conf.json`.
const MIN_SIZE: (u32, u32) = (360, 480);

impl WindowPosition {
    /// Whether a window can have this position and size. Windows puts minimized ones at -32000;
    /// some have no size.
    pub(crate) fn is_real(&self) -> bool {
        const HIDDEN: i32 = -31_000;
        self.width >= MIN_SIZE.0 && self.height >= MIN_SIZE.1 && self.x > HIDDEN && self.y > HIDDEN
    }

    /// Moves the place into view on these screens, the first of which is the main one. Without
    /// screens, only the size is corrected.
    pub(crate) fn in_view(self, screens: &[Screen]) -> Self {
        let size = if self.width >= MIN_SIZE.0 && self.height >= MIN_SIZE.1 {
            (self.width, self.height)
        } else {
            DEFAULT_SIZE
        };
        let sized = Self {
            width: size.0,
            height: size.1,
            ..self
        };
        let Some(screen) = screens
            .iter()
            .find(|screen| sized.is_within_reach(**screen))
            .or(screens.first())
        else {
            return sized;
        };
        let fitted = Self {
            width: size.0.min(screen.2.max(1)),
            height: size.1.min(screen.3.max(1)),
            ..self
        };
        if sized.is_within_reach(*screen) {
            fitted
        } else {
            fitted.centered(*screen)
        }
    }

    fn centered(self, (x, y, width, height): Screen) -> Self {
        let middle = |start: i32, outer: u32, inner: u32| {
            start.saturating_add((outer.saturating_sub(inner) / 2) as i32)
        };
        Self {
            x: middle(x, width, self.width),
            y: middle(y, height, self.height),
            ..self
        }
    }

    /// Whether enough of the title bar is on `screen` for the user to drag it.
    fn is_within_reach(&self, screen: Screen) -> bool {
        const GRIP: i64 = 48;
        /// Tolerance for a maximized window, whose frame is outside the screen.
        const FRAME: i64 = 16;
        let left = i64::from(screen.0);
        let top = i64::from(screen.1);
        let right = left + i64::from(screen.2);
        let bottom = top + i64::from(screen.3);
        let x = i64::from(self.x);
        let y = i64::from(self.y);
        let grabbable = x + i64::from(self.width) >= left + GRIP && x + GRIP <= right;
        grabbable && y + FRAME >= top && y + GRIP <= bottom
    }
}

/// Store of the shell in its own small file.
pub(crate) struct ShellStore(Arc<Store<Wry>>);

impl ShellStore {
    /// # Errors The store cannot be created. An unreadable file is treated as empty.
    pub(crate) fn open(app: &App, data_dir: &Path) -> Result<Self, tauri_plugin_store::Error> {
        Ok(Self(
            app.store_builder(data_dir.join("shell.json"))
                .auto_save(SAVED_AFTER)
                .build()?,
        ))
    }

    pub(crate) fn place(&self) -> Option<WindowPosition> {
        self.0
            .get("window")
            .and_then(|value| serde_json::from_value(value).ok())
    }

    pub(crate) fn save_position(&self, place: WindowPosition) {
        if let Ok(value) = serde_json::to_value(place) {
            self.0.set("window", value);
        }
    }

    pub(crate) fn theme(&self) -> Theme {
        self.0
            .get("theme")
            .and_then(|value| serde_json::from_value(value).ok())
            .unwrap_or_default()
    }

    pub(crate) fn save_theme(&self, theme: Theme) {
        if let Ok(value) = serde_json::to_value(theme) {
            self.0.set("theme", value);
        }
    }

    /// The language of the page, such as `en`; empty follows the system.
    pub(crate) fn language(&self) -> String {
        self.0
            .get("language")
            .and_then(|value| serde_json::from_value(value).ok())
            .unwrap_or_default()
    }

    pub(crate) fn save_language(&self, language: &str) {
        self.0.set("language", language);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> WindowPosition {
        WindowPosition {
            x,
            y,
            width: 1280,
            height: 820,
            maximized: false,
        }
    }

    const SCREEN: Screen = (0, 0, 1920, 1080);

    #[test]
    fn reachable_window_keeps_its_position() {
        for place in [at(100, 100), at(-1200, 0), at(-8, -8), at(1800, 1000)] {
            assert_eq!(place.in_view(&[SCREEN]), place);
        }
        let second = at(2000, 100);
        assert_eq!(second.in_view(&[SCREEN, (1920, 0, 1920, 1080)]), second);
    }

    #[test]
    fn unreachable_window_is_centered() {
        let far = [
            (9000, 9000),
            (-32_000, -32_000),
            (1920, 100),
            (100, 1080),
            (100, -400),
            (i32::MIN, i32::MAX),
        ];
        for (x, y) in far {
            assert_eq!(at(x, y).in_view(&[SCREEN]), at(320, 130), "{x}, {y}");
        }
        let small = (100, 50, 800, 600);
        let fitted = at(9000, 9000).in_view(&[small]);
        assert_eq!(
            fitted,
            WindowPosition {
                x: 100,
                y: 50,
                width: 800,
                height: 600,
                maximized: false
            }
        );
    }

    #[test]
    fn window_without_size_gets_the_default_size() {
        for (width, height) in [(0, 0), (0, 820), (1280, 3), (1, 1)] {
            let place = WindowPosition {
                width,
                height,
                ..at(100, 100)
            };
            assert_eq!(place.in_view(&[SCREEN]), at(100, 100));
            assert!(!place.is_real());
        }
        let huge = WindowPosition {
            width: u32::MAX,
            height: u32::MAX,
            ..at(0, 0)
        };
        assert_eq!(
            (
                huge.in_view(&[SCREEN]).width,
                huge.in_view(&[SCREEN]).height
            ),
            (1920, 1080)
        );
        assert_eq!(
            WindowPosition {
                width: 0,
                ..at(5, 5)
            }
            .in_view(&[]),
            at(5, 5)
        );
    }

    #[test]
    fn minimized_window_position_is_not_saved() {
        assert!(at(-1200, 0).is_real() && !at(-32_000, -32_000).is_real());
    }
}
