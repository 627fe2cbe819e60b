//! Characters: their cards with pictures, files, earlier versions and texts of one chat.

pub(crate) mod card_asset_list;
pub(crate) mod card_assets;
pub(crate) mod card_cache;
pub(crate) mod card_export;
pub(crate) mod card_fields;
pub(crate) mod card_rows;
pub(crate) mod card_versions;
pub(crate) mod cards;
pub(crate) mod chat_texts;
pub(crate) mod duplicate;
pub(crate) mod list;
pub(crate) mod slugs;
pub(crate) mod sprites;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::handle::Base;
use crate::library::assets::Assets;
use crate::library::characters::card_cache::CardCache;
use crate::library::chat_lookup::ChatLookup;

/// Characters and their cards. Clones share one state.
#[derive(Clone)]
pub(crate) struct Characters {
    base: Base,
    assets: Assets,
    chat_lookup: ChatLookup,
    cache: Arc<Mutex<CardCache>>,
}

impl Characters {
    pub(super) fn new(base: &Base, assets: &Assets, chat_lookup: &ChatLookup) -> Self {
        Self {
            base: base.clone(),
            assets: assets.clone(),
            chat_lookup: chat_lookup.clone(),
            cache: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn card_cache(&self) -> MutexGuard<'_, CardCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
