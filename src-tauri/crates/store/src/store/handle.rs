//! The handle on an open data folder, and its transactions.

use std::future::Future;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::SystemTime;

use rusqlite::{Connection, TransactionBehavior};
use tempfile::TempDir;

use crate::access::{ReadTransaction, WriteTransaction};
use crate::asset_folder::AssetFolder;
use crate::commits::CommitCounter;
use crate::connection::{Durability, set_durability};
use crate::open::lock::Lock;
use crate::pool::Pool;
use crate::table::library::asset;
use crate::visibility::Visibility;
use crate::{AssetHash, FolderKeys, StoreError, asset_files, files};

/// A handle on the data folder. Clones share it, and dropping the last one closes the database.
///
/// `write`, `checkpoint`, `read`, `backup` and `purge` queue their work immediately and return a
/// future of its result. The future needs no specific runtime, and dropping it does not cancel the
/// work. Writes run in the order of the calls. `read`, `write` and `checkpoint` trace each call as
/// a job, so that tests can count the jobs of a turn.
#[derive(Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) place: Arc<DataFolder>,
    // Fields are dropped in this order. The writer closes last, which removes the WAL file.
    pub(super) readers: Pool,
    pub(super) writer: Pool,
    _closing: Closing,
    _temporary: Option<TempDir>,
}

pub(super) struct DataFolder {
    pub(super) dir: PathBuf,
    /// When this store was opened, on the clock of the file system.
    pub(super) opened: SystemTime,
    counter: Option<CommitCounter>,
    /// The keys of a protected folder.
    keys: Option<Arc<FolderKeys>>,
    visibility: Visibility,
    /// Serialises backups, because two at once would use the same name.
    backing_up: Mutex<()>,
    /// Whether the database was written since the last backup.
    pub(super) changed: AtomicBool,
    /// SQLite found damage, so the next start must check the database even after a clean close.
    damaged: AtomicBool,
}

/// Records the clean close of the database. It is dropped after the pools.
struct Closing {
    lock: Lock,
    place: Arc<DataFolder>,
}

/// The parts of an opened data folder, which a store takes over.
pub(crate) struct Parts {
    pub(crate) writer: Pool,
    pub(crate) readers: Pool,
    pub(crate) lock: Lock,
    pub(crate) counter: Option<CommitCounter>,
    /// Whether the database was written since the last backup.
    pub(crate) changed: bool,
    /// The keys of a protected folder.
    pub(crate) keys: Option<Arc<FolderKeys>>,
    pub(crate) visibility: Visibility,
}

impl Store {
    pub(crate) fn new(dir: &Path, parts: Parts) -> Self {
        let place = Arc::new(DataFolder {
            dir: dir.to_owned(),
            opened: SystemTime::now(),
            counter: parts.counter,
            keys: parts.keys,
            visibility: parts.visibility,
            backing_up: Mutex::default(),
            changed: AtomicBool::new(parts.changed),
            damaged: AtomicBool::new(false),
        });
        let closing = Closing {
            lock: parts.lock,
            place: Arc::clone(&place),
        };
        Self {
            inner: Arc::new(Inner {
                place,
                readers: parts.readers,
                writer: parts.writer,
                _closing: closing,
                _temporary: None,
            }),
        }
    }

