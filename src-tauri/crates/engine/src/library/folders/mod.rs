//! Folders of the lists, pinned and archived items.

pub(crate) mod folder;
pub(crate) mod places;

use crate::base::handle::Base;
use crate::library::characters::Characters;

/// Folders and places in the lists. Clones share one state.
#[derive(Clone)]
pub(crate) struct Folders {
    base: Base,
    characters: Characters,
}

impl Folders {
    pub(super) fn new(base: &Base, characters: &Characters) -> Self {
        Self {
            base: base.clone(),
            characters: characters.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
