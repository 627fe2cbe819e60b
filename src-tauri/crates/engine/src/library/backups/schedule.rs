//! Automatic backups, made hourly if there are changes.

use std::time::Duration;

use domain::Timestamp;
use store::{BackupFile, BackupKind, Store, TakenBackup};

use crate::api::DataWarningKind;
use crate::base::error::{ApiResult, internal};
use crate::base::handle::Base;
use crate::base::protection::upkeep;
use crate::library::backups::{Backups, WeakBackups};

const HOUR: Duration = Duration::from_secs(3_600);
/// Minimum delay of the first backup, so that startup and the purge finish first.
const FIRST: Duration = Duration::from_secs(300);
const DAY: Duration = Duration::from_secs(24 * 3_600);
/// Delay before the next check if nothing has changed.
const AGAIN: Duration = Duration::from_secs(300);

impl Backups {
    /// Makes a backup and records whether it failed.
    pub(crate) async fn back_up(&self, kind: BackupKind) -> ApiResult<TakenBackup> {
        let taken = self.base().store().backup(self.base().now(), kind).await;
        match &taken {
            Ok(taken) => {
                self.report_backup(taken).await;
                self.refresh_key_files().await;
            }
            Err(error) => {
                self.warnings()
                    .warn(
                        DataWarningKind::BackupFailed,
                        0,
                        format!("The last backup failed: {error}."),
                    )
                    .await
            }
        }
        Ok(taken?)
    }

    /// Backups of a protected folder need its key file next to them.
    async fn refresh_key_files(&self) {
        let Some(unlocked) = self.base().keys().cloned() else {
            return;
        };
        let dir = self.base().store().dir().to_owned();
        upkeep::refresh_key_files(dir, unlocked).await;
    }

    async fn report_backup(&self, taken: &TakenBackup) {
        self.warnings()
            .warning_over(DataWarningKind::BackupFailed)
            .await;
        self.warnings()
            .warning_over(DataWarningKind::TextsChanged)
            .await;
        match &taken.second_failed {
            None => {
                self.warnings()
                    .warning_over(DataWarningKind::SecondCopyFailed)
                    .await
            }
            Some(reason) => {
                let detail = format!("The second folder has no copy: {reason}.");
                self.warnings()
                    .warn(DataWarningKind::SecondCopyFailed, 0, detail)
                    .await;
            }
        }
        match u32::try_from(taken.missing).unwrap_or(u32::MAX) {
            0 => {
                self.warnings()
                    .warning_over(DataWarningKind::PicturesLost)
                    .await
            }
            missing => {
                self.warnings()
                    .warn(DataWarningKind::PicturesLost, missing, String::new())
                    .await
            }
        }
    }

    /// Makes a backup when the app closes, if the session changed something and the newest backup
    /// is an hour old. A short session ends before its first automatic backup.
    pub(crate) async fn back_up_at_end(&self) {
        if !self.base().store().changed_since_backup() {
            return;
        }
        let now = self.base().now();
        let newest = newest_backup(self.base()).await;
        if newest.is_ok_and(|newest| newest.is_some_and(|newest| is_recent(now, newest))) {
            return;
        }
        if let Err(error) = self.back_up(BackupKind::Automatic).await {
            tracing::warn!(%error, "the backup at the end of the session failed");
        }
    }

    /// Whether something has changed, or a second place is back that still has forgotten items.
    async fn is_due(&self) -> bool {
        let store = self.base().store();
        if store.changed_since_backup() {
            return true;
        }
        let dir = store.dir().to_owned();
        // A folder on the network may answer late.
        let owed = tokio::task::spawn_blocking(move || Store::can_remove_owed(&dir));
        owed.await.unwrap_or(false)
    }

    pub(crate) fn back_up_in_background(&self) {
        // The task must not hold the engine while it waits, so that dropping the engine releases
        // its folder at once.
        let library = self.downgrade();
        let newest = newest_backup(self.base());
        let now = self.base().now();
        tokio::spawn(async move {
            let first = first_backup_in(newest.await, now);
            back_up_hourly(library, first).await;
        });
    }
}

/// Delay before the first backup of a session.
fn first_backup_in(newest: ApiResult<Option<Timestamp>>, now: Timestamp) -> Duration {
    let newest = newest.ok().flatten();
    newest.map_or(FIRST, |newest| wait(now, newest))
}

/// The time of the newest backup of this folder.
fn newest_backup(base: &Base) -> impl Future<Output = ApiResult<Option<Timestamp>>> + Send + use<> {
    let dir = base.store().dir().to_owned();
    let keys = base.folder_keys();
    // The task has the keys and not the engine, which may close meanwhile.
    let listed = tokio::task::spawn_blocking(move || Store::backups(&dir, keys.as_deref()));
    async move {
        let all = listed
            .await
            .map_err(|_| internal("the backups could not be listed"))??;
        let own = |backup: &BackupFile| backup.own && backup.kind != BackupKind::SetAside;
        Ok(all.into_iter().find(own).map(|backup| backup.taken))
    }
}

fn is_recent(now: Timestamp, newest: Timestamp) -> bool {
    u128::from(now.0.abs_diff(newest.0)) < HOUR.as_millis()
}

/// Delay after several failures in a row. Most causes, such as a damaged page, do not go away by
/// themselves.
fn after_failures(failures: u32) -> Duration {
    HOUR.saturating_mul(1 << failures.saturating_sub(1).min(5))
        .min(DAY)
}

/// Waits one hour after the newest backup. Falls back to [`FIRST`] if the clock was set back.
fn wait(now: Timestamp, newest: Timestamp) -> Duration {
    let since = u64::try_from(now.0 - newest.0).map(Duration::from_millis);
    since.map_or(FIRST, |since| HOUR.saturating_sub(since).max(FIRST))
}

async fn back_up_hourly(backups: WeakBackups, first: Duration) {
    let mut wait = first;
    let mut failures = 0;
    loop {
        tokio::time::sleep(wait).await;
        // A dropped engine has already released its folder.
        let Some(backups) = backups.upgrade() else {
            return;
        };
        wait = AGAIN;
        if backups.is_due().await {
            match backups.back_up(BackupKind::Automatic).await {
                Ok(_) => (wait, failures) = (HOUR, 0),
                Err(error) => {
                    tracing::warn!(%error, "the automatic backup failed");
                    failures += 1;
                    wait = after_failures(failures);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_backup_is_due_an_hour_after_the_last() {
        let minutes = |minutes: i64| Timestamp(minutes * 60_000);
        assert_eq!(wait(minutes(70), minutes(50)), Duration::from_secs(40 * 60));
        assert_eq!(wait(minutes(500), minutes(50)), FIRST);
        assert_eq!(
            wait(minutes(10), minutes(50)),
            FIRST,
            "the clock was set back"
        );
        assert!(is_recent(minutes(70), minutes(50)));
        assert!(!is_recent(minutes(110), minutes(50)) && !is_recent(minutes(10), minutes(90)));
    }

    #[test]
    fn failed_backups_are_tried_less_and_less() {
        let hours: Vec<_> = (1..9)
            .map(|failures| after_failures(failures).as_secs() / 3_600)
            .collect();
        assert_eq!(hours, [1, 2, 4, 8, 16, 24, 24, 24]);
    }
}
