//! Words that were withdrawn from prompts, or are said no more, leave the saved KV caches as well: what a model has read of a chat is
//! on the disk, token by token. Which chats that is stands in the store, noted by whatever withdrew the words.

use store::Stale;
use tokio::sync::oneshot;

use crate::Engine;
use crate::api::Event;
use crate::collect::Collected;
use crate::engine::WeakEngine;
use crate::error::Answer;

/// Caches whose files are being deleted.
pub(crate) struct Dropping {
    stale: Stale,
    gone: oneshot::Receiver<()>,
}

impl Engine {
    /// Drops the saved caches of the chats that were noted. One whose files are not gone when the program ends is still noted at
    /// the next start.
    pub(crate) async fn drop_stale_caches(&self) -> Answer<()> {
        let dropping = self.begin_dropping().await?;
        self.dropped(dropping).await
    }

    /// Asks for it; `None` if there is nothing to drop.
    pub(crate) async fn begin_dropping(&self) -> Answer<Option<Dropping>> {
        let stale = self.store().read(|store| store.stale_caches().all()).await?;
        if stale.chats.is_empty() {
            return Ok(None);
        }
        let gone = self.local().keep_off_disk(stale.chats.iter().map(ToString::to_string).collect());
        Ok(Some(Dropping { stale, gone }))
    }

    /// Waits for it.
    pub(crate) async fn dropped(&self, dropping: Option<Dropping>) -> Answer<()> {
        let Some(Dropping { stale, gone }) = dropping else { return Ok(()) };
        match gone.await {
            Ok(()) => self.store().write(move |store| store.stale_caches_mut().settle(&stale)).await?,
            Err(_) => tracing::warn!("a saved cache that has words that were withdrawn is still there"),
        }
        Ok(())
    }

    /// After a model has read a prompt of which no plan was kept: it may have words that were withdrawn while it was made.
    pub(crate) async fn note_if_withdrawn(&self, collected: &Collected) -> Answer<()> {
        let (chat, withdrawals) = (collected.chat.id, collected.withdrawals);
        if self.store().read(|store| store.memories().withdrawals()).await? != withdrawals {
            self.store().write(move |store| store.stale_caches_mut().note(chat)).await?;
        }
        Ok(())
    }

    /// [`Self::drop_stale_caches`] now, and whenever something has happened, until the engine ends.
    pub(crate) fn drop_stale_caches_in_background(&self) {
        tokio::spawn(drop_on(self.downgrade()));
    }
}

async fn drop_on(engine: WeakEngine) {
    let Some((mut news, ended)) =
        engine.upgrade().map(|engine| (engine.subscribe(), engine.reading_ahead().ended().clone()))
    else {
        return;
    };
    loop {
        let Some(engine) = engine.upgrade() else { return };
        let at_work = engine.reading_ahead().at_work();
        if let Some(Err(error)) = ended.run_until_cancelled(engine.drop_stale_caches()).await {
            tracing::warn!(%error, "a saved cache has words that were withdrawn until the next start");
        }
        drop(engine);
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

/// What comes with every token does not.
fn may_withdraw(event: &Event) -> bool {
    use Event::{Changed, Drafted, Ended, Forgot, Missed, Remembered};
    matches!(event, Changed { .. } | Ended { .. } | Drafted { .. } | Forgot { .. } | Remembered { .. } | Missed)
}
