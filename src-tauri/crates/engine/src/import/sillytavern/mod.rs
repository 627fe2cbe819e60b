//! Imports a SillyTavern folder.

pub(crate) mod card_notes;
pub(crate) mod cards;
pub(crate) mod folder;
pub(crate) mod folder_settings;
pub(crate) mod group_file;
pub(crate) mod groups;
pub(crate) mod persona_details;
pub(crate) mod pictures;
pub(crate) mod presets_in_use;
pub(crate) mod settings;
pub(crate) mod shipped_presets;
pub(crate) mod tag_folders;
pub(crate) mod tags;
pub(crate) mod whole_folder;
pub(crate) mod worlds;

use crate::base::handle::Base;
use crate::import::chats::ChatImports;
use crate::import::files::FileImports;
use crate::import::groups::GroupImports;
use crate::import::prompts::PromptImports;
use crate::import::reports::ImportReports;
use crate::library::handle::Library;
use crate::settings::handle::Configuration;

/// Imports folders. Clones share one state.
#[derive(Clone)]
pub(crate) struct FolderImports {
    library: Library,
    chat_imports: ChatImports,
    file_imports: FileImports,
    group_imports: GroupImports,
    import_reports: ImportReports,
    prompt_imports: PromptImports,
}

impl FolderImports {
    pub(super) fn new(
        library: &Library,
        chat_imports: &ChatImports,
        file_imports: &FileImports,
        group_imports: &GroupImports,
        import_reports: &ImportReports,
        prompt_imports: &PromptImports,
    ) -> Self {
        Self {
            library: library.clone(),
            chat_imports: chat_imports.clone(),
            file_imports: file_imports.clone(),
            group_imports: group_imports.clone(),
            import_reports: import_reports.clone(),
            prompt_imports: prompt_imports.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.library.base()
    }

    fn config(&self) -> &Configuration {
        self.library.config()
    }

    fn library(&self) -> &Library {
        &self.library
    }
}
