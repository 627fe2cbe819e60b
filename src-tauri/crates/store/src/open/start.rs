//! Opens a data folder: locks, checks, migrates and recovers it.

use std::path::Path;
use std::sync::Arc;

use domain::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use super::examine::examine;
use super::notice::{Notice, Opened, Options};
use crate::access::SwipesMut;
use crate::commits::{self, CommitCounter};
use crate::connection::{self, check_sqlite, quick_check};
use crate::encryption::cipher;
use crate::open::lock::Lock;
use crate::pool::Pool;
use crate::store::Parts;
use crate::visibility::Visibility;
use crate::{
    BackupChoices, BackupKind, FolderKeys, Store, StoreError, backup, checksum, files, identity,
    migrate,
};

const READERS: usize = 4;

impl Store {
    /// Opens the data folder `dir`, and creates it if needed. Blocks until the database is ready.
    ///
    /// # Errors
    /// `InUse` if another process has opened it, `Damaged` (see `backups`, `restore`, `set_aside`),
    /// `Protected`, `WrongKey`, `Unprotected` (see `protect`, `unprotect`), `TooNew`, `ReadOnly`,
    /// `Full`.
    pub fn open(dir: &Path, options: Options) -> Result<Opened, StoreError> {
        open(dir, options, migrate::MIGRATIONS)
    }

    /// Creates an empty store in a temporary folder, which is removed with it. For tests and
    /// measurements.
    pub fn in_memory() -> Result<Self, StoreError> {
        let temporary = TempDir::new().map_err(|error| {
            StoreError::file(error, &std::env::temp_dir(), &std::env::temp_dir())
        })?;
        let options = Options {
            now: Timestamp(0),
            keys: None,
        };
        let mut store = Self::open(temporary.path(), options)?.store;
        store.keep_folder(temporary);
        Ok(store)
    }
}

pub(crate) fn open(
    dir: &Path,
    options: Options,
    migrations: &[&str],
) -> Result<Opened, StoreError> {
    check_sqlite()?;
    let keys = options.keys.as_deref();
    cipher::require_key(dir, keys)?;
    make_folders(dir)?;
    let mut notices = Vec::new();
    notices.extend(
        backup::finish_restore(dir, options.now, keys)?.map(|done| match done {
            Ok(restored) => Notice::Restored(restored),
            Err(error) => Notice::NotRestored {
                detail: error.to_string(),
            },
        }),
    );
    let mut lock = Lock::take(dir)?;
    let path = dir.join(files::DATABASE);
    let existed = examine(dir, &lock, keys)?;
    let changed = backup::outdated(dir, &path, keys);
    let suspect = existed && !lock.closed_cleanly(&path);
    lock.mark_open()?;
    let mut conn = open_writer(dir, &path, keys)?;
    if suspect {
        notices.extend(examined(&conn, dir, &path)?);
    }
    let from = migrate::format(&conn).map_err(|error| StoreError::Sqlite(error).at(dir))?;
    if existed && (suspect || from != migrations.len() as u32) {
        migrate::refuse_newer(from, migrations)?;
        let foreign = identity::foreign_code(&conn, migrations).map_err(|error| error.at(dir))?;
        foreign.map_or(Ok(()), |detail| {
            Err(StoreError::Damaged {
                path: path.clone(),
                detail,
            })
        })?;
    }
    if !existed {
        notices.push(Notice::Created);
    }
    notices.extend(upgrade(&mut conn, dir, &options, migrations).map_err(|error| error.at(dir))?);
    notices.extend(recover(&conn).map_err(|error| error.at(dir))?);
    checksum::fill(&mut conn).map_err(|error| StoreError::Sqlite(error).at(dir))?;
    notices.extend(second_place(dir));
    let counter =
        CommitCounter::open(dir, &conn).map_err(|error| StoreError::file(error, dir, dir))?;
    let store = start(dir, conn, lock, counter, changed, options.keys)?;
    Ok(Opened { store, notices })
}

