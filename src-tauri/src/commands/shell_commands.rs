//! List of the window's commands: the one for the engine's operations, and those that need the
//! window.

/// Calls `$then!` with the names of the commands.
#[macro_export]
macro_rules! shell_commands {
    ($then:ident) => {
        $then! { call, subscribe, pick_import, pick_sillytavern, save_report, save_theme, pick_chats, pick_model, pick_model_folder, pick_adapter, pick_projector, pick_embedding_model, pick_tokenizer, export_character, export_characters, export_chat, export_chats, export_lorebook, export_memories, export_prompt_file, pick_second_place, export_archive, import_archive, open_backups, open_data_folder, watch_openings, answer_openings, watch_closing, page_saved, clipboard_picture, notify, restart, watch_access, unlock, lock, mark_active, prepare_protection, forget_preparation, protect, unprotect, restart_locked, saved_language, open_link, set_zoom }
    };
}