    /// Removes `folder` when the last handle is dropped. This must be the only handle so far.
    pub(crate) fn keep_folder(&mut self, folder: TempDir) {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner._temporary = Some(folder);
        }
    }

    /// The data folder.
    pub fn dir(&self) -> &Path {
        &self.inner.place.dir
    }

    /// Whether private characters are shown. A folder with keys hides them when it is opened.
    pub fn shows_private(&self) -> bool {
        self.inner.place.visibility.shows_private()
    }

    /// Shows or hides private characters in all later reads and writes of all handles.
    pub fn show_private(&self, shown: bool) {
        self.inner.place.visibility.show_private(shown);
    }

    /// The content of an asset. A file that is missing or changed comes back from a backup. `None`
    /// if no backup has it. Blocks.
    ///
    /// # Errors
    /// When the restored file cannot be written.
    pub fn read_asset(&self, hash: AssetHash) -> Result<Option<Vec<u8>>, StoreError> {
        match self.read_asset_file(hash) {
            Some(content) => Ok(Some(content)),
            None => self.repair_asset(hash),
        }
    }

    /// The content of an asset's file. `None` if it is missing or changed. Blocks.
    pub fn read_asset_file(&self, hash: AssetHash) -> Option<Vec<u8>> {
        self.assets().read(hash)
    }

    /// Restores the file of one asset from the backups. Blocks. Returns its content, or `None` if
    /// no backup has it.
    pub fn repair_asset(&self, hash: AssetHash) -> Result<Option<Vec<u8>>, StoreError> {
        asset_files::heal(self.dir(), hash, self.inner.place.keys())
    }

    /// Writes an asset's file before the transaction that stores it (`put_kept`), so that many
    /// files can be written in parallel. Blocks until it is on disk. A later `put` of the same
    /// content reuses an orphaned file.
    pub fn keep_file(&self, bytes: &[u8]) -> Result<AssetHash, StoreError> {
        let hash = AssetHash::of(bytes);
        asset::write(self.dir(), self.inner.place.keys(), hash, bytes)?;
        Ok(hash)
    }

    /// The thumbnail of a picture, if it is stored. The bytes may be damaged in a folder without
    /// keys. Blocks.
    pub fn read_thumbnail(&self, picture: AssetHash) -> Option<Vec<u8>> {
        self.thumbnails().read(picture)
    }

    /// Stores a thumbnail until its picture is purged. Blocks until it is on disk.
    pub fn keep_thumbnail(&self, picture: AssetHash, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.thumbnails();
        let written = folder.write(picture, bytes);
        written.map_err(|error| StoreError::file(error, &folder.file(picture), self.dir()))
    }

    pub(crate) fn assets(&self) -> AssetFolder<'_> {
        AssetFolder::assets(self.dir(), self.inner.place.keys())
    }

    pub(crate) fn thumbnails(&self) -> AssetFolder<'_> {
        AssetFolder::thumbnails(self.dir(), self.inner.place.keys())
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
                    keys: place.keys(),
                })
            })
        })
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
            place.explain(|_| transact(conn, &place, durability, counter, work))
        })
    }

    /// Keeps backups from starting, like one that is being written.
    #[cfg(test)]
    pub(crate) fn hold_backups(&self) -> MutexGuard<'_, ()> {
        self.inner.place.alone_with_backups()
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
    pub(super) fn keys(&self) -> Option<&FolderKeys> {
        self.keys.as_deref()
    }

    /// Waits until no other work uses the backups.
    pub(super) fn alone_with_backups(&self) -> MutexGuard<'_, ()> {
        self.backing_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// # Errors
    /// `BackupRunning` if other work uses the backups.
    pub(super) fn try_alone_with_backups(&self) -> Result<MutexGuard<'_, ()>, StoreError> {
        match self.backing_up.try_lock() {
            Ok(alone) => Ok(alone),
            Err(TryLockError::Poisoned(error)) => Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) => Err(StoreError::BackupRunning),
        }
    }

    /// Converts an error of `work` to the variant that describes its cause, and remembers damage.
    pub(super) fn explain<T>(
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
        if let Err(error) = self.lock.mark_closed(&self.place.dir.join(files::DATABASE)) {
            tracing::warn!(%error, "the next start will check the database");
        }
    }
}

/// Traces a transaction, with the place in the code that asked for it.
#[track_caller]
fn trace_job(kind: &'static str) {
    tracing::trace!(target: "store::job", kind, from = %Location::caller());
}

/// Runs one transaction. With a counter, it also counts the commit.
fn transact<T>(
    conn: &mut Connection,
    place: &DataFolder,
    durability: Durability,
    counter: Option<&CommitCounter>,
    work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    set_durability(conn, durability)?;
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let result = work(&mut WriteTransaction {
        read: ReadTransaction {
            conn: &transaction,
            dir: &place.dir,
            keys: place.keys(),
        },
    })?;
    let number = counter
        .map(|_| CommitCounter::next(&transaction))
        .transpose()?;
    transaction.commit()?;
    if let (Some(counter), Some(number)) = (counter, number)
        && let Err(error) = counter.write(number)
    {
        tracing::warn!(%error, "a lost log would not be noticed");
    }
    Ok(result)
}
