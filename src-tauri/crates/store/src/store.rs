//! The public handle of the store.

use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use domain::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};
use tempfile::TempDir;

use crate::access::{ReadTransaction, WriteTransaction};
use crate::commits::CommitCounter;
use crate::connection::{Durability, quick_check, set_durability};
use crate::lock::Lock;
use crate::open::{FILE, Opened, Options};
use crate::pool::Pool;
use crate::table::asset;
use crate::{
    AssetHash, AssetRepair, BackupChoices, BackupFile, BackupKind, Before, Differences, Purged,
    RedactManifest, Restored, StoreError, TakenBackup, TrashId, asset_files, backup, checksum,
    files, migrate, open, purge,
};

/// A handle on the data folder. Clones share it, and dropping the last one closes the database.
///
/// `write`, `checkpoint`, `read`, `backup` and `purge` queue their work immediately and return a
/// future of its result. The future needs no specific runtime, and dropping it does not cancel the
/// work. Writes run in the order of the calls. `read`, `write` and `checkpoint` trace each call as
/// a job, so that tests can count the jobs of a turn.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    place: Arc<DataFolder>,
    // Fields are dropped in this order. The writer closes last, which removes the WAL file.
    readers: Pool,
    writer: Pool,
    _closing: Closing,
    _temporary: Option<TempDir>,
}

struct DataFolder {
    dir: PathBuf,
    /// When this store was opened, on the clock of the file system.
    opened: SystemTime,
    counter: Option<CommitCounter>,
    /// Serialises backups, because two at once would use the same name.
    backing_up: Mutex<()>,
    /// Whether the database was written since the last backup.
    changed: AtomicBool,
    /// SQLite found damage, so the next start must check the database even after a clean close.
    damaged: AtomicBool,
}

/// Records the clean close of the database. It is dropped after the pools.
struct Closing {
    lock: Lock,
    place: Arc<DataFolder>,
}

impl Store {
    /// Opens the data folder `dir`, and creates it if needed. Blocks until the database is ready.
    ///
    /// # Errors
    /// `InUse` if another process has opened it, `Damaged` (see `backups`, `restore`, `set_aside`),
    /// `TooNew`, `ReadOnly`, `Full`.
    pub fn open(dir: &Path, options: Options) -> Result<Opened, StoreError> {
        open::open(dir, options, migrate::MIGRATIONS)
    }

    /// Creates an empty store in a temporary folder, which is removed with it. For tests and
    /// measurements.
    pub fn in_memory() -> Result<Self, StoreError> {
        let temporary = TempDir::new().map_err(|error| {
            StoreError::file(error, &std::env::temp_dir(), &std::env::temp_dir())
        })?;
        let mut store = Self::open(temporary.path(), Options { now: Timestamp(0) })?.store;
        if let Some(inner) = Arc::get_mut(&mut store.inner) {
            inner._temporary = Some(temporary);
        }
        Ok(store)
    }

    pub(crate) fn new(
        dir: &Path,
        writer: Pool,
        readers: Pool,
        (lock, counter): (Lock, Option<CommitCounter>),
        changed: bool,
    ) -> Self {
        let place = Arc::new(DataFolder {
            dir: dir.to_owned(),
            opened: SystemTime::now(),
            counter,
            backing_up: Mutex::default(),
            changed: AtomicBool::new(changed),
            damaged: AtomicBool::new(false),
        });
        let closing = Closing {
            lock,
            place: Arc::clone(&place),
        };
        Self {
            inner: Arc::new(Inner {
                place,
                readers,
                writer,
                _closing: closing,
                _temporary: None,
            }),
        }
    }

    /// The data folder.
    pub fn dir(&self) -> &Path {
        &self.inner.place.dir
    }

    /// Path of an asset's file, whether it exists or not.
    pub fn asset_path(&self, hash: AssetHash) -> PathBuf {
        hash.path_in(&self.dir().join(files::ASSETS))
    }

    /// Writes an asset's file before the transaction that stores it (`put_kept`), so that many
    /// files can be written in parallel. Blocks until it is on disk. A later `put` of the same
    /// content reuses an orphaned file.
    pub fn keep_file(&self, bytes: &[u8]) -> Result<AssetHash, StoreError> {
        let hash = AssetHash::of(bytes);
        asset::write(self.dir(), hash, bytes)?;
        Ok(hash)
    }

    /// Path of a picture's thumbnail, whether it exists or not.
    pub fn thumbnail_path(&self, picture: AssetHash) -> PathBuf {
        picture.path_in(&self.dir().join(files::THUMBNAILS))
    }

    /// Stores a thumbnail until its picture is purged. Blocks until it is on disk.
    pub fn keep_thumbnail(&self, picture: AssetHash, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.thumbnail_path(picture);
        files::write(&path, bytes).map_err(|error| StoreError::file(error, &path, self.dir()))
    }

