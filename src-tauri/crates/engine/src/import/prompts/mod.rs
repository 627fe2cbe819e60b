//! Imports parts of prompts: presets, templates, lorebooks.

pub(crate) mod lorebooks;
pub(crate) mod presets;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::settings::handle::Configuration;

/// Imports presets, templates and lorebooks. Clones share one state.
#[derive(Clone)]
pub(crate) struct PromptImports {
    library: Library,
}

impl PromptImports {
    pub(super) fn new(library: &Library) -> Self {
        Self {
            library: library.clone(),
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
