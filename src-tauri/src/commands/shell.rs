//! Commands that need the window: the event stream, and files that the user selects in a system
//! dialog. The page never passes a path.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use engine::Exported;
use engine::api::{
    AddedModels, ApiError, CardFormat, CharacterId, ChatFileFormat, ChatId, EmbeddingModel,
    Endpoint, EndpointId, Event, ImportReport, LorebookFormat, LorebookId, Model, ModelId,
    ModelState, PromptFile, ReadableOptions,
};
use serde::Deserialize;
use tauri::ipc::Channel;
use tauri::{Manager, State, WebviewWindow};
use tauri_plugin_dialog::{DialogExt, FileDialogBuilder, FilePath};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::oneshot;

use crate::core::Core;
use crate::dialogs;

/// Sends the engine's events to `events` until the page is closed.
#[tauri::command]
pub(crate) async fn subscribe(
    core: State<'_, Core>,
    events: Channel<Event>,
) -> Result<(), ApiError> {
    // Subscribes before the response, so that no event of the page's next call is missed.
    let mut page = core.page_changes();
    let mut engine_events = core.engine().await.subscribe();
    core.mark_listening();
    tauri::async_runtime::spawn(async move {
        loop {
            let event = tokio::select! {
                event = engine_events.next() => event,
                _ = page.changed() => None,
            };
            match event.map(|event| events.send(event)) {
                Some(Ok(())) => {}
                Some(Err(_)) | None => break,
            }
        }
    });
    Ok(())
}

