//! Chats and their messages, as pages show them.

pub(crate) mod bookmarks;
pub(crate) mod chat;
pub(crate) mod exported_rounds;
pub(crate) mod foreign_chat;
pub(crate) mod group_chat;
pub(crate) mod item_search;
pub(crate) mod manifest;
pub(crate) mod marks;
pub(crate) mod message_search;
pub(crate) mod start;
pub(crate) mod startup;
pub(crate) mod story_tree;

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::library::groups::Groups;
use crate::library::personas::Personas;
use crate::library::scripts::Scripts;
use crate::library::snapshots::Snapshots;
use crate::settings::handle::Configuration;

/// Chats and their messages. Clones share one state.
#[derive(Clone)]
pub(crate) struct Chats {
    config: Configuration,
    characters: Characters,
    chat_lookup: ChatLookup,
    groups: Groups,
    personas: Personas,
    scripts: Scripts,
    snapshots: Snapshots,
}

impl Chats {
    pub(super) fn new(
        config: &Configuration,
        characters: &Characters,
        chat_lookup: &ChatLookup,
        groups: &Groups,
        personas: &Personas,
        scripts: &Scripts,
        snapshots: &Snapshots,
    ) -> Self {
        Self {
            config: config.clone(),
            characters: characters.clone(),
            chat_lookup: chat_lookup.clone(),
            groups: groups.clone(),
            personas: personas.clone(),
            scripts: scripts.clone(),
            snapshots: snapshots.clone(),
        }
    }

    fn base(&self) -> &Base {
        self.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.config
    }
}
