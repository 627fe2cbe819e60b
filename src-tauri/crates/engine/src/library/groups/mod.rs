//! Group chats: members, who knows of which messages, and who speaks next.

pub(crate) mod member_files;
pub(crate) mod members;
pub(crate) mod next_turns;
pub(crate) mod presence;
pub(crate) mod scene;
pub(crate) mod speakers;
pub(crate) mod turn_order;

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::library::personas::Personas;

/// Members of group chats and their turns. Clones share one state.
#[derive(Clone)]
pub(crate) struct Groups {
    base: Base,
    characters: Characters,
    chat_lookup: ChatLookup,
    personas: Personas,
}

impl Groups {
    pub(super) fn new(
        base: &Base,
        characters: &Characters,
        chat_lookup: &ChatLookup,
        personas: &Personas,
    ) -> Self {
        Self {
            base: base.clone(),
            characters: characters.clone(),
            chat_lookup: chat_lookup.clone(),
            personas: personas.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
