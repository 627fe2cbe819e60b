//! The one window: opened unseen where it last stood, shown when its page is there, and shut to every page but ours.

use std::path::Path;

use engine::api::Theme;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::window::Color;
use tauri::{
    App, AppHandle, Manager, Monitor, PhysicalPosition, PhysicalSize, Url, WebviewWindow, WebviewWindowBuilder,
    WindowEvent,
};

use crate::core::Core;
use crate::shell_store::{Place, ShellStore};

pub(crate) const LABEL: &str = "main";

/// Surface 0 of the two themes: what stands there until the page has painted.
const DARK: Color = Color(0x17, 0x14, 0x12, 0xff);
const LIGHT: Color = Color(0xf7, 0xf3, 0xec, 0xff);

/// Opens the window.
///
/// # Errors
/// When the web view cannot be made.
pub(crate) fn open(app: &App, data_dir: &Path) -> tauri::Result<()> {
    let config =
        app.config().app.windows.iter().find(|window| window.label == LABEL).ok_or(tauri::Error::WindowNotFound)?;
    let store = app.state::<ShellStore>();
    let theme = native(store.theme());
    let window = WebviewWindowBuilder::from_config(app, config)?
        .data_directory(data_dir.join("webview"))
        .theme(theme)
        .background_color(if theme == Some(tauri::Theme::Light) { LIGHT } else { DARK })
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .on_page_load(|window, page| match page.event() {
            PageLoadEvent::Started => window.state::<Core>().new_page(),
            PageLoadEvent::Finished => {
                present(&window);
                window.state::<Core>().is_shown();
            }
        })
        .build()?;
    if let Some(place) = store.place() {
        put(&window, place)?;
    }
    if theme.is_none() && window.theme()? == tauri::Theme::Light {
        window.set_background_color(Some(LIGHT))?;
    }
    Ok(())
}

/// Brings the window to the front.
pub(crate) fn focus(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL) {
        present(&window);
        if let Err(error) = window.unminimize().and_then(|()| window.set_focus()) {
            tracing::warn!(%error, "the window could not be brought to the front");
        }
    }
}

/// Keeps the window's place as it changes.
pub(crate) fn watch(window: &tauri::Window, event: &WindowEvent) {
    if window.label() == LABEL && matches!(event, WindowEvent::Moved(_) | WindowEvent::Resized(_)) {
        let store = window.state::<ShellStore>();
        match place(window, store.place()) {
            Ok(Some(place)) => store.keep_place(place),
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the window's place is unknown"),
        }
    }
}

/// Follows the theme that the user chose.
pub(crate) fn set_theme(app: &AppHandle, theme: Theme) {
    app.state::<ShellStore>().keep_theme(theme);
    if let Some(window) = app.get_webview_window(LABEL)
        && let Err(error) = window.set_theme(native(theme))
    {
        tracing::warn!(%error, "the window's theme could not be set");
    }
}

fn present(window: &WebviewWindow) {
    if let Err(error) = window.show() {
        tracing::error!(%error, "the window could not be shown");
    }
}

/// Whether the page may go to `url`: only to itself.
fn is_ours(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => cfg!(windows) && url.host_str() == Some("tauri.localhost") && url.port().is_none(),
        _ => false,
    }
}

fn put(window: &WebviewWindow, place: Place) -> tauri::Result<()> {
    let main = window.primary_monitor()?;
    let others = window.available_monitors()?;
    let screen = |monitor: &Monitor| {
        let (position, size) = (monitor.position(), monitor.size());
        (position.x, position.y, size.width, size.height)
    };
    let screens: Vec<_> = main.iter().chain(&others).map(screen).collect();
    let place = place.in_view(&screens);
    window.set_size(PhysicalSize::new(place.width, place.height))?;
    if !screens.is_empty() {
        window.set_position(PhysicalPosition::new(place.x, place.y))?;
    }
    if place.maximized {
        window.maximize()?;
    }
    Ok(())
}

/// A maximized window keeps the place it will return to. `None` while the window is unseen: those are our own first moves.
fn place(window: &tauri::Window, before: Option<Place>) -> tauri::Result<Option<Place>> {
    if !window.is_visible()? || window.is_minimized()? {
        return Ok(None);
    }
    let maximized = window.is_maximized()?;
    if let (true, Some(before)) = (maximized, before) {
        return Ok(Some(Place { maximized, ..before }));
    }
    let (position, size) = (window.outer_position()?, window.inner_size()?);
    let place = Place { x: position.x, y: position.y, width: size.width, height: size.height, maximized };
    Ok(Some(place).filter(Place::is_real))
}

fn native(theme: Theme) -> Option<tauri::Theme> {
    match theme {
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
        Theme::System => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_goes_nowhere_but_to_itself() {
        assert!(is_ours(&"tauri://localhost/index.html".parse().unwrap()));
        for elsewhere in [
            "https://example.org/",
            "http://localhost:1420/",
            "tauri://elsewhere/",
            "http://tauri.localhost:8080/",
            "nook://localhost/asset/00",
            "file:///etc/passwd",
            "data:text/html,<p>",
            "about:blank",
            "javascript:alert(1)",
        ] {
            assert!(!is_ours(&elsewhere.parse().unwrap()), "{elsewhere}");
        }
    }
}
