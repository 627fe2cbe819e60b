//! Folders of the lists, pinned and archived items.

pub(crate) mod folder;
pub(crate) mod places;

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::settings::handle::Configuration;

/// Folders and places in the lists. Clones share one state.
#[derive(Clone)]
pub(crate) struct Folders {
    config: Configuration,
    characters: Characters,
}

impl Folders {
    pub(super) fn new(config: &Configuration, characters: &Characters) -> Self {
        Self {
            config: config.clone(),
            characters: characters.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
