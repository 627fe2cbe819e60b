//! Personas: the characters that the user plays.

pub(crate) mod bindings;
pub(crate) mod from_card;
pub(crate) mod persona;

use crate::base::handle::Base;
use crate::library::assets::Assets;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::settings::handle::Configuration;

/// Personas and the characters that they are bound to. Clones share one state.
#[derive(Clone)]
pub(crate) struct Personas {
    config: Configuration,
    assets: Assets,
    characters: Characters,
    chat_lookup: ChatLookup,
}

impl Personas {
    pub(super) fn new(
        config: &Configuration,
        assets: &Assets,
        characters: &Characters,
        chat_lookup: &ChatLookup,
    ) -> Self {
        Self {
            config: config.clone(),
            assets: assets.clone(),
            characters: characters.clone(),
            chat_lookup: chat_lookup.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
