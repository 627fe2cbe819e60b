//! An empty Tauri window, the baseline for the app's startup time and memory. The test
//! `start_and_memory_stay_near_an_empty_window` starts it.

use tauri::WebviewWindowBuilder;
use tauri::webview::PageLoadEvent;

fn main() -> tauri::Result<()> {
    tauri::Builder::default()
        .setup(|app| {
            for window in &app.config().app.windows {
                WebviewWindowBuilder::from_config(app, window)?
                    // Shown when its page has loaded, like the app's window.
                    .on_page_load(|window, page| {
                        if page.event() == PageLoadEvent::Finished
                            && let Err(error) = window.show()
                        {
                            eprintln!("empty window: {error}");
                        }
                    })
                    .build()?;
            }
            Ok(())
        })
        .run(tauri::generate_context!(
            "examples/empty-window/tauri.conf.json"
        ))
}
