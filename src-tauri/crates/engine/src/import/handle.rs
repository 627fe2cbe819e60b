//! Import layer: all rooms of imports.

use crate::import::chats::ChatImports;
use crate::import::files::FileImports;
use crate::import::groups::GroupImports;
use crate::import::prompts::PromptImports;
use crate::import::reports::ImportReports;
use crate::import::sillytavern::FolderImports;
use crate::library::handle::Library;

/// The rooms of imports, lowest first.
#[derive(Clone)]
pub(crate) struct Imports {
    pub(crate) import_reports: ImportReports,
    pub(crate) chat_imports: ChatImports,
    pub(crate) file_imports: FileImports,
    pub(crate) folder_imports: FolderImports,
}

impl Imports {
    pub(crate) fn new(library: &Library) -> Self {
        let import_reports = ImportReports::new(library.base());
        let prompt_imports = PromptImports::new(library);
        let group_imports = GroupImports::new(library);
        let chat_imports = ChatImports::new(library, &group_imports, &import_reports);
        let file_imports = FileImports::new(
            library,
            &chat_imports,
            &group_imports,
            &import_reports,
            &prompt_imports,
        );
        let folder_imports = FolderImports::new(
            library,
            &chat_imports,
            &file_imports,
            &group_imports,
            &import_reports,
            &prompt_imports,
        );
        Self {
            import_reports,
            chat_imports,
            file_imports,
            folder_imports,
        }
    }
}
