//! Library layer: all rooms of the data that the user owns.

use std::ops::Deref;
use std::sync::Arc;

use crate::base::handle::Base;
use crate::library::assets::Assets;
use crate::library::backgrounds::Backgrounds;
use crate::library::backups::Backups;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::library::chats::Chats;
use crate::library::data_warnings::Warnings;
use crate::library::documents::Documents;
use crate::library::drafts::Drafts;
use crate::library::exports::Exports;
use crate::library::folders::Folders;
use crate::library::forgetting::Forgetting;
use crate::library::groups::Groups;
use crate::library::lorebooks::Lorebooks;
use crate::library::memories::Memories;
use crate::library::personas::Personas;
use crate::library::private_characters::PrivateCharacters;
use crate::library::prompt_retention::PromptRetention;
use crate::library::quick_replies::QuickReplySets;
use crate::library::scripts::Scripts;
use crate::library::snapshots::Snapshots;
use crate::library::stale_caches::StaleCaches;
use crate::library::trash::Trash;
use crate::library::updates::Updates;
use crate::settings::handle::Configuration;

/// The rooms of all data that the user owns. Clones share one state.
#[derive(Clone)]
pub(crate) struct Library(Arc<LibraryRooms>);

/// One room for each feature, lowest first.
pub(crate) struct LibraryRooms {
    config: Configuration,
    pub(crate) warnings: Warnings,
    pub(crate) chat_lookup: ChatLookup,
    pub(crate) drafts: Drafts,
    pub(crate) stale_caches: StaleCaches,
    pub(crate) assets: Assets,
    pub(crate) characters: Characters,
    pub(crate) personas: Personas,
    pub(crate) groups: Groups,
    pub(crate) snapshots: Snapshots,
    pub(crate) scripts: Scripts,
    pub(crate) quick_replies: QuickReplySets,
    pub(crate) lorebooks: Lorebooks,
    pub(crate) documents: Documents,
    pub(crate) memories: Memories,
    pub(crate) chats: Chats,
    pub(crate) private_characters: PrivateCharacters,
    pub(crate) prompt_retention: PromptRetention,
    pub(crate) exports: Exports,
    pub(crate) backgrounds: Backgrounds,
    pub(crate) folders: Folders,
    pub(crate) backups: Backups,
    pub(crate) trash: Trash,
    pub(crate) forgetting: Forgetting,
    pub(crate) updates: Updates,
}

impl Deref for Library {
    type Target = LibraryRooms;

    fn deref(&self) -> &LibraryRooms {
        &self.0
    }
}

impl Library {
    pub(crate) fn new(config: Configuration) -> Self {
        let warnings = Warnings::new(config.base());
        let chat_lookup = ChatLookup::new(config.base());
        let drafts = Drafts::new(config.base());
        let stale_caches = StaleCaches::new(&config);
        let assets = Assets::new(&config, &warnings);
        let characters = Characters::new(config.base(), &assets, &chat_lookup);
        let personas = Personas::new(&config, &assets, &characters, &chat_lookup);
        let groups = Groups::new(config.base(), &characters, &chat_lookup, &personas);
        let snapshots = Snapshots::new(config.base(), &characters, &groups, &personas);
        let scripts = Scripts::new(
            config.base(),
            &characters,
            &chat_lookup,
            &personas,
            &snapshots,
        );
        let quick_replies = QuickReplySets::new(&config, &chat_lookup, &scripts);
        let lorebooks = Lorebooks::new(config.base(), &drafts);
        let documents = Documents::new(config.base(), &characters, &chat_lookup);
        let memories = Memories::new(
            &config,
            &characters,
            &chat_lookup,
            &groups,
            &lorebooks,
            &personas,
        );
        let chats = Chats::new(
            &config,
            &characters,
            &chat_lookup,
            &groups,
            &personas,
            &scripts,
            &snapshots,
        );
        let private_characters = PrivateCharacters::new(config.base());
        let prompt_retention = PromptRetention::new(&config);
        let exports = Exports::new(config.base(), &assets, &chat_lookup, &groups);
        let backgrounds = Backgrounds::new(&config, &assets, &characters, &chat_lookup);
        let folders = Folders::new(config.base(), &characters);
        let backups = Backups::new(config.base(), &warnings);
        let trash = Trash::new(&config, &backups, &characters, &stale_caches, &warnings);
        let forgetting = Forgetting::new(
            &config,
            &characters,
            &personas,
            &stale_caches,
            &backups,
            &trash,
        );
        let updates = Updates::new(&config, &backups);
        Self(Arc::new(LibraryRooms {
            config,
            warnings,
            chat_lookup,
            drafts,
            stale_caches,
            assets,
            characters,
            personas,
            groups,
            snapshots,
            scripts,
            quick_replies,
            lorebooks,
            documents,
            memories,
            chats,
            private_characters,
            prompt_retention,
            exports,
            backgrounds,
            folders,
            backups,
            trash,
            forgetting,
            updates,
        }))
    }

    pub(crate) fn base(&self) -> &Base {
        self.0.config.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        &self.0.config
    }
}
