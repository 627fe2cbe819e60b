//! Commands that the page may call, generated from two lists: the engine's operations and the shell's own commands.
//!
//! They are private functions of this module. Tauri exports the helper macro of a public command,
//! and an exported macro from another macro's expansion cannot be named.

mod desktop;
pub(crate) mod links;
pub(crate) mod shell;
mod shell_backups;
mod shell_commands;

use engine::api::*;
use tauri::State;
use tauri::ipc::Invoke;

use crate::core::Core;

macro_rules! engine_commands {
    ($($(#[doc = $doc:literal])* $layer:ident.$name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(
            $(#[doc = $doc])*
            #[tauri::command]
            async fn $name(core: State<'_, Core>, $($arg: $ty),*) -> Result<$result, ApiError> {
                let engine = core.engine().await;
                engine::contained(engine.$name($($arg),*)).await
            }
        )*

        /// Returns the handler of the page's calls.
        pub(crate) fn handler() -> impl Fn(Invoke) -> bool + Send + Sync + 'static {
            tauri::generate_handler![
                $($name,)*
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
                links::open_link,
                links::set_zoom
            ]
        }
    };
}
engine::operations!(engine_commands);
