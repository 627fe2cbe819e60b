//! Automatic backups, made hourly if there are changes.

use std::path::PathBuf;
use std::time::Duration;

use domain::Timestamp;
use store::{BackupKind, Store, TakenBackup};

use crate::base::error::{ApiResult, internal};
use crate::library::handle::Library;
use crate::library::handle::WeakLibrary;

const HOUR: Duration = Duration::from_secs(3_600);
/// Minimum delay of the first backup, so that startup and the purge finish first.
const FIRST: Duration = Duration::from_secs(300);
/// Delay before the next check if nothing has changed or a backup failed.
const AGAIN: Duration = Duration::from_secs(300);

impl Library {
    /// Makes a backup and records whether it failed.
    pub(crate) async fn back_up(&self, kind: BackupKind) -> ApiResult<TakenBackup> {
        let taken = self.base().store().backup(self.base().now(), kind).await;
        self.backup_failure().set(match &taken {
            Ok(taken) => taken.second_failed.as_ref().map(|reason| format!("The second folder has no copy: {reason}.")),
            Err(error) => Some(format!("The last backup failed: {error}.")),
        });
        Ok(taken?)
    }

    pub(crate) fn back_up_in_background(&self) {
        // The task must not hold the engine while it waits, so that dropping the engine releases its folder at once.
        let (library, dir, now) = (self.downgrade(), self.base().store().dir().to_owned(), self.base().now());
        tokio::spawn(async move {
            let first = first_backup_in(dir, now).await.unwrap_or(FIRST);
            back_up_hourly(library, first).await;
        });
    }
}

/// Delay before the first backup of a session.
async fn first_backup_in(dir: PathBuf, now: Timestamp) -> ApiResult<Duration> {
    let newest = tokio::task::spawn_blocking(move || Store::backups(&dir)).await;
    let newest = newest.map_err(|_| internal("the backups could not be listed"))??.into_iter();
    let newest =
        newest.filter(|backup| backup.own && backup.kind != BackupKind::SetAside).map(|backup| backup.taken).next();
    Ok(newest.map_or(FIRST, |newest| wait(now, newest)))
}

/// Waits one hour after the newest backup. Falls back to [`FIRST`] if the clock was set back.
fn wait(now: Timestamp, newest: Timestamp) -> Duration {
    let since = u64::try_from(now.0 - newest.0).map(Duration::from_millis);
    since.map_or(FIRST, |since| HOUR.saturating_sub(since).max(FIRST))
}

async fn back_up_hourly(library: WeakLibrary, first: Duration) {
    let mut wait = first;
    loop {
        tokio::time::sleep(wait).await;
        // A dropped engine has already released its folder.
        let Some(library) = library.upgrade() else { return };
        wait = AGAIN;
        if library.base().store().changed_since_backup() {
            match library.back_up(BackupKind::Automatic).await {
                Ok(_) => wait = HOUR,
                Err(error) => tracing::warn!(%error, "the automatic backup failed"),
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
        assert_eq!(wait(minutes(10), minutes(50)), FIRST, "the clock was set back");
    }
}
