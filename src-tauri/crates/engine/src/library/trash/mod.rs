//! Deleted items, their restoration and their permanent removal.

pub(crate) mod chats;
pub(crate) mod items;
mod upkeep;

use std::sync::{Arc, Weak};

use crate::base::handle::Base;
use crate::library::backups::Backups;
use crate::library::characters::Characters;
use crate::library::data_warnings::Warnings;
use crate::library::stale_caches::StaleCaches;
use crate::settings::handle::Configuration;

/// Deleted items. Clones share one state.
#[derive(Clone)]
pub(crate) struct Trash(Arc<TrashState>);

/// The rooms that this one uses.
struct TrashState {
    config: Configuration,
    backups: Backups,
    characters: Characters,
    stale_caches: StaleCaches,
    warnings: Warnings,
}

/// A handle for background tasks, which does not keep the engine open.
#[derive(Clone)]
pub(super) struct WeakTrash(Weak<TrashState>);

impl WeakTrash {
    pub(super) fn upgrade(&self) -> Option<Trash> {
        self.0.upgrade().map(Trash)
    }
}

impl Trash {
    pub(super) fn new(
        config: &Configuration,
        backups: &Backups,
        characters: &Characters,
        stale_caches: &StaleCaches,
        warnings: &Warnings,
    ) -> Self {
        Self(Arc::new(TrashState {
            config: config.clone(),
            backups: backups.clone(),
            characters: characters.clone(),
            stale_caches: stale_caches.clone(),
            warnings: warnings.clone(),
        }))
    }

    fn downgrade(&self) -> WeakTrash {
        WeakTrash(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        self.0.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.0.config
    }

    fn backups(&self) -> &Backups {
        &self.0.backups
    }

    fn characters(&self) -> &Characters {
        &self.0.characters
    }

    fn stale_caches(&self) -> &StaleCaches {
        &self.0.stale_caches
    }

    fn warnings(&self) -> &Warnings {
        &self.0.warnings
    }
}
