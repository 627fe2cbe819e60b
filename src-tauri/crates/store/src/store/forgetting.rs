//! Forgetting everything about a character, a persona or a span of time.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::Timestamp;

use super::handle::Store;
use crate::{BackupFile, ForgetCounts, ForgetTarget, Forgotten, StoreError, backup, forget, purge};

const LOG_IN_USE: &str = "the log of the database is in use";

impl Store {
    /// The numbers of items that [`Self::forget`] would remove. Nothing is changed.
    ///
    /// # Errors
    /// `NotFound` if the character or the persona does not exist.
    pub fn preview_forget(
        &self,
        target: ForgetTarget,
    ) -> impl Future<Output = Result<ForgetCounts, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .writer
            .run(move |conn| place.explain(|dir| forget::preview(conn, dir, place.keys(), target)))
    }

    /// Removes everything about `target` from the database file and the picture folder. With
    /// `forgotten`, the time of now, notes that the backups made so far must not contain it any
    /// more: every later backup removes those that do, as far as they can be reached.
    ///
    /// No backup is made meanwhile, because a copy would have the text in its free pages.
    ///
    /// # Errors
    /// `BackupRunning` instead of waiting for a backup, because every write would wait too.
    /// `NotFound` if the character or the persona does not exist. Nothing has changed then. A
    /// failure after the removal is part of the result.
    pub fn forget(
        &self,
        target: ForgetTarget,
        forgotten: Option<Timestamp>,
    ) -> impl Future<Output = Result<Forgotten, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.writer.run(move |conn| {
            let _alone = place.try_alone_with_backups()?;
            place.changed.store(true, Ordering::Relaxed);
            place.explain(|dir| {
                let mut done = forget::forget(conn, dir, place.keys(), target)?;
                let noted =
                    forgotten.map_or(Ok(()), |now| backup::owe(dir, target, now, place.keys()));
                done.backups_left = noted.err().map(|error| error.to_string());
                done.traces_left = match purge::erase(conn) {
                    Ok(true) => None,
                    Ok(false) => Some(LOG_IN_USE.to_owned()),
                    Err(error) => Some(error.to_string()),
                };
                Ok(done)
            })
        })
    }

    /// The backups that contain something of `target` or cannot be read.
    pub fn backups_about(
        &self,
        target: ForgetTarget,
    ) -> impl Future<Output = Result<Vec<BackupFile>, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |_| backup::holders_of(&place.dir, target, place.keys()))
    }

    /// Whether backups in a second place are to be removed that is there.
    pub fn can_remove_owed(dir: &Path) -> bool {
        backup::can_settle(dir)
    }
}
