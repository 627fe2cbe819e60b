//! Forgetting everything about a character, a persona or a span of time.

use std::future::Future;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use domain::Timestamp;

use super::handle::Store;
use crate::{BackupFile, ForgetCounts, ForgetTarget, Forgotten, StoreError, backup, forget};

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
            .run(move |conn| place.explain(|dir| forget::preview(conn, dir, target)))
    }

    /// Removes everything about `target` from the database and the picture folder. Its text stays
    /// in free pages of the database file until [`Self::erase_removed_text`], and in backups until
    /// [`Self::owe_backups`] and the next backup.
    ///
    /// # Errors
    /// `NotFound` if the character or the persona does not exist.
    pub fn forget(
        &self,
        target: ForgetTarget,
    ) -> impl Future<Output = Result<Forgotten, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.writer.run(move |conn| {
            place.changed.store(true, Ordering::Relaxed);
            place.explain(|dir| forget::forget(conn, dir, target))
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
            .run(move |_| backup::holders_of(&place.dir, target))
    }

    /// Notes that the backups made so far must not contain `target` any more. Every later backup
    /// removes those that do, as far as they can be reached.
    pub fn owe_backups(
        &self,
        target: ForgetTarget,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |_| {
            let _alone = place
                .backing_up
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            backup::owe(&place.dir, target, now)
        })
    }

    /// Whether backups in a second place are to be removed that is there.
    pub fn can_remove_owed(dir: &Path) -> bool {
        backup::can_settle(dir)
    }
}
