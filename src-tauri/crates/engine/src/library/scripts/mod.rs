//! Regex scripts: where they are stored, and their work on messages.

pub(crate) mod list;
pub(crate) mod on_messages;
pub(crate) mod run;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::handle::Base;
use crate::library::characters::Characters;
use crate::library::chat_lookup::ChatLookup;
use crate::library::personas::Personas;
use crate::library::scripts::run::ScriptCache;
use crate::library::snapshots::Snapshots;

/// Regex scripts. Clones share one state.
#[derive(Clone)]
pub(crate) struct Scripts {
    base: Base,
    characters: Characters,
    chat_lookup: ChatLookup,
    personas: Personas,
    snapshots: Snapshots,
    cache: Arc<Mutex<ScriptCache>>,
}

impl Scripts {
    pub(super) fn new(
        base: &Base,
        characters: &Characters,
        chat_lookup: &ChatLookup,
        personas: &Personas,
        snapshots: &Snapshots,
    ) -> Self {
        Self {
            base: base.clone(),
            characters: characters.clone(),
            chat_lookup: chat_lookup.clone(),
            personas: personas.clone(),
            snapshots: snapshots.clone(),
            cache: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn script_cache(&self) -> MutexGuard<'_, ScriptCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
