//! Upkeep after startup: purges deleted items, and repairs the files of pictures and caches.

use std::time::Duration;

use domain::Timestamp;
use store::BackupKind;

use crate::api::DataWarningKind;
use crate::base::error::ApiResult;
use crate::library::backups::trusted_clock;
use crate::library::chats::manifest;
use crate::library::trash::Trash;
use crate::library::trash::items::purged_at;

/// Delay of the purge after startup.
const PURGE_AFTER: Duration = Duration::from_secs(30);

impl Trash {
    /// Permanently removes items deleted in an earlier session and expired trash, and repairs the
    /// files of pictures. Runs in the background, because a large purge takes seconds.
    pub(crate) fn purge_in_background(&self) {
        let trash = self.downgrade();
        let now = self.base().now();
        tokio::spawn(async move {
            // Wait, because the first screen uses the same writer. An engine that is dropped
            // meanwhile has released its folder.
            tokio::time::sleep(PURGE_AFTER).await;
            let Some(trash) = trash.upgrade() else {
                return;
            };
            if let Err(error) = trash.purge_expired(now).await {
                tracing::warn!(%error, "the purge of deleted items failed");
            }
            if let Err(error) = trash.stale_caches().drop_stale_caches().await {
                tracing::warn!(%error, "a saved cache may contain purged text");
            }
            trash.forget_what_is_gone().await;
            if let Err(error) = trash.repair_files().await {
                tracing::warn!(%error, "the files of pictures were not checked");
            }
        });
    }

    /// Purges what has expired at the start of the session, `now`. A clock that has jumped ahead
    /// counts only later, and a verified backup comes first.
    pub(crate) async fn purge_expired(&self, now: Timestamp) -> ApiResult<()> {
        let trusted = trusted_clock::look(self.base(), now).await?;
        let before = purged_at(trusted.now);
        if trusted.is_ahead {
            self.warnings()
                .warn(DataWarningKind::ClockAhead, 0, String::new())
                .await
        } else {
            self.warnings()
                .warning_over(DataWarningKind::ClockAhead)
                .await
        }
        if !self.base().store().has_expired(before).await? {
            return Ok(());
        }
        if self.base().store().changed_since_backup() {
            self.backups().back_up(BackupKind::Automatic).await?;
        }
        self.base()
            .store()
            .purge(before, manifest::without_words)
            .await?;
        Ok(())
    }

    /// Restores the files of pictures from the backups, and removes files that belong to nothing.
    async fn repair_files(&self) -> ApiResult<()> {
        let repair = self.base().store().repair_assets().await?;
        if repair.healed > 0 {
            let healed = u32::try_from(repair.healed).unwrap_or(u32::MAX);
            self.warnings()
                .warn(DataWarningKind::PicturesRestored, healed, String::new())
                .await;
        }
        match u32::try_from(repair.lost.len()).unwrap_or(u32::MAX) {
            0 => {
                self.warnings()
                    .warning_over(DataWarningKind::PicturesLost)
                    .await
            }
            lost => {
                self.warnings()
                    .warn(DataWarningKind::PicturesLost, lost, String::new())
                    .await
            }
        }
        // Pictures of lost changes may still be wanted.
        if self
            .base()
            .data_warnings()
            .get(DataWarningKind::LogLost)
            .is_none()
        {
            let removed = self.base().store().sweep_assets().await?;
            tracing::debug!(removed, "files that belonged to nothing were removed");
        }
        Ok(())
    }

    /// Deletes caches of chats that no longer exist. A chat may have been deleted with its
    /// character, or just before a crash.
    pub(crate) async fn forget_what_is_gone(&self) {
        let Ok(chats) = self.base().store().read(|store| store.chats().list()).await else {
            return;
        };
        let chats: Vec<String> = chats.iter().map(|chat| chat.id.to_string()).collect();
        let local = self.config().local().clone();
        let forget = move || local.forget_all_but(chats.iter().map(String::as_str));
        if let Err(error) = tokio::task::spawn_blocking(forget).await {
            tracing::warn!(%error, "the cache may contain deleted chats");
        }
    }
}
