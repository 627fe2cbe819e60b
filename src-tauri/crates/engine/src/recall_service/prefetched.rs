//! Query embeddings that are computed before a turn needs them.

use std::sync::{Arc, Mutex, PoisonError};

use domain::ChatId;
use domain::chat::Chat;
use recall::query_embedding::Understood;
use tokio::task::AbortHandle;

use crate::recall_service::messages::recent::Recent;

/// The embedding of the user's latest messages in one scene of a chat, made in idle time.
#[derive(Default)]
pub(crate) struct InAdvance(pub(crate) Mutex<Option<(ChatId, Option<i64>, Understood)>>);

impl InAdvance {
    pub(crate) fn put(&self, chat: &Chat, understood: Understood) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((chat.id, chat.scene_after, understood));
    }

    /// `None` for another chat, for another scene, because a scene recalls nothing of the one
    /// before, and for another encoder.
    pub(crate) fn of(&self, chat: &Chat, model: &str) -> Option<Understood> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, scene, understood) = known.as_ref()?;
        (*id == chat.id && *scene == chat.scene_after && understood.model == model)
            .then(|| Arc::clone(understood))
    }
}

/// Recent embeddings of questions, and the current prefetch.
#[derive(Default)]
pub(crate) struct Prefetched {
    /// Embeddings of drafts, of previews, and of questions that are asked again.
    pub(crate) known: Recent<Understood>,
    pub(crate) looking: Mutex<Option<AbortHandle>>,
}

impl Prefetched {
    /// Replaces the current prefetch, which is cancelled.
    pub(crate) fn look(&self, looking: AbortHandle) {
        let before = self
            .looking
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(looking);
        before.inspect(AbortHandle::abort);
    }

    /// The embedding of a text by `model`.
    pub(crate) fn of(&self, text: &str, model: &str) -> Option<Understood> {
        self.known.of(text).filter(|known| known.model == model)
    }
}
