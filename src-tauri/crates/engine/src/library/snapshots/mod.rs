//! One consistent reading of a chat for a turn: rows, names, variables and macros.

pub(crate) mod chat_macros;
pub(crate) mod macro_changes;
pub(crate) mod macro_scope;
pub(crate) mod macro_variables;
pub(crate) mod snapshot;

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::library::groups::Groups;
use crate::library::personas::Personas;

/// Snapshots of chats. Clones share one state.
#[derive(Clone)]
pub(crate) struct Snapshots {
    base: Base,
    characters: Characters,
    groups: Groups,
    personas: Personas,
}

impl Snapshots {
    pub(super) fn new(
        base: &Base,
        characters: &Characters,
        groups: &Groups,
        personas: &Personas,
    ) -> Self {
        Self {
            base: base.clone(),
            characters: characters.clone(),
            groups: groups.clone(),
            personas: personas.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
