//! Import layer: files and folders of this app and of others.

use std::sync::Arc;

use crate::base::handle::Base;
use crate::import::progress::Importing;
use crate::library::handle::Library;
use crate::settings::handle::Configuration;

/// Imports. Clones share one state.
#[derive(Clone)]
pub(crate) struct Imports {
    inner: Arc<ImportsState>,
}

struct ImportsState {
    library: Library,
    importing: Importing,
}

impl Imports {
    pub(crate) fn new(library: Library) -> Self {
        Self {
            inner: Arc::new(ImportsState {
                library,
                importing: Importing::default(),
            }),
        }
    }

    pub(crate) fn base(&self) -> &Base {
        self.inner.library.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        self.inner.library.config()
    }

    pub(crate) fn library(&self) -> &Library {
        &self.inner.library
    }

    /// The folder import in progress.
    pub(crate) fn importing(&self) -> &Importing {
        &self.inner.importing
    }
}
