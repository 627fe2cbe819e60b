//! Lorebooks and their entries.

pub(crate) mod book;
pub(crate) mod entries;

use crate::base::handle::Base;
use crate::library::drafts::Drafts;
use crate::settings::handle::Configuration;

/// Lorebooks and their entries. Clones share one state.
#[derive(Clone)]
pub(crate) struct Lorebooks {
    config: Configuration,
    drafts: Drafts,
}

impl Lorebooks {
    pub(super) fn new(config: &Configuration, drafts: &Drafts) -> Self {
        Self {
            config: config.clone(),
            drafts: drafts.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
