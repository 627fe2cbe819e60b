//! Deletes saved KV caches that contain retracted or edited text, because a cache holds every token
//! that a model has read of a chat. Code that retracts text records the affected chats in the
//! store.

use std::sync::{Arc, Weak};

use domain::ChatId;
use store::StaleChats;
use tokio::sync::oneshot;

use crate::api::Event;
use crate::base::error::ApiResult;
use crate::base::handle::Base;
use crate::settings::handle::Configuration;

/// Caches whose files are being deleted.
pub(crate) struct Dropping {
    stale: StaleChats,
    gone: oneshot::Receiver<()>,
}

/// Saved KV caches of chats whose past has changed. Clones share one state.
#[derive(Clone)]
pub(crate) struct StaleCaches(Arc<StaleCachesState>);

/// The rooms that this one uses.
struct StaleCachesState {
    config: Configuration,
}

/// A handle for background tasks, which does not keep the engine open.
#[derive(Clone)]
pub(super) struct WeakStaleCaches(Weak<StaleCachesState>);

impl WeakStaleCaches {
    pub(super) fn upgrade(&self) -> Option<StaleCaches> {
        self.0.upgrade().map(StaleCaches)
    }
}

impl StaleCaches {
    pub(super) fn new(config: &Configuration) -> Self {
        Self(Arc::new(StaleCachesState {
            config: config.clone(),
        }))
    }

    fn downgrade(&self) -> WeakStaleCaches {
        WeakStaleCaches(Arc::downgrade(&self.0))
    }

    fn base(&self) -> &Base {
        self.0.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.0.config
    }

    /// Deletes the saved caches of the noted chats. If a file still exists when the app closes, its
    /// chat stays noted for the next start.
    pub(crate) async fn drop_stale_caches(&self) -> ApiResult<()> {
        let dropping = self.begin_dropping().await?;
        self.dropped(dropping).await
    }

    /// Requests the deletion; `None` if there is nothing to delete.
    pub(crate) async fn begin_dropping(&self) -> ApiResult<Option<Dropping>> {
        let stale = self
            .base()
            .store()
            .read(|store| store.stale_caches().all())
            .await?;
        if stale.chats.is_empty() {
            return Ok(None);
        }
        let mut keys = Vec::new();
        for chat in &stale.chats {
            keys.extend(self.sequence_keys(*chat).await?);
        }
        let gone = self.config().local().exclude_from_saving(keys);
        Ok(Some(Dropping { stale, gone }))
    }

    /// Waits until the files are deleted.
    pub(crate) async fn dropped(&self, dropping: Option<Dropping>) -> ApiResult<()> {
        let Some(Dropping { stale, gone }) = dropping else {
            return Ok(());
        };
        match gone.await {
            Ok(()) => {
                self.base()
                    .store()
                    .write(move |store| store.stale_caches_mut().unmark(&stale))
                    .await?
            }
            Err(_) => tracing::warn!("a saved cache with deleted text could not be removed"),
        }
        Ok(())
    }

    /// Notes the chat if text was retracted while the prompt was built. To be called after a model
    /// has read a prompt without a stored plan.
    pub(crate) async fn note_if_withdrawn(&self, chat: ChatId, withdrawals: i64) -> ApiResult<()> {
        if self
            .base()
            .store()
            .read(|store| store.memories().retraction_count())
            .await?
            != withdrawals
        {
            self.base()
                .store()
                .write(move |store| store.stale_caches_mut().mark(chat))
                .await?;
        }
        Ok(())
    }

    /// Runs [`Self::drop_stale_caches`] now, and after every event that may follow a retraction,
    /// until the engine closes.
    pub(crate) fn drop_stale_caches_in_background(&self) {
        tokio::spawn(drop_on(self.downgrade()));
    }
}

async fn drop_on(caches: WeakStaleCaches) {
    let Some((mut news, ended)) = caches.upgrade().map(|caches| {
        (
            caches.base().events().subscribe(),
            caches.base().idle().ended().clone(),
        )
    }) else {
        return;
    };
    loop {
        let Some(caches) = caches.upgrade() else {
            return;
        };
        let at_work = caches.base().idle().at_work();
        if let Some(Err(error)) = ended.run_until_cancelled(caches.drop_stale_caches()).await {
            tracing::warn!(%error, "a saved cache may contain deleted text until the next start");
        }
        drop(caches);
        drop(at_work);
        loop {
            match ended.run_until_cancelled(news.next()).await {
                Some(Some(event)) if may_withdraw(&event) => break,
                Some(Some(_)) => {}
                _ => return,
            }
        }
    }
}

/// Whether the event may follow a retraction. Events of single tokens never do.
fn may_withdraw(event: &Event) -> bool {
    use Event::{Changed, Drafted, Ended, Forgot, Missed, Remembered};
    matches!(
        event,
        Changed { .. } | Ended { .. } | Drafted { .. } | Forgot { .. } | Remembered { .. } | Missed
    )
}

impl StaleCaches {
    /// The keys of the KV sequences of a chat: its own, and those of characters that missed
    /// messages.
    pub(crate) async fn sequence_keys(&self, chat: ChatId) -> ApiResult<Vec<String>> {
        use crate::library::groups::presence::sequence_key;
        let absentees = self
            .base()
            .store()
            .read(move |store| store.groups().absentees(chat))
            .await?;
        let own = absentees
            .into_keys()
            .map(|character| sequence_key(chat, Some(character)));
        Ok(std::iter::once(sequence_key(chat, None))
            .chain(own)
            .collect())
    }
}
