//! The main window: created hidden at its last position, shown when its page has loaded, and
//! restricted to our page.

use std::io::ErrorKind;
use std::path::Path;

use engine::api::Theme;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::window::Color;
use tauri::{
    App, AppHandle, Manager, Monitor, PhysicalPosition, PhysicalSize, Url, WebviewWindow,
    WebviewWindowBuilder, WindowEvent,
};

use crate::core::Core;
use crate::shell_store::{ShellStore, WindowPosition};

pub(crate) const LABEL: &str = "main";

/// Background colours of the two themes, shown until the page has painted.
const DARK: Color = Color(0x17, 0x14, 0x12, 0xff);
const LIGHT: Color = Color(0xf7, 0xf3, 0xec, 0xff);

/// Creates the window.
///
/// # Errors
/// The web view cannot be created.
pub(crate) fn open(app: &App, data_dir: &Path) -> tauri::Result<()> {
    let config = app
        .config()
        .app
        .windows
        .iter()
        .find(|window| window.label == LABEL)
        .ok_or(tauri::Error::WindowNotFound)?;
    let store = app.state::<ShellStore>();
    let theme = native(store.theme());
    let profile = data_dir.join("webview");
    let is_protected = engine::is_protected(data_dir);
    if is_protected {
        delete_profile(&profile);
    }
    let window = WebviewWindowBuilder::from_config(app, config)?
        .data_directory(profile)
        // A profile on the disk could keep what the page has shown.
        .incognito(is_protected && !is_automated())
        .theme(theme)
        .background_color(if theme == Some(tauri::Theme::Light) {
            LIGHT
        } else {
            DARK
        })
        .on_navigation(is_own_page)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .on_page_load(|window, page| match page.event() {
            PageLoadEvent::Started => window.state::<Core>().reset_page(),
            PageLoadEvent::Finished => {
                present(&window);
                window.state::<Core>().mark_visible();
            }
        })
        .build()?;
    #[cfg(target_os = "linux")]
    crate::page_crash::watch(&window)?;
    if let Some(place) = store.place() {
        put(&window, place)?;
    }
    if theme.is_none() && window.theme()? == tauri::Theme::Light {
        window.set_background_color(Some(LIGHT))?;
    }
    Ok(())
}

/// Deletes the profile from before the folder was protected.
fn delete_profile(profile: &Path) {
    if let Err(error) = std::fs::remove_dir_all(profile)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(%error, "the old profile of the page stays");
    }
}

/// Whether tests drive the window, which WebKitGTK allows with a lasting profile only. No released
/// program does it.
fn is_automated() -> bool {
    cfg!(debug_assertions)
        && std::env::var_os("TAURI_WEBVIEW_AUTOMATION").is_some_and(|value| value == "true")
}

/// Brings the window to the front.
pub(crate) fn focus(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL) {
        present(&window);
        if let Err(error) = window.unminimize().and_then(|()| window.set_focus()) {
            tracing::warn!(%error, "cannot bring the window to the front");
        }
    }
}

/// Saves the window's position when it changes.
pub(crate) fn watch(window: &tauri::Window, event: &WindowEvent) {
    if window.label() == LABEL && matches!(event, WindowEvent::Moved(_) | WindowEvent::Resized(_)) {
        let store = window.state::<ShellStore>();
        match place(window, store.place()) {
            Ok(Some(place)) => store.save_position(place),
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "cannot read the position of the window"),
        }
    }
}

/// Applies the theme that the user chose.
pub(crate) fn set_theme(app: &AppHandle, theme: Theme) {
    app.state::<ShellStore>().save_theme(theme);
    if let Some(window) = app.get_webview_window(LABEL)
        && let Err(error) = window.set_theme(native(theme))
    {
        tracing::warn!(%error, "cannot set the window's theme");
    }
}

fn present(window: &WebviewWindow) {
    if let Err(error) = window.show() {
        tracing::error!(%error, "cannot show the window");
    }
}

/// Whether the page may navigate to `url`: only to our own pages.
fn is_own_page(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => {
            cfg!(windows) && url.host_str() == Some("tauri.localhost") && url.port().is_none()
        }
        _ => false,
    }
}

fn put(window: &WebviewWindow, place: WindowPosition) -> tauri::Result<()> {
    let main = window.primary_monitor()?;
    let others = window.available_monitors()?;
    let screen = |monitor: &Monitor| {
        let position = monitor.position();
        let size = monitor.size();
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

/// Returns the position to save. A maximized window keeps the position that it will return to.
/// `None` while the window is hidden, because then we move it ourselves.
fn place(
    window: &tauri::Window,
    before: Option<WindowPosition>,
) -> tauri::Result<Option<WindowPosition>> {
    if !window.is_visible()? || window.is_minimized()? {
        return Ok(None);
    }
    let maximized = window.is_maximized()?;
    if let (true, Some(before)) = (maximized, before) {
        return Ok(Some(WindowPosition {
            maximized,
            ..before
        }));
    }
    let position = window.outer_position()?;
    let size = window.inner_size()?;
    let place = WindowPosition {
        x: position.x,
        y: position.y,
        width: size.width,
        height: size.height,
        maximized,
    };
    Ok(Some(place).filter(WindowPosition::is_real))
}

fn native(theme: Theme) -> Option<tauri::Theme> {
    match theme {
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark | Theme::Contrast => Some(tauri::Theme::Dark),
        Theme::System => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_profile_is_deleted_with_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("webview");
        std::fs::create_dir_all(profile.join("localstorage")).unwrap();
        std::fs::write(profile.join("localstorage/page"), "recent actions").unwrap();
        delete_profile(&profile);
        assert!(!profile.exists());
        // A missing one is no problem.
        delete_profile(&profile);
    }

    #[test]
    fn page_navigates_only_to_our_pages() {
        assert!(is_own_page(
            &"tauri://localhost/index.html".parse().unwrap()
        ));
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
            assert!(!is_own_page(&elsewhere.parse().unwrap()), "{elsewhere}");
        }
    }
}
