//! Query embeddings that are computed before a turn needs them.

use std::sync::{Arc, Mutex, PoisonError};

use domain::ChatId;
use domain::chat::Chat;
use recall::query_embedding::Understood;
use tokio::sync::OnceCell;
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

/// The embedding of one text, finished or in progress. `None` if the model does not know its
/// language.
struct SharedEmbedding {
    model: String,
    embedding: OnceCell<Option<Understood>>,
}

/// Recent embeddings of questions, and the current prefetch.
#[derive(Default)]
pub(crate) struct Prefetched {
    /// Embeddings of drafts, of previews, and of questions that are asked again.
    known: Recent<Arc<SharedEmbedding>>,
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

    /// The embedding of a text by `model`, if it is finished.
    pub(crate) fn of(&self, text: &str, model: &str) -> Option<Understood> {
        let known = self.known.of(text).filter(|known| known.model == model)?;
        known.embedding.get().cloned().flatten()
    }

    /// The embedding of a text by `model`. If it is in progress, this waits for it. Otherwise
    /// `embed` makes it, which also takes over if the caller that began is cancelled.
    pub(crate) async fn of_or<E>(
        &self,
        text: &str,
        model: &str,
        embed: impl Future<Output = Result<Option<Understood>, E>>,
    ) -> Result<Option<Understood>, E> {
        let make = || {
            Arc::new(SharedEmbedding {
                model: model.to_owned(),
                embedding: OnceCell::new(),
            })
        };
        let shared = self
            .known
            .get_or_put(text, |known| known.model == model, make);
        let embedding = shared.embedding.get_or_try_init(|| embed).await?;
        Ok(embedding.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use domain::embedding::Embedding;
    use futures_util::FutureExt as _;
    use recall::query_embedding::QueryEmbedding;
    use tokio::sync::oneshot;

    use super::*;

    type Made = Result<Option<Understood>, ()>;

    fn understood() -> Understood {
        let embedding = Embedding {
            mean: vec![1.0],
            tokens: Vec::new(),
            vectors: Vec::new(),
        };
        Arc::new(QueryEmbedding::new(embedding, "encoder"))
    }

    #[tokio::test]
    async fn text_is_embedded_once_for_all_who_wait() {
        let known = Prefetched::default();
        let (made, making) = oneshot::channel();
        let first = known.of_or("text", "encoder", async { Made::Ok(making.await.ok()) });
        let second = known.of_or("text", "encoder", pending::<Made>());
        let sent = async {
            assert!(known.of("text", "encoder").is_none(), "not finished");
            made.send(understood()).unwrap();
        };
        let (first, second, ()) = tokio::join!(first, second, sent);
        let [first, second] = [first, second].map(|made| made.unwrap().unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert!(known.of("text", "encoder").is_some());
        assert!(known.of("text", "another encoder").is_none());
    }

    #[tokio::test]
    async fn failed_or_cancelled_embedding_is_made_again() {
        let known = Prefetched::default();
        let cancelled = known.of_or("text", "encoder", pending::<Made>());
        assert!(cancelled.now_or_never().is_none());
        let failed = known.of_or("text", "encoder", ready(Made::Err(())));
        assert!(failed.await.is_err());
        let made = known.of_or("text", "encoder", ready(Made::Ok(Some(understood()))));
        assert!(made.await.unwrap().is_some());
    }
}
