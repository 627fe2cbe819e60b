//! A window with an empty web view and nothing else: what the app's start and memory are measured against.

/// Nothing to see, but drawn the way every app's page is: with a font, a control, and a layer of its own that scrolls.
#[cfg(target_os = "linux")]
const PAGE: &str = "<!doctype html><title>empty</title><body style='margin: 0'>
    <div style='height: 100vh; overflow: auto; will-change: transform'>empty <button>nothing</button></div>";

#[cfg(target_os = "linux")]
fn main() {
    use gtk::prelude::*;
    use webkit2gtk::{LoadEvent, WebView, WebViewExt};

    gtk::init().expect("a display");
    let window = gtk::Window::new(gtk::WindowType::Toplevel);
    window.set_title("empty window");
    window.set_default_size(1280, 820);
    let view = WebView::new();
    window.add(&view);
    // Shown when its page is there, as the app's window is.
    view.connect_load_changed(move |_, event| {
        if event == LoadEvent::Finished {
            window.show_all();
        }
    });
    view.load_html(PAGE, None);
    gtk::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
