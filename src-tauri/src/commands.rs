//! Commands that the page may call: one for all operations of the engine, and those of the shell.

mod desktop;
pub(crate) mod links;
mod protection;
pub(crate) mod shell;
mod shell_backups;
mod shell_commands;

use engine::api::ApiError;
use tauri::State;
use tauri::ipc::{Invoke, Response};

use crate::core::Core;

/// Calls an operation of the engine. Arguments and result are JSON texts, so that nothing is parsed
/// twice.
#[tauri::command]
async fn call(
    core: State<'_, Core>,
    operation: String,
    arguments: String,
) -> Result<Response, ApiError> {
    let engine = core.engine().await;
    let result = engine::contained(engine.call(&operation, arguments.as_bytes())).await?;
    Ok(Response::new(result))
}

/// Returns the handler of the page's calls.
pub(crate) fn handler() -> impl Fn(Invoke) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        call,
        shell::subscribe,
        shell::pick_import,
        shell::pick_sillytavern,
        shell::save_report,
        shell::save_theme,
        shell::pick_chats,
        shell::pick_model,
        shell::pick_model_folder,
        shell::pick_adapter,
        shell::pick_projector,
        shell::pick_embedding_model,
        shell::pick_tokenizer,
        shell::export_character,
        shell::export_characters,
        shell::export_chat,
        shell::export_chats,
        shell::export_lorebook,
        shell::export_memories,
        shell::export_prompt_file,
        shell_backups::pick_second_place,
        shell_backups::export_archive,
        shell_backups::import_archive,
        shell_backups::open_backups,
        desktop::open_data_folder,
        desktop::watch_openings,
        desktop::answer_openings,
        desktop::watch_closing,
        desktop::page_saved,
        desktop::clipboard_picture,
        desktop::notify,
        shell_backups::restart,
        protection::watch_access,
        protection::unlock,
        protection::lock,
        protection::mark_active,
        protection::prepare_protection,
        protection::forget_preparation,
        protection::protect,
        protection::unprotect,
        protection::restart_locked,
        protection::saved_language,
        links::open_link,
        links::set_zoom
    ]
}
