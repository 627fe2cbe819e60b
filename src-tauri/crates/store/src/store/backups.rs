//! Backups, restores and archives of a data folder.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::Timestamp;

use super::handle::Store;
use crate::encryption::{cipher, folder_protection};
use crate::{
    BackupChoices, BackupFile, BackupKind, Converted, Differences, FolderKeys, Restored,
    StoreError, TakenBackup, TrashId, backup, files,
};

/// Backups of an open store.
impl Store {
    /// Backs up the database and the files it names, here and in the second place, and verifies the
    /// copy. Removes backups beyond the retention schedule or the budget.
    pub fn backup(
        &self,
        now: Timestamp,
        kind: BackupKind,
    ) -> impl Future<Output = Result<TakenBackup, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |conn| {
            let _alone = place.alone_with_backups();
            place.changed.store(false, Ordering::Relaxed);
            let keys = place.keys();
            let taken = place.explain(|dir| backup::take(conn, dir, now, kind, keys));
            if taken.is_err() {
                place.changed.store(true, Ordering::Relaxed);
            }
            taken
        })
    }

    /// Whether a backup is being written, imported or removed.
    pub fn is_backing_up(&self) -> bool {
        self.inner.place.try_alone_with_backups().is_err()
    }

    /// Whether the database was written since the last backup of this session. Before the first
    /// one, it compares with the newest existing backup.
    pub fn changed_since_backup(&self) -> bool {
        self.inner.place.changed.load(Ordering::Relaxed)
    }

    /// Removes backups permanently.
    pub fn remove_backups(
        &self,
        backups: Vec<BackupFile>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |_| {
            let _alone = place.alone_with_backups();
            backups
                .iter()
                .try_for_each(|backup| backup::remove(&place.dir, backup, place.keys()))
        })
    }

    /// For each backup, newest first, returns which of `ids` it contains.
    pub fn backups_holding(
        &self,
        ids: Vec<TrashId>,
    ) -> impl Future<Output = Result<Vec<(BackupFile, Vec<bool>)>, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |_| backup::holders(&place.dir, &ids, place.keys()))
    }

    /// The changes that a restore of `backup` would make.
    pub fn compare_backup(
        &self,
        backup: PathBuf,
    ) -> impl Future<Output = Result<Differences, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|_| backup::compare(conn, &backup, place.keys())))
    }

    /// Writes the database with all pictures and files to one archive. The archive is not
    /// encrypted, also in a protected folder.
    pub fn export_archive(
        &self,
        out: PathBuf,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|dir| backup::export(conn, dir, &out, place.keys())))
    }

    /// Imports an archive as a backup, after checking all of it. Returns the path of the backup. In
    /// a protected folder, the backup is encrypted.
    pub fn import_archive(
        &self,
        archive: PathBuf,
        now: Timestamp,
    ) -> impl Future<Output = Result<PathBuf, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |_| {
            let _alone = place.alone_with_backups();
            place.explain(|dir| backup::import(dir, &archive, now, place.keys()))
        })
    }
}

/// Backups of a data folder, open or not.
impl Store {
    /// The backups in a data folder, newest first. The store need not be open.
    ///
    /// In a protected folder, only its keys tell the kind and the order of backups, and whose they
    /// are.
    pub fn backups(dir: &Path, keys: Option<&FolderKeys>) -> Result<Vec<BackupFile>, StoreError> {
        backup::list(dir, keys)
    }

    /// The backup folder of a data folder.
    pub fn backup_folder(dir: &Path) -> PathBuf {
        dir.join(files::BACKUPS)
    }

    /// The folders with backups that are available: in the data folder, and the second place.
    pub fn backup_folders(dir: &Path) -> Vec<PathBuf> {
        let second = BackupChoices::read(dir).second_folder();
        let folders = std::iter::once(Self::backup_folder(dir)).chain(second);
        folders.filter(|folder| folder.is_dir()).collect()
    }

    /// Whether the folder has a key file, readable or not.
    pub fn has_key_file(dir: &Path) -> bool {
        cipher::has_key_file(dir)
    }

