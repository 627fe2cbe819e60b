//! Documents that belong to characters and chats.

pub(crate) mod files;
pub(crate) mod list;

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;

/// Attached documents. Clones share one state.
#[derive(Clone)]
pub(crate) struct Documents {
    base: Base,
    characters: Characters,
    chat_lookup: ChatLookup,
}

impl Documents {
    pub(super) fn new(base: &Base, characters: &Characters, chat_lookup: &ChatLookup) -> Self {
        Self {
            base: base.clone(),
            characters: characters.clone(),
            chat_lookup: chat_lookup.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
