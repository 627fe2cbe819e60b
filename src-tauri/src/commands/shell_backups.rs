//! Backup commands that need a system dialog, the file manager or a restart.

use engine::api::{ApiError, Backup, Backups};
use tauri::{AppHandle, State, WebviewWindow};

use super::desktop::open_folder;
use super::shell::{answer, dialog};
use crate::closing::{self, NextStart};
use crate::core::Core;

const ARCHIVE: &str = "Inglenook backup.zip";

/// Lets the user choose the folder for a second copy of every backup; `null` if the dialog was
/// cancelled.
#[tauri::command]
pub(crate) async fn pick_second_place(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<Backups>, ApiError> {
    let dialog = dialog(&window, "Second folder for backups");
    match answer(|tell| dialog.pick_folder(tell))
        .await
        .and_then(|folder| folder.into_path().ok())
    {
        Some(folder) => core.engine().await.set_second_place(folder).await.map(Some),
        None => Ok(None),
    }
}

/// Exports everything to one archive at a place that the user chooses. Returns that place, or
/// `null` if the dialog was cancelled.
#[tauri::command]
pub(crate) async fn export_archive(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<String>, ApiError> {
    let dialog = dialog(&window, "Export everything").set_file_name(ARCHIVE);
    let Some(path) = answer(|tell| dialog.save_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    else {
        return Ok(None);
    };
    core.engine().await.export_archive(path.clone()).await?;
    Ok(Some(path.display().to_string()))
}

/// Lets the user choose an exported archive, which becomes a backup; `null` if the dialog was
/// cancelled.
#[tauri::command]
pub(crate) async fn import_archive(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<Backup>, ApiError> {
    let dialog = dialog(&window, "Import an archive").add_filter("Archives", &["zip"]);
    match answer(|tell| dialog.pick_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    {
        Some(path) => core.engine().await.import_archive(path).await.map(Some),
        None => Ok(None),
    }
}

/// Opens the backup folder in the file manager.
#[tauri::command]
pub(crate) async fn open_backups(core: State<'_, Core>) -> Result<(), ApiError> {
    open_folder(&core.engine().await.backup_folder())
}

/// Restarts the app after the engine has stopped.
#[tauri::command]
pub(crate) async fn restart(app: AppHandle) -> Result<(), ApiError> {
    closing::restart(&app, NextStart::Usual);
    Ok(())
}