    /// Whether the database of a folder begins like one that is not encrypted. `None` if there is no
    /// database, or an empty one.
    pub fn has_plain_header(dir: &Path) -> Option<bool> {
        cipher::has_plain_header(dir)
    }

    /// Whether the next start performs a restore.
    pub fn restore_is_pending(dir: &Path) -> bool {
        backup::restore_is_pending(dir)
    }

    /// Checks that the database of a backup is intact, and that this version can restore it.
    pub fn check_database(backup: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
        backup::verify(backup, keys)
    }

    /// Checks that a backup is intact with its pictures and files, and that this version can
    /// restore it.
    pub fn check_backup(backup: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
        backup::verify_with_files(backup, keys)
    }

    /// The total bytes of the backups in a data folder.
    pub fn backup_size(dir: &Path) -> u64 {
        backup::size(dir)
    }

    /// The backup that [`Store::restore_newest`] would restore.
    pub fn newest_good_backup(dir: &Path, keys: Option<&FolderKeys>) -> Option<BackupFile> {
        backup::newest_good(dir, keys)
    }

    pub fn backup_choices(dir: &Path) -> BackupChoices {
        BackupChoices::read(dir)
    }

    /// Stores the settings, and creates our folder in a new second place.
    pub fn choose_backups(dir: &Path, choices: &BackupChoices) -> Result<(), StoreError> {
        backup::choose(dir, choices)
    }

    /// Verifies `backup` again and replaces the database with it. The database moves to a folder
    /// `replaced-<UTC>`. Missing pictures and files that the backup names are restored. The store
    /// must be closed. In a protected folder, a plain backup is encrypted.
    pub fn restore(
        dir: &Path,
        backup: &Path,
        now: Timestamp,
        keys: Option<&FolderKeys>,
    ) -> Result<Restored, StoreError> {
        backup::restore(dir, backup, now, keys)
    }

    /// Restores the newest intact backup, and skips damaged ones. The store must be closed.
    pub fn restore_newest(
        dir: &Path,
        now: Timestamp,
        keys: Option<&FolderKeys>,
    ) -> Result<Restored, StoreError> {
        backup::restore_newest(dir, now, keys)
    }

    /// Schedules the restore of `backup` for the next start, before anything else.
    pub fn restore_at_next_start(dir: &Path, backup: &Path) -> Result<(), StoreError> {
        backup::request_restore(dir, backup)
    }

    /// Encrypts all files of a data folder that have content: the current database, those set
    /// aside, backups with their files, assets. Thumbnails are deleted, because they are made
    /// again. The key file must be in the folder, and the store must be closed.
    ///
    /// After an error or a kill, some files are encrypted already: keep the key file, and call this
    /// again, or [`Store::unprotect`]. Until then, the folder does not open.
    pub fn protect(dir: &Path, keys: &FolderKeys) -> Result<Converted, StoreError> {
        folder_protection::protect(dir, keys)
    }

    /// Decrypts what [`Store::protect`] encrypted. The caller removes the key file after that, so that
    /// the folder opens without keys. Files that failed need a copy of the key file.
    pub fn unprotect(dir: &Path, keys: &FolderKeys) -> Result<Converted, StoreError> {
        folder_protection::unprotect(dir, keys)
    }

    /// The files of a protected folder that can be read without its keys, here and in a second
    /// place that is there: what a conversion could not encrypt, and copies from before.
    pub fn plain_leftovers(dir: &Path, keys: &FolderKeys) -> Vec<PathBuf> {
        folder_protection::plain_leftovers(dir, keys)
    }

    /// Moves the database to a folder `replaced-<UTC>` that is returned, so that the next `open`
    /// starts fresh; `None` if there is no database. Assets and backups stay. The store must be
    /// closed.
    pub fn set_aside(
        dir: &Path,
        now: Timestamp,
        keys: Option<&FolderKeys>,
    ) -> Result<Option<PathBuf>, StoreError> {
        backup::set_aside(dir, now, keys)
    }
}
