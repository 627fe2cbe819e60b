//! Imports chats of this app and of others.

pub(crate) mod assistants;
pub(crate) mod chat;
pub(crate) mod losses;
pub(crate) mod new_chat;
pub(crate) mod talks;
pub(crate) mod titles;

use crate::base::handle::Base;
use crate::import::groups::GroupImports;
use crate::import::reports::ImportReports;
use crate::library::handle::Library;
use crate::settings::handle::Configuration;

/// Imports chat files. Clones share one state.
#[derive(Clone)]
pub(crate) struct ChatImports {
    library: Library,
    group_imports: GroupImports,
    import_reports: ImportReports,
}

impl ChatImports {
    pub(super) fn new(
        library: &Library,
        group_imports: &GroupImports,
        import_reports: &ImportReports,
    ) -> Self {
        Self {
            library: library.clone(),
            group_imports: group_imports.clone(),
            import_reports: import_reports.clone(),
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
