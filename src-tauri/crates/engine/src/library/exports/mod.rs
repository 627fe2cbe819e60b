//! Chats and groups as files. Characters are exported by `characters/card_export.rs`.

pub(crate) mod chat;
pub(crate) mod group;

use crate::base::handle::Base;
use crate::library::assets::Assets;
use crate::library::chat_lookup::ChatLookup;
use crate::library::groups::Groups;

/// Chats as files. Clones share one state.
#[derive(Clone)]
pub(crate) struct Exports {
    base: Base,
    assets: Assets,
    chat_lookup: ChatLookup,
    groups: Groups,
}

impl Exports {
    pub(super) fn new(
        base: &Base,
        assets: &Assets,
        chat_lookup: &ChatLookup,
        groups: &Groups,
    ) -> Self {
        Self {
            base: base.clone(),
            assets: assets.clone(),
            chat_lookup: chat_lookup.clone(),
            groups: groups.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
