//! Imports files that are dropped on the window, and asks about those that this or a second start
//! names.

use std::path::{Path, PathBuf};

use clap::Parser;
use tauri::{AppHandle, DragDropEvent, Manager, WindowEvent};

use crate::access::locking;
use crate::arguments::AppArguments;
use crate::core::Core;
use crate::dialogs;
use crate::openings::{self, Openings};
use crate::window;

/// Imports files that are dropped on the window.
pub(crate) fn watch(window: &tauri::Window, event: &WindowEvent) {
    if let WindowEvent::DragDrop(event) = event {
        import(window.app_handle(), dropped(event));
    }
}

/// Handles a second start: brings the window to the front and asks about the files, or locks the
/// app.
pub(crate) fn second_start(app: &AppHandle, arguments: &[String], folder: &str) {
    match AppArguments::try_parse_from(arguments) {
        Ok(arguments) if arguments.lock => locking::lock_in_background(app),
        Ok(arguments) => {
            window::focus(app);
            ask(app, arguments.files, Path::new(folder));
        }
        Err(error) => {
            window::focus(app);
            tracing::warn!(kind = ?error.kind(), "cannot parse the arguments of a second start");
        }
    }
}

/// Imports in the background. The engine sends the result, including refusals, to the page.
pub(crate) fn import(app: &AppHandle, paths: Vec<PathBuf>) {
    if paths.is_empty() {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let core = app.state::<Core>();
        let count = paths.len();
        core.wait_for_listener().await;
        match core.engine().await.import_paths(paths).await {
            Ok(report) => tracing::info!(
                count,
                imported = report.imported.len(),
                skipped = report.skipped.len(),
                refused = report.refused.len(),
                "files imported"
            ),
            Err(error) => {
                dialogs::show_error(&app, "The files could not be imported", &error.to_string())
            }
        }
    });
}

/// Asks the user whether to import the files and links that a start in `folder` names.
pub(crate) fn ask(app: &AppHandle, names: Vec<PathBuf>, folder: &Path) {
    let files = openings::requested(names, folder);
    if !files.is_empty() {
        app.state::<Openings>().add(files);
    }
}

fn dropped(event: &DragDropEvent) -> Vec<PathBuf> {
    match event {
        DragDropEvent::Drop { paths, .. } => paths.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use tauri::PhysicalPosition;

    use super::*;

    #[test]
    fn imports_only_on_the_drop_event() {
        let paths = vec![PathBuf::from("/cards/Mira.png")];
        let position = PhysicalPosition::new(1.0, 2.0);
        assert_eq!(
            dropped(&DragDropEvent::Drop {
                paths: paths.clone(),
                position
            }),
            paths
        );
        assert!(dropped(&DragDropEvent::Enter { paths, position }).is_empty());
        assert!(dropped(&DragDropEvent::Over { position }).is_empty());
        assert!(dropped(&DragDropEvent::Leave).is_empty());
    }
}