/// Lets the user select cards, chats and model files and imports them. Returns `null` if the dialog
/// was cancelled.
#[tauri::command]
pub(crate) async fn pick_import(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<ImportReport>, ApiError> {
    let dialog = dialog(&window, "Import")
        .add_filter(
            "Cards, chats and models",
            &[
                "png", "apng", "json", "charx", "byaf", "yaml", "yml", "jpg", "jpeg", "jsonl",
                "txt", "gguf",
            ],
        )
        .add_filter("All files", &["*"]);
    match answer(|tell| dialog.pick_files(tell)).await {
        Some(files) => core
            .engine()
            .await
            .import_paths(paths(files))
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Lets the user select a SillyTavern folder and imports all of it. Returns `null` if the dialog
/// was cancelled. Progress and result are sent as events, because the page may have been reloaded.
#[tauri::command]
pub(crate) async fn pick_sillytavern(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<()>, ApiError> {
    let dialog = dialog(&window, "Import from SillyTavern");
    let Some(folder) = answer(|tell| dialog.pick_folder(tell))
        .await
        .and_then(|folder| folder.into_path().ok())
    else {
        return Ok(None);
    };
    core.engine().await.import_sillytavern(folder).await?;
    Ok(Some(()))
}

/// File formats of an import report.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

/// Saves an import report, which the page has in the user's language, at a path that the user
/// chooses. Returns the path, or `null` if the dialog was cancelled.
#[tauri::command]
pub(crate) async fn save_report(
    window: WebviewWindow,
    report: String,
    format: ReportFormat,
) -> Result<Option<String>, ApiError> {
    let (ending, mime) = match format {
        ReportFormat::Text => ("txt", "text/plain"),
        ReportFormat::Json => ("json", "application/json"),
    };
    let file_name = format!("Import report.{ending}");
    let bytes = report.into_bytes();
    save(
        &window,
        Exported {
            file_name,
            mime,
            bytes,
            warnings: Vec::new(),
        },
    )
    .await
}

/// Saves the appearance of the window as a theme file at a path that the user chooses. Returns the
/// path, or `null` if the dialog was cancelled.
#[tauri::command]
pub(crate) async fn save_theme(
    window: WebviewWindow,
    theme: String,
) -> Result<Option<String>, ApiError> {
    let file_name = "Inglenook theme.json".to_owned();
    let bytes = theme.into_bytes();
    save(
        &window,
        Exported {
            file_name,
            mime: "application/json",
            bytes,
            warnings: Vec::new(),
        },
    )
    .await
}

/// Lets the user select SillyTavern chats and imports them for `character`. Returns `null` if the
/// dialog was cancelled.
#[tauri::command]
pub(crate) async fn pick_chats(
    window: WebviewWindow,
    core: State<'_, Core>,
    character: CharacterId,
) -> Result<Option<ImportReport>, ApiError> {
    let dialog = dialog(&window, "Import chats").add_filter("Chats", &["jsonl", "json", "txt"]);
    match answer(|tell| dialog.pick_files(tell)).await {
        Some(files) => core
            .engine()
            .await
            .import_chats_with(character, paths(files))
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Lets the user select a model file and adds it in its place. Returns `null` if the dialog was
/// cancelled.
#[tauri::command]
pub(crate) async fn pick_model(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<Model>, ApiError> {
    let dialog = dialog(&window, "Add a model").add_filter("Models (GGUF)", &["gguf"]);
    match answer(|tell| dialog.pick_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    {
        Some(path) => core.engine().await.add_model(path).await.map(Some),
        None => Ok(None),
    }
}

/// Lets the user select a folder of model files, which are used in place. Returns `null` if the
/// dialog was cancelled.
#[tauri::command]
pub(crate) async fn pick_model_folder(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<AddedModels>, ApiError> {
    let dialog = dialog(&window, "Add a model folder");
    match answer(|tell| dialog.pick_folder(tell))
        .await
        .and_then(|folder| folder.into_path().ok())
    {
        Some(folder) => core.engine().await.add_model_folder(folder).await.map(Some),
        None => Ok(None),
    }
}

/// Lets the user select an adapter (LoRA) for a model, which stays in its folder. Returns `null` if
/// the dialog was cancelled.
#[tauri::command]
pub(crate) async fn pick_adapter(
    window: WebviewWindow,
    core: State<'_, Core>,
    model: ModelId,
) -> Result<Option<ModelState>, ApiError> {
    let dialog = dialog(&window, "Choose an adapter").add_filter("Adapters (GGUF)", &["gguf"]);
    match answer(|tell| dialog.pick_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    {
        Some(path) => core
            .engine()
            .await
            .add_model_adapter(model, path)
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Lets the user select an embedding model, which stays in its folder. Returns `null` if the dialog
/// was cancelled.
#[tauri::command]
pub(crate) async fn pick_embedding_model(
    window: WebviewWindow,
    core: State<'_, Core>,
) -> Result<Option<EmbeddingModel>, ApiError> {
    let dialog =
        dialog(&window, "Choose an embedding model").add_filter("Models (GGUF)", &["gguf"]);
    match answer(|tell| dialog.pick_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    {
        Some(path) => core
            .engine()
            .await
            .choose_embedding_model(path)
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Lets the user select the file that reads pictures for a model (mmproj), which stays in its
/// folder. Returns `null` if the dialog was cancelled.
#[tauri::command]
pub(crate) async fn pick_projector(
    window: WebviewWindow,
    core: State<'_, Core>,
    model: ModelId,
) -> Result<Option<ModelState>, ApiError> {
    let dialog =
        dialog(&window, "Choose a file that reads pictures").add_filter("mmproj (GGUF)", &["gguf"]);
    match answer(|tell| dialog.pick_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    {
        Some(path) => core
            .engine()
            .await
            .set_model_projector(model, path)
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Lets the user select the `tokenizer.json` of an endpoint's model. Returns `null` if the dialog
/// was cancelled.
#[tauri::command]
pub(crate) async fn pick_tokenizer(
    window: WebviewWindow,
    core: State<'_, Core>,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, ApiError> {
    let dialog = dialog(&window, "Choose a tokenizer").add_filter("tokenizer.json", &["json"]);
    match answer(|tell| dialog.pick_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    {
        Some(path) => core
            .engine()
            .await
            .set_endpoint_tokenizer_file(endpoint, path)
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Saves a card at a path that the user chooses. Returns the path, or `null` if the dialog was
/// cancelled.
#[tauri::command]
pub(crate) async fn export_character(
    window: WebviewWindow,
    core: State<'_, Core>,
    id: CharacterId,
    format: CardFormat,
) -> Result<Option<String>, ApiError> {
    let exported = core.engine().await.export_character(id, format).await?;
    save(&window, exported).await
}

/// Saves a chat, like [`export_character`].
#[tauri::command]
pub(crate) async fn export_chat(
    window: WebviewWindow,
    core: State<'_, Core>,
    id: ChatId,
    format: ChatFileFormat,
    options: ReadableOptions,
) -> Result<Option<String>, ApiError> {
    let exported = core
        .engine()
        .await
        .export_chat_with(id, format, options)
        .await?;
    save(&window, exported).await
}

/// Saves cards in a folder that the user selects, without overwriting files. Returns the folder, or
/// `null` if the dialog was cancelled.
#[tauri::command]
pub(crate) async fn export_characters(
    window: WebviewWindow,
    core: State<'_, Core>,
    ids: Vec<CharacterId>,
    format: CardFormat,
) -> Result<Option<String>, ApiError> {
    let engine = core.engine().await;
    save_all(&window, ids, |id| engine.export_character(id, format)).await
}

/// Saves chats in a folder, like [`export_characters`].
#[tauri::command]
pub(crate) async fn export_chats(
    window: WebviewWindow,
    core: State<'_, Core>,
    ids: Vec<ChatId>,
    format: ChatFileFormat,
) -> Result<Option<String>, ApiError> {
    let engine = core.engine().await;
    save_all(&window, ids, |id| engine.export_chat(id, format)).await
}

/// Lets the user select a folder and saves the items in it. One that cannot be exported does not
/// stop the others.
async fn save_all<T: Copy + Display, F: Future<Output = Result<Exported, ApiError>>>(
    window: &WebviewWindow,
    ids: Vec<T>,
    export: impl Fn(T) -> F,
) -> Result<Option<String>, ApiError> {
    let dialog = dialog(window, "Export to a folder");
    let Some(folder) = answer(|tell| dialog.pick_folder(tell))
        .await
        .and_then(|folder| folder.into_path().ok())
    else {
        return Ok(None);
    };
    let mut failed = Vec::new();
    for id in ids {
        match export(id).await {
            Ok(exported) => {
                let path = free_path(&folder, &exported.file_name);
                write(&path, exported.bytes)
                    .await
                    .map_err(|error| not_written(&path, &error))?;
            }
            Err(error) => failed.push(format!("{id}: {error}")),
        }
    }
    if !failed.is_empty() {
        dialogs::show_error(
            window.app_handle(),
            "Some items could not be exported",
            &failed.join("\n"),
        );
    }
    Ok(Some(folder.display().to_string()))
}

/// Saves a lorebook at a path that the user chooses. Returns the path, or `null` if the dialog was
/// cancelled.
#[tauri::command]
pub(crate) async fn export_lorebook(
    window: WebviewWindow,
    core: State<'_, Core>,
    id: LorebookId,
    format: LorebookFormat,
) -> Result<Option<String>, ApiError> {
    save(
        &window,
        core.engine().await.export_lorebook(id, format).await?,
    )
    .await
}

/// Saves the memories of a character, like [`export_lorebook`].
#[tauri::command]
pub(crate) async fn export_memories(
    window: WebviewWindow,
    core: State<'_, Core>,
    character: CharacterId,
) -> Result<Option<String>, ApiError> {
    save(
        &window,
        core.engine().await.export_memories(character).await?,
    )
    .await
}

/// Saves a regex script, quick replies or a prompt template, like [`export_lorebook`].
#[tauri::command]
pub(crate) async fn export_prompt_file(
    window: WebviewWindow,
    core: State<'_, Core>,
    kind: PromptFile,
    id: String,
) -> Result<Option<String>, ApiError> {
    save(
        &window,
        core.engine().await.export_prompt_file(kind, id).await?,
    )
    .await
}

async fn save(window: &WebviewWindow, exported: Exported) -> Result<Option<String>, ApiError> {
    let dialog = dialog(window, "Export").set_file_name(&exported.file_name);
    let Some(path) = answer(|tell| dialog.save_file(tell))
        .await
        .and_then(|file| file.into_path().ok())
    else {
        return Ok(None);
    };
    write(&path, exported.bytes)
        .await
        .map_err(|error| not_written(&path, &error))?;
    if !exported.warnings.is_empty() {
        dialogs::show_error(
            window.app_handle(),
            "Saved, but this format cannot contain everything",
            &exported.warnings.join("\n"),
        );
    }
    Ok(Some(path.display().to_string()))
}

fn not_written(path: &Path, error: &io::Error) -> ApiError {
    ApiError::Storage {
        message: format!("Could not write {}: {error}.", path.display()),
        hint: "Export again to a writable folder with enough free space.".into(),
    }
}

/// Returns an unused path in `folder`: `Mira.png`, else `Mira-2.png` and so on.
fn free_path(folder: &Path, name: &str) -> PathBuf {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = (2_u32..).map(|number| format!("{stem}-{number}.{ending}"));
    let mut places = std::iter::once(name.to_owned())
        .chain(numbered)
        .map(|name| folder.join(name));
    places
        .find(|place| !place.exists())
        .unwrap_or_else(|| folder.join(name))
}

pub(super) fn dialog(window: &WebviewWindow, title: &str) -> FileDialogBuilder<tauri::Wry> {
    window.dialog().file().set_parent(window).set_title(title)
}

/// Waits for the user's answer. A dialog that never answers, because the app is closing, is treated
/// as cancelled.
pub(super) async fn answer<T: Send + 'static>(
    show: impl FnOnce(Box<dyn FnOnce(Option<T>) + Send>),
) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    show(Box::new(move |picked| {
        sender.send(picked).ok();
    }));
    receiver.await.ok().flatten()
}

fn paths(files: Vec<FilePath>) -> Vec<PathBuf> {
    files
        .into_iter()
        .filter_map(|file| file.into_path().ok())
        .collect()
}

/// Writes to a temporary file first, so that a full disk does not leave half a card in place of an
/// older one.
async fn write(path: &Path, bytes: Vec<u8>) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = match write_private(&part, &bytes).await {
        Ok(()) => tokio::fs::rename(&part, path).await,
        Err(error) => Err(error),
    };
    if written.is_err() {
        tokio::fs::remove_file(&part).await.ok();
    }
    written
}

/// Makes the file readable only by its owner, because it may hold a private chat.
async fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.open(path).await?;
    file.write_all(bytes).await?;
    file.flush().await
}

#[cfg(test)]
mod tests;