    /// Runs one transaction, which is on disk when the future is ready. Use it for everything that
    /// users write.
    #[track_caller]
    pub fn write<T, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        trace_job("write");
        self.transact(Durability::Full, work)
    }

    /// Runs one transaction that survives a crash of the app, but may be lost in a power failure.
    /// Use it while a reply streams.
    #[track_caller]
    pub fn checkpoint<T, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        trace_job("checkpoint");
        self.transact(Durability::Normal, work)
    }

    /// Runs a closure on a consistent snapshot. Reads run in parallel with each other and with the
    /// writer.
    #[track_caller]
    pub fn read<T, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&ReadTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        trace_job("read");
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |conn| {
            place.explain(|dir| {
                let transaction = conn.transaction()?;
                work(&ReadTransaction {
                    conn: &transaction,
                    dir,
                })
            })
        })
    }

    /// Backs up the database and the files it names, here and in the second place, and verifies the
    /// copy. Removes backups beyond the retention schedule or the budget.
    pub fn backup(
        &self,
        now: Timestamp,
        kind: BackupKind,
    ) -> impl Future<Output = Result<TakenBackup, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |conn| {
            let _alone = place
                .backing_up
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            place.changed.store(false, Ordering::Relaxed);
            let taken = place.explain(|dir| backup::take(conn, dir, now, kind));
            if taken.is_err() {
                place.changed.store(true, Ordering::Relaxed);
            }
            taken
        })
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
            let _alone = place
                .backing_up
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            backups
                .iter()
                .try_for_each(|backup| backup::remove(&place.dir, backup))
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
            .run(move |_| backup::holders(&place.dir, &ids))
    }

    /// The changes that a restore of `backup` would make.
    pub fn compare_backup(
        &self,
        backup: PathBuf,
    ) -> impl Future<Output = Result<Differences, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|_| backup::compare(conn, &backup)))
    }

    /// Writes the database with all pictures and files to one archive.
    pub fn export_archive(
        &self,
        out: PathBuf,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|dir| backup::export(conn, dir, &out)))
    }

    /// Imports an archive as a backup, after checking all of it. Returns the path of the backup.
    pub fn import_archive(
        &self,
        archive: PathBuf,
        now: Timestamp,
    ) -> impl Future<Output = Result<PathBuf, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |_| {
            let _alone = place
                .backing_up
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            place.explain(|dir| backup::import(dir, &archive, now))
        })
    }

    /// Permanently removes deleted characters, chats, messages, documents and lorebooks, and assets
    /// without references. `without_words` removes quoted text from manifests. The text is erased
    /// from the database file; backups keep their copies, including pictures.
    ///
    /// # Errors
    /// `Full` if there is not enough space to rebuild the file. The rows are then removed, but
    /// traces of their text stay until a later purge that removes something.
    pub fn purge(
        &self,
        before: Before,
        without_words: RedactManifest,
    ) -> impl Future<Output = Result<Purged, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .writer
            .run(move |conn| place.explain(|dir| purge::purge(conn, dir, before, without_words)))
    }

    /// Whether a purge would remove items or earlier texts.
    pub fn has_expired(
        &self,
        before: Before,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|_| purge::has_expired(conn, before)))
    }

    /// Restores files of assets that are missing or cut off from the backups.
    pub fn repair_assets(
        &self,
    ) -> impl Future<Output = Result<AssetRepair, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|dir| asset_files::heal_all(conn, dir)))
    }

    /// Restores the file of one asset from the backups. Blocks. Returns its content, or `None` if
    /// no backup has it.
    pub fn repair_asset(&self, hash: AssetHash) -> Result<Option<Vec<u8>>, StoreError> {
        asset_files::heal(self.dir(), hash)
    }

    /// Removes files of assets that the database does not name and that were there when the store
    /// was opened. Returns how many.
    pub fn sweep_assets(&self) -> impl Future<Output = Result<usize, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        // On the writer, so that no row is stored between the comparison and the removal.
        self.inner
            .writer
            .run(move |conn| place.explain(|dir| asset_files::sweep(conn, dir, place.opened)))
    }

    /// Reads the whole database and checks its structure and the checksum of every text.
    pub fn check(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |conn| {
            place.explain(|dir| {
                check(conn).map_err(|detail| StoreError::Damaged {
                    path: dir.join(FILE),
                    detail,
                })
            })
        })
    }

    /// The backups in a data folder, newest first. The store need not be open.
    pub fn backups(dir: &Path) -> Result<Vec<BackupFile>, StoreError> {
        backup::list(dir)
    }

    /// The backup folder of a data folder.
    pub fn backup_folder(dir: &Path) -> PathBuf {
        dir.join(files::BACKUPS)
    }

    /// Whether the next start performs a restore.
    pub fn restore_is_pending(dir: &Path) -> bool {
        backup::restore_is_pending(dir)
    }

    /// Checks that the database of a backup is intact, and that this version can restore it.
    pub fn check_database(backup: &Path) -> Result<(), StoreError> {
        backup::verify(backup)
    }

    /// The total bytes of the backups in a data folder.
    pub fn backup_size(dir: &Path) -> u64 {
        backup::size(dir)
    }

    /// The backup that [`Store::restore_newest`] would restore.
    pub fn newest_good_backup(dir: &Path) -> Option<BackupFile> {
        backup::newest_good(dir)
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
    /// must be closed.
    pub fn restore(dir: &Path, backup: &Path, now: Timestamp) -> Result<Restored, StoreError> {
        backup::restore(dir, backup, now)
    }

    /// Restores the newest intact backup, and skips damaged ones. The store must be closed.
    pub fn restore_newest(dir: &Path, now: Timestamp) -> Result<Restored, StoreError> {
        backup::restore_newest(dir, now)
    }

    /// Schedules the restore of `backup` for the next start, before anything else.
    pub fn restore_at_next_start(dir: &Path, backup: &Path) -> Result<(), StoreError> {
        backup::request_restore(dir, backup)
    }

    /// Checks that a backup is intact with its pictures and files, and that this version can
    /// restore it.
    pub fn check_backup(backup: &Path) -> Result<(), StoreError> {
        backup::verify_with_files(backup)
    }

    /// Moves the database to a folder `replaced-<UTC>` that is returned, so that the next `open`
    /// starts fresh; `None` if there is no database. Assets and backups stay. The store must be
    /// closed.
    pub fn set_aside(dir: &Path, now: Timestamp) -> Result<Option<PathBuf>, StoreError> {
        backup::set_aside(dir, now)
    }

    fn transact<T, F>(
        &self,
        durability: Durability,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let place = Arc::clone(&self.inner.place);
        self.inner.writer.run(move |conn| {
            place.changed.store(true, Ordering::Relaxed);
            let counter = place
                .counter
                .as_ref()
                .filter(|_| durability == Durability::Full);
            place.explain(|dir| {
                let (result, number) = transact(conn, dir, (durability, counter.is_some()), work)?;
                if let (Some(counter), Some(number)) = (counter, number)
                    && let Err(error) = counter.write(number)
                {
                    tracing::warn!(%error, "a lost log would not be noticed");
                }
                Ok(result)
            })
        })
    }

    #[cfg(test)]
    pub(crate) fn on_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.inner.writer.run(move |conn| Ok(work(conn)))
    }
}

