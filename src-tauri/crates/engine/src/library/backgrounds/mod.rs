//! Background pictures, and which one a chat shows.

pub(crate) mod chat_background;
pub(crate) mod pictures;

use crate::base::handle::Base;
use crate::library::assets::Assets;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::settings::handle::Configuration;

/// Background pictures. Clones share one state.
#[derive(Clone)]
pub(crate) struct Backgrounds {
    config: Configuration,
    assets: Assets,
    characters: Characters,
    chat_lookup: ChatLookup,
}

impl Backgrounds {
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
