//! Library layer: characters, chats, messages, lorebooks, personas, documents, memories, trash and
//! backups.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::base::handle::Base;
use crate::library::card_cache::CardCache;
use crate::library::script_run::ScriptCache;
use crate::settings::handle::Configuration;

/// Access to all data that the user owns. Clones share one state.
#[derive(Clone)]
pub(crate) struct Library {
    inner: Arc<LibraryState>,
}

struct LibraryState {
    config: Configuration,
    scripts: Mutex<ScriptCache>,
    card: Mutex<CardCache>,
}

/// A handle that does not keep the engine open.
#[derive(Clone)]
pub(crate) struct WeakLibrary(Weak<LibraryState>);

impl WeakLibrary {
    pub(crate) fn upgrade(&self) -> Option<Library> {
        Some(Library {
            inner: self.0.upgrade()?,
        })
    }
}

impl Library {
    pub(crate) fn new(config: Configuration) -> Self {
        let inner = LibraryState {
            config,
            scripts: Mutex::default(),
            card: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakLibrary {
        WeakLibrary(Arc::downgrade(&self.inner))
    }

    pub(crate) fn base(&self) -> &Base {
        self.inner.config.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        &self.inner.config
    }

    pub(crate) fn script_cache(&self) -> MutexGuard<'_, ScriptCache> {
        self.inner
            .scripts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn card_cache(&self) -> MutexGuard<'_, CardCache> {
        self.inner
            .card
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