/// Checks a database that was not closed, or that another program changed.
///
/// # Errors
/// `Damaged` if its structure is broken.
fn examined(conn: &Connection, dir: &Path, path: &Path) -> Result<Vec<Notice>, StoreError> {
    quick_check(conn).map_err(|detail| StoreError::Damaged {
        path: path.to_owned(),
        detail,
    })?;
    let mut found = Vec::new();
    match commits::missing(dir, conn).map_err(|error| StoreError::Sqlite(error).at(dir))? {
        0 => {}
        changes => found.push(Notice::LogLost { changes }),
    }
    found.extend(
        checksum::check(conn)
            .err()
            .map(|detail| Notice::TextsChanged { detail }),
    );
    if found.is_empty() {
        found.push(Notice::Checked);
    }
    Ok(found)
}

fn make_folders(dir: &Path) -> Result<(), StoreError> {
    for folder in [dir.join(files::ASSETS), dir.join(files::BACKUPS)] {
        files::make_private_folder(&folder)
            .map_err(|error| StoreError::file(error, &folder, dir))?;
    }
    Ok(())
}

fn open_writer(
    dir: &Path,
    path: &Path,
    keys: Option<&FolderKeys>,
) -> Result<Connection, StoreError> {
    let failed = |error| StoreError::Sqlite(error).at(dir);
    make_private(path);
    let conn = connection::writer(path, keys).map_err(failed)?;
    // SQLite silently opens the file read-only if it may not write.
    if conn.is_readonly("main").map_err(failed)? {
        return Err(StoreError::ReadOnly {
            dir: dir.to_owned(),
        });
    }
    files::sweep(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    for folder in [dir.join(files::ASSETS), dir.join(files::THUMBNAILS)] {
        files::sweep_assets(&folder).map_err(|error| StoreError::file(error, &folder, dir))?;
    }
    backup::clean(dir).map_err(|error| StoreError::file(error, dir, dir))?;
    Ok(conn)
}

/// Makes the database and SQLite's files next to it private. Errors are ignored: either opening
/// reports them, or the disk does not support permissions.
fn make_private(database: &Path) {
    let mut private = files::make_private_file(database);
    for beside in ["-wal", "-shm", "-journal"] {
        let path = files::beside(database, beside);
        if path.exists() {
            private = private.and(files::make_private_file(&path));
        }
    }
    if let Err(error) = private {
        tracing::warn!(%error, "the database may be readable by others");
    }
}

fn upgrade(
    conn: &mut Connection,
    dir: &Path,
    options: &Options,
    migrations: &[&str],
) -> Result<Option<Notice>, StoreError> {
    let from = migrate::format(conn)?;
    let to = migrations.len() as u32;
    migrate::refuse_newer(from, migrations)?;
    if from == 0 || from == to {
        migrate::run(conn, migrations)?;
        return Ok(None);
    }
    let backup = backup::take(
        conn,
        dir,
        options.now,
        BackupKind::Upgrade,
        options.keys.as_deref(),
    )?
    .path;
    migrate::run(conn, migrations)?;
    Ok(Some(Notice::Upgraded { from, to, backup }))
}

fn recover(conn: &Connection) -> Result<Option<Notice>, StoreError> {
    let replies = SwipesMut { conn }.interrupt_unfinished()?;
    Ok((replies > 0).then_some(Notice::RepliesInterrupted { replies }))
}

fn second_place(dir: &Path) -> Option<Notice> {
    let choices = BackupChoices::read(dir);
    choices
        .second
        .clone()
        .filter(|_| !choices.second_is_there())
        .map(|folder| Notice::SecondPlaceMissing { folder })
}

fn start(
    dir: &Path,
    conn: Connection,
    lock: Lock,
    counter: Option<CommitCounter>,
    changed: bool,
    keys: Option<Arc<FolderKeys>>,
) -> Result<Store, StoreError> {
    let failed = |error| StoreError::Sqlite(error).at(dir);
    let path = dir.join(files::DATABASE);
    let readers = (0..READERS)
        .map(|_| connection::reader(&path, keys.as_deref()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    let visibility = Visibility::new(keys.is_none());
    readers
        .iter()
        .chain([&conn])
        .try_for_each(|conn| visibility.register(conn))
        .map_err(failed)?;
    let threads = |name, connections| {
        Pool::start(name, connections).map_err(|error| StoreError::file(error, dir, dir))
    };
    let parts = Parts {
        writer: threads("store-write", vec![conn])?,
        readers: threads("store-read", readers)?,
        lock,
        counter,
        changed,
        keys,
        visibility,
    };
    Ok(Store::new(dir, parts))
}
