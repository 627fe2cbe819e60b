//! Reports of imports, and the progress of the one that runs.

pub(crate) mod progress;
pub(crate) mod report;

use std::sync::Arc;

use crate::base::handle::Base;
use crate::import::reports::progress::Importing;

/// Keeps reports of imports, and the progress of the one that runs. Clones share one state.
#[derive(Clone)]
pub(crate) struct ImportReports {
    base: Base,
    running: Arc<Importing>,
}

impl ImportReports {
    pub(super) fn new(base: &Base) -> Self {
        Self {
            base: base.clone(),
            running: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    /// The folder import in progress.
    pub(crate) fn importing(&self) -> &Importing {
        &self.running
    }
}
