//! Lorebook entries of a turn: which are active, and what they cost.

pub(crate) mod activation;
pub(crate) mod books;
pub(crate) mod cache;
pub(crate) mod counts;
pub(crate) mod left_out;
pub(crate) mod lines;
pub(crate) mod macros;
pub(crate) mod reasons;
pub(crate) mod similarity;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::lore::cache::LoreCache;

/// Activates lorebook entries. Clones share one state.
#[derive(Clone)]
pub(crate) struct LoreActivation {
    recall: RecallService,
    cache: Arc<Mutex<LoreCache>>,
}

impl LoreActivation {
    pub(super) fn new(recall: &RecallService) -> Self {
        Self {
            recall: recall.clone(),
            cache: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        self.recall.base()
    }

    fn config(&self) -> &Configuration {
        self.recall.config()
    }

    fn library(&self) -> &Library {
        self.recall.library()
    }

    fn recall_service(&self) -> &RecallService {
        &self.recall
    }

    fn lore_cache(&self) -> MutexGuard<'_, LoreCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
