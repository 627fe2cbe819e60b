//! Backups: made by schedule, verified, restored.

pub(crate) mod backup;
pub(crate) mod schedule;
pub(crate) mod trusted_clock;

use std::sync::{Arc, Weak};

use crate::base::handle::Base;
use crate::library::data_warnings::Warnings;

/// Backups of the data. Clones share one state.
#[derive(Clone)]
pub(crate) struct Backups(Arc<BackupsState>);

/// The rooms that this one uses.
struct BackupsState {
    base: Base,
    warnings: Warnings,
}

/// A handle for background tasks, which does not keep the engine open.
#[derive(Clone)]
pub(super) struct WeakBackups(Weak<BackupsState>);

impl WeakBackups {
    pub(super) fn upgrade(&self) -> Option<Backups> {
        self.0.upgrade().map(Backups)
    }
}

impl Backups {
    pub(super) fn new(base: &Base, warnings: &Warnings) -> Self {
        Self(Arc::new(BackupsState {
            base: base.clone(),
            warnings: warnings.clone(),
        }))
    }

    fn downgrade(&self) -> WeakBackups {
        WeakBackups(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        &self.0.base
    }

    fn warnings(&self) -> &Warnings {
        &self.0.warnings
    }
}
