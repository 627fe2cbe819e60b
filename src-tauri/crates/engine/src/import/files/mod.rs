//! Imports single files: finds out what they are, and takes them.

pub(crate) mod any_file;
pub(crate) mod backyard;
pub(crate) mod bundle;
pub(crate) mod known_files;
pub(crate) mod persona_backup;

use crate::base::handle::Base;
use crate::import::chats::ChatImports;
use crate::import::groups::GroupImports;
use crate::import::prompts::PromptImports;
use crate::import::reports::ImportReports;
use crate::library::handle::Library;
use crate::settings::handle::Configuration;

/// Imports single files. Clones share one state.
#[derive(Clone)]
pub(crate) struct FileImports {
    library: Library,
    chat_imports: ChatImports,
    group_imports: GroupImports,
    import_reports: ImportReports,
    prompt_imports: PromptImports,
}

impl FileImports {
    pub(super) fn new(
        library: &Library,
        chat_imports: &ChatImports,
        group_imports: &GroupImports,
        import_reports: &ImportReports,
        prompt_imports: &PromptImports,
    ) -> Self {
        Self {
            library: library.clone(),
            chat_imports: chat_imports.clone(),
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
