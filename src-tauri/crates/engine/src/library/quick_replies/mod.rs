//! Sets of quick replies, and files with the parts of prompts.

pub(crate) mod automatic;
pub(crate) mod editor;
pub(crate) mod files;
pub(crate) mod prompt_files;
pub(crate) mod sets;

use crate::base::handle::Base;
use crate::library::chat_lookup::ChatLookup;
use crate::library::scripts::Scripts;
use crate::settings::handle::Configuration;

/// Sets of quick replies. Clones share one state.
#[derive(Clone)]
pub(crate) struct QuickReplySets {
    config: Configuration,
    chat_lookup: ChatLookup,
    scripts: Scripts,
}

impl QuickReplySets {
    pub(super) fn new(config: &Configuration, chat_lookup: &ChatLookup, scripts: &Scripts) -> Self {
        Self {
            config: config.clone(),
            chat_lookup: chat_lookup.clone(),
            scripts: scripts.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
