//! Removes stored prompts that the settings no longer allow, in idle time.
//!
//! Prompts that are kept for 30 days are removed in groups, once the oldest one is a day older, so
//! that the database file is rebuilt at most once a day.

use std::sync::{Arc, Weak};
use std::time::Duration;

use domain::settings::PromptKeeping;
use domain::{ChatId, Timestamp};

use crate::api::{Changed, Event};
use crate::base::error::ApiResult;
use crate::base::events::Events;
use crate::base::handle::Base;
use crate::library::backups::trusted_clock;
use crate::library::chats::manifest::expiry;
use crate::settings::handle::Configuration;
use crate::settings::privacy;

const DAY_MS: i64 = 24 * 3_600_000;
const KEPT_MS: i64 = 30 * DAY_MS;

/// Delay of the first pass after the start, and of a pass that met a reply in progress.
const SOON: Duration = Duration::from_secs(60);
/// Delay between two passes.
const LATER: Duration = Duration::from_secs(3_600);

/// How long stored prompts stay. Clones share one state.
#[derive(Clone)]
pub(crate) struct PromptRetention(Arc<RetentionState>);

/// The rooms that this one uses.
struct RetentionState {
    config: Configuration,
}

/// A handle for background tasks, which does not keep the engine open.
struct WeakPromptRetention(Weak<RetentionState>);

impl WeakPromptRetention {
    fn upgrade(&self) -> Option<PromptRetention> {
        self.0.upgrade().map(PromptRetention)
    }
}

impl PromptRetention {
    pub(super) fn new(config: &Configuration) -> Self {
        Self(Arc::new(RetentionState {
            config: config.clone(),
        }))
    }

    fn base(&self) -> &Base {
        self.0.config.base()
    }

    fn config(&self) -> &Configuration {
        &self.0.config
    }

    /// Removes outdated prompts from time to time, and after each change of a setting, until the
    /// engine closes.
    pub(crate) fn remove_in_background(&self) {
        let news = self.base().events().subscribe();
        let weak = WeakPromptRetention(Arc::downgrade(&self.0));
        tokio::spawn(remove_in_idle_time(weak, news));
    }

    /// Removes the prompts that the settings no longer allow, and erases their text from the
    /// database file. Returns how many there were. Stops early if a reply begins.
    pub(crate) async fn remove_outdated(&self) -> ApiResult<usize> {
        let global = self.config().privacy.global_settings();
        let keeping = self
            .base()
            .store()
            .read(move |store| Ok(global.values(store)?.keep_prompts))
            .await?;
        let removed = match keeping {
            PromptKeeping::All => 0,
            PromptKeeping::Month => self.remove_old().await?,
            PromptKeeping::Nothing => self.config().privacy.delete_unwanted_prompts().await?,
        };
        self.config().privacy.erase_removed_prompts().await?;
        if removed > 0 {
            self.base().events().changed(Changed::Settings, None);
        }
        Ok(removed)
    }

    async fn remove_old(&self) -> ApiResult<usize> {
        let now = self.base().now();
        if self
            .chats_before(now.0 - KEPT_MS - DAY_MS)
            .await?
            .is_empty()
        {
            return Ok(0);
        }
        let limit = trusted_clock::look(self.base(), now).await?.now.0 - KEPT_MS;
        let mut removed = 0;
        for chat in self.chats_before(limit).await? {
            if !self.base().running().none() {
                break;
            }
            removed += self.remove_of_chat(chat, Timestamp(limit)).await?;
        }
        Ok(removed)
    }

    /// The chats with stored prompts from before `time`, in milliseconds.
    async fn chats_before(&self, time: i64) -> ApiResult<Vec<ChatId>> {
        let chats = self
            .base()
            .store()
            .read(move |store| store.manifests().chats_before(Timestamp(time)));
        Ok(chats.await?)
    }

    async fn remove_of_chat(&self, chat: ChatId, limit: Timestamp) -> ApiResult<usize> {
        let remove = move |store: &mut store::WriteTransaction<'_>| {
            privacy::note_removed(store)?;
            expiry::remove_older(store, chat, limit)
        };
        Ok(self.base().store().write(remove).await?)
    }

    /// Returns the delay until the next pass.
    async fn remove_if_idle(&self) -> Duration {
        if !self.base().running().none() {
            return SOON;
        }
        let ended = self.base().idle().ended().clone();
        if let Some(Err(error)) = ended.run_until_cancelled(self.remove_outdated()).await {
            tracing::warn!(%error, "outdated prompts could not be removed");
        }
        LATER
    }
}

async fn remove_in_idle_time(retention: WeakPromptRetention, mut news: Events) {
    let mut delay = SOON;
    loop {
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            () = setting_changed(&mut news) => {}
        }
        let Some(retention) = retention.upgrade() else {
            return;
        };
        let at_work = retention.base().idle().at_work();
        delay = retention.remove_if_idle().await;
        drop(retention);
        drop(at_work);
    }
}

/// Waits for a change of a setting. Waits forever once the engine is gone.
async fn setting_changed(news: &mut Events) {
    while let Some(event) = news.next().await {
        if is_change(&event) {
            return;
        }
    }
    std::future::pending().await
}

fn is_change(event: &Event) -> bool {
    matches!(
        event,
        Event::Missed
            | Event::Changed {
                what: Changed::Settings,
                ..
            }
    )
}
