//! The operations: a preview, and the removal with its report. Once the database has changed, a
//! failure no longer ends the operation, because the report must say what was done.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::time::Duration;

use domain::ChatId;
use store::{BackupFile, BackupKind, Store, StoreError};

use crate::api::{ApiError, Changed, ForgetPreview, ForgetReport, ForgetSubject, RemainderKind};
use crate::base::error::ApiResult;
use crate::base::running::ChatReservation;
use crate::library::backups::backup::name;
use crate::library::forgetting::Forgetting;
use crate::settings::privacy;

/// Maximum time that a stopped reply may take to end.
const ENDING: Duration = Duration::from_secs(30);

impl Forgetting {
    /// The items that [`Self::forget`] would remove.
    ///
    /// # Errors
    /// `NotFound` if the character or the persona does not exist. `BadInput` for the last persona
    /// and for impossible days.
    pub(crate) async fn forget_preview(&self, subject: ForgetSubject) -> ApiResult<ForgetPreview> {
        let target = self.target(subject).await?;
        let store = self.base().store();
        let holders = store.backups_about(target).await?;
        Ok(ForgetPreview {
            removed: store.preview_forget(target).await?,
            backups: count(&holders, true),
            second_place_missing: self.backups.second_place_missing().await,
        })
    }

    /// Stops running replies, and removes everything about the subject: from the database, the
    /// pictures and the caches of models. With `backups`, makes a new backup and removes those that
    /// contain it, in the second location as soon as it is there.
    ///
    /// # Errors
    /// As for [`Self::forget_preview`], and `Busy` if a backup is being written or a reply does not
    /// stop. Nothing was removed then.
    pub(crate) async fn forget(
        &self,
        subject: ForgetSubject,
        backups: bool,
    ) -> ApiResult<ForgetReport> {
        let target = self.target(subject).await?;
        let store = self.base().store();
        // Otherwise replies would be stopped for nothing.
        if store.is_backing_up() {
            return Err(StoreError::BackupRunning.into());
        }
        let holders = store.backups_about(target).await?;
        let chats = store
            .read(move |store| store.chats().affected_by(target))
            .await?;
        let reserved = self.stop_replies(&chats).await?;
        let caches = self.cache_keys(&chats).await?;
        store.write(privacy::note_removed).await?;
        let forgotten_at = backups.then(|| self.base().now());
        let forgotten = store.forget(target, forgotten_at).await?;
        let mut report = ForgetReport::of(&forgotten);
        if forgotten.traces_left.is_none()
            && let Err(error) = store.write(privacy::note_erased).await
        {
            tracing::warn!(%error, "the database file will be rebuilt once more");
        }
        self.drop_caches(caches, &mut report).await;
        drop(reserved);
        if backups && forgotten.traces_left.is_some() {
            // A copy would have the traces too. The next backup removes the old ones.
            report.leave(
                RemainderKind::BackupFailed,
                "the database file is not rebuilt yet",
            );
        } else if backups {
            self.remove_backups(&mut report).await;
        } else {
            self.keep_backups(&holders, &mut report).await;
        }
        report.leave_all(RemainderKind::ForeignBackups, count(&holders, false));
        self.tell_everyone();
        Ok(report)
    }

    /// Ends the replies in these chats, and lets no new ones begin.
    async fn stop_replies(&self, chats: &[ChatId]) -> ApiResult<Vec<ChatReservation>> {
        let running = self.base().running();
        chats.iter().for_each(|chat| running.stop(*chat));
        let mut reserved = Vec::new();
        for chat in chats {
            let free = tokio::time::timeout(ENDING, running.begin_when_free(*chat)).await;
            reserved.push(free.map_err(|_| still_running())?);
        }
        Ok(reserved)
    }

    async fn cache_keys(&self, chats: &[ChatId]) -> ApiResult<Vec<String>> {
        let mut keys = Vec::new();
        for chat in chats {
            keys.extend(self.stale_caches.sequence_keys(*chat).await?);
        }
        Ok(keys)
    }

    /// Deletes the saved caches of these chats, and drops those in memory.
    async fn drop_caches(&self, keys: Vec<String>, report: &mut ForgetReport) {
        let local = self.config.local();
        keys.iter().for_each(|key| local.forget(key));
        if !keys.is_empty() && local.exclude_from_saving(keys).await.is_err() {
            report.leave(RemainderKind::Caches, "");
        }
        if let Err(error) = self.stale_caches.drop_stale_caches().await {
            report.leave(RemainderKind::Caches, error);
        }
        self.trash.forget_what_is_gone().await;
    }

    /// A new backup removes those that contain the forgotten.
    async fn remove_backups(&self, report: &mut ForgetReport) {
        match self.backups.back_up(BackupKind::ByHand).await {
            Ok(taken) => {
                report.settle(&taken.settled);
                if let Some(reason) = taken.second_failed {
                    report.leave(RemainderKind::SecondPlaceAway, reason);
                }
            }
            Err(error) => report.leave(RemainderKind::BackupFailed, error),
        }
    }

    async fn keep_backups(&self, holders: &[BackupFile], report: &mut ForgetReport) {
        report.leave_all(RemainderKind::BackupsKept, count(holders, true));
        if self.backups.second_place_missing().await {
            report.leave(RemainderKind::SecondPlaceKept, "");
        }
    }

    fn tell_everyone(&self) {
        self.characters.library_changed();
        for changed in [
            Changed::Personas,
            Changed::Memories,
            Changed::Lorebooks,
            Changed::Settings,
        ] {
            self.base().events().changed(changed, None);
        }
    }
}

impl Forgetting {
    /// Number of removals that a second location, which is away, still owes.
    pub(crate) async fn owed_removals(&self) -> ApiResult<u32> {
        let dir = self.base().store().dir().to_owned();
        let owed =
            tokio::task::spawn_blocking(move || Store::backup_choices(&dir).owed_in_second());
        let owed = owed
            .await
            .map_err(|_| crate::base::error::internal("the backups could not be read"))?;
        Ok(owed as u32)
    }
}

/// Number of backups of this data folder, or of others. A backup and its copy are one.
fn count(holders: &[BackupFile], own: bool) -> u32 {
    let names: HashSet<&OsStr> = holders
        .iter()
        .filter(|backup| backup.own == own)
        .map(name)
        .collect();
    names.len() as u32
}

fn still_running() -> ApiError {
    ApiError::Busy {
        message: "A reply in one of the chats does not stop.".into(),
        hint: "Wait until it ends, then try again. Nothing was removed.".into(),
    }
}