impl DataFolder {
    fn explain<T>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&self.dir).map_err(|error| {
            let error = error.at(&self.dir);
            if matches!(error, StoreError::Damaged { .. }) {
                self.damaged.store(true, Ordering::Relaxed);
            }
            error
        })
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        if self.place.damaged.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.lock.mark_closed(&self.place.dir.join(FILE)) {
            tracing::warn!(%error, "the next start will check the database");
        }
    }
}

/// Checks the structure, then the texts, in one snapshot.
fn check(conn: &Connection) -> Result<(), String> {
    let _snapshot = conn
        .is_autocommit()
        .then(|| conn.unchecked_transaction())
        .transpose()
        .map_err(|e| e.to_string())?;
    renew_search_caches(conn).map_err(|error| error.to_string())?;
    quick_check(conn)?;
    checksum::check(conn)
}

/// Makes the search tables of this connection forget what they have cached: `quick_check` compares
/// them with their cache (SQLite 3.54), and after a change by another connection it would report
/// damage that does not exist. Opening a cursor renews the cache.
fn renew_search_caches(conn: &Connection) -> rusqlite::Result<()> {
    let mut tables = conn.prepare(
        "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'",
    )?;
    let names: Vec<String> = tables
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for name in names {
        conn.query_row(&format!("SELECT rowid FROM \"{name}\" LIMIT 1"), [], |_| {
            Ok(())
        })
        .optional()?;
    }
    Ok(())
}

/// Traces a transaction, with the place in the code that asked for it.
#[track_caller]
fn trace_job(kind: &'static str) {
    tracing::trace!(target: "store::job", kind, from = %Location::caller());
}

fn transact<T>(
    conn: &mut Connection,
    dir: &Path,
    (durability, counted): (Durability, bool),
    work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
) -> Result<(T, Option<i64>), StoreError> {
    set_durability(conn, durability)?;
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&mut WriteTransaction {
        read: ReadTransaction {
            conn: &transaction,
            dir,
        },
    })?;
    let number = counted
        .then(|| CommitCounter::next(&transaction))
        .transpose()?;
    transaction.commit()?;
    Ok((result, number))
}
