//! Forgetting everything about a character, a persona or a span of days: database, pictures,
//! caches and backups.

pub(crate) mod forget;
mod report;
mod subject;

use crate::base::handle::Base;
use crate::library::backups::Backups;
use crate::library::characters::Characters;
use crate::library::personas::Personas;
use crate::library::stale_caches::StaleCaches;
use crate::library::trash::Trash;
use crate::settings::handle::Configuration;

/// Forgetting. Clones share one state.
#[derive(Clone)]
pub(crate) struct Forgetting {
    config: Configuration,
    characters: Characters,
    personas: Personas,
    stale_caches: StaleCaches,
    backups: Backups,
    trash: Trash,
}

impl Forgetting {
    pub(super) fn new(
        config: &Configuration,
        characters: &Characters,
        personas: &Personas,
        stale_caches: &StaleCaches,
        backups: &Backups,
        trash: &Trash,
    ) -> Self {
        Self {
            config: config.clone(),
            characters: characters.clone(),
            personas: personas.clone(),
            stale_caches: stale_caches.clone(),
            backups: backups.clone(),
            trash: trash.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }
}
