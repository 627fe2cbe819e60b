//! Lorebooks and their entries.

pub(crate) mod book;
pub(crate) mod entries;
pub(crate) mod stored_book;

use crate::base::handle::Base;
use crate::library::drafts::Drafts;

/// Lorebooks and their entries. Clones share one state.
#[derive(Clone)]
pub(crate) struct Lorebooks {
    base: Base,
    drafts: Drafts,
}

impl Lorebooks {
    pub(super) fn new(base: &Base, drafts: &Drafts) -> Self {
        Self {
            base: base.clone(),
            drafts: drafts.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
