//! Recall layer: searches messages, memories and documents for a turn.

use std::sync::{Arc, Weak};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::embeddings::encoder_state::EncoderState;
use crate::settings::handle::Configuration;

/// Search over messages, memories and documents. Clones share one state.
#[derive(Clone)]
pub(crate) struct RecallService {
    inner: Arc<RecallState>,
}

struct RecallState {
    library: Library,
    reading: EncoderState,
}

/// A handle that does not keep the engine open.
#[derive(Clone)]
pub(crate) struct WeakRecallService(Weak<RecallState>);

impl WeakRecallService {
    pub(crate) fn upgrade(&self) -> Option<RecallService> {
        Some(RecallService {
            inner: self.0.upgrade()?,
        })
    }
}

impl RecallService {
    pub(crate) fn new(library: Library, reading: EncoderState) -> Self {
        Self {
            inner: Arc::new(RecallState { library, reading }),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakRecallService {
        WeakRecallService(Arc::downgrade(&self.inner))
    }

    pub(crate) fn base(&self) -> &Base {
        self.inner.library.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        self.inner.library.config()
    }

    pub(crate) fn library(&self) -> &Library {
        &self.inner.library
    }

    /// The encoder and its caches.
    pub(crate) fn reading(&self) -> &EncoderState {
        &self.inner.reading
    }
}
