//! Memories, their sources, and the exclusion of forgotten ones.

pub(crate) mod archive;
pub(crate) mod bulk;
pub(crate) mod exclusion;
pub(crate) mod memory;
pub(crate) mod sources;
pub(crate) mod timeline;

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::library::groups::Groups;
use crate::library::lorebooks::Lorebooks;
use crate::library::personas::Personas;
use crate::settings::handle::Configuration;

/// Memories and their sources. Clones share one state.
#[derive(Clone)]
pub(crate) struct Memories {
    config: Configuration,
    characters: Characters,
    chat_lookup: ChatLookup,
    groups: Groups,
    lorebooks: Lorebooks,
    personas: Personas,
}

impl Memories {
    pub(super) fn new(
        config: &Configuration,
        characters: &Characters,
        chat_lookup: &ChatLookup,
        groups: &Groups,
        lorebooks: &Lorebooks,
        personas: &Personas,
    ) -> Self {
        Self {
            config: config.clone(),
            characters: characters.clone(),
            chat_lookup: chat_lookup.clone(),
            groups: groups.clone(),
            lorebooks: lorebooks.clone(),
            personas: personas.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
