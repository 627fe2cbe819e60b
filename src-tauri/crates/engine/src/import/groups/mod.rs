//! Imports group chats of this app.

pub(crate) mod files;

use crate::base::handle::Base;
use crate::library::handle::Library;

/// Imports group files. Clones share one state.
#[derive(Clone)]
pub(crate) struct GroupImports {
    library: Library,
}

impl GroupImports {
    pub(super) fn new(library: &Library) -> Self {
        Self {
            library: library.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.library.base()
    }

    fn library(&self) -> &Library {
        &self.library
    }
}
