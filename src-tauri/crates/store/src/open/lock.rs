//! Locks a data folder for one process, and records whether the last one closed it cleanly.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::StoreError;

const FILE: &str = "inglenook.lock";
const OPEN: &str = "open";
/// The user requested a start without the existing data.
const FRESH: &str = "fresh";

/// The lock of an open store. The operating system releases it when the process ends for any
/// reason.
pub(crate) struct Lock {
    file: File,
    dir: PathBuf,
    /// Text that the last owner wrote.
    last_owner_text: String,
}

impl Lock {
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        let failed = |error| StoreError::file(error, &path, dir);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    dir: dir.to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut left = Vec::new();
        (&mut file)
            .take(256)
            .read_to_end(&mut left)
            .map_err(failed)?;
        Ok(Self {
            file,
            dir: dir.to_owned(),
            last_owner_text: String::from_utf8_lossy(&left).into_owned(),
        })
    }

    /// Whether `database` is unchanged since the last owner closed it. A crash, a replaced file or
    /// an edit by another program returns false.
    pub(crate) fn closed_cleanly(&self, database: &Path) -> bool {
        closed(database).is_ok_and(|closed| closed == self.last_owner_text)
    }

    /// Whether the next start may create a new database although backups exist.
    pub(crate) fn allows_fresh(&self) -> bool {
        self.last_owner_text == FRESH
    }

    pub(crate) fn allow_fresh(&mut self) -> Result<(), StoreError> {
        self.write(FRESH)
            .map_err(|error| StoreError::file(error, &self.dir.join(FILE), &self.dir))
    }

    pub(crate) fn mark_open(&mut self) -> Result<(), StoreError> {
        self.write(OPEN)
            .map_err(|error| StoreError::file(error, &self.dir.join(FILE), &self.dir))
    }

    pub(crate) fn mark_closed(&mut self, database: &Path) -> io::Result<()> {
        self.write(&closed(database)?)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)?;
        self.file.sync_all()
    }
}

/// Closing the file is not enough: a child process between fork and exec has a copy of the
/// descriptor, which keeps the lock.
impl Drop for Lock {
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "the data folder stays locked until the app ends");
        }
    }
}

fn closed(database: &Path) -> io::Result<String> {
    let file = std::fs::metadata(database)?;
    let changed = file
        .modified()?
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?;
    Ok(format!("closed {} {}", file.len(), changed.as_nanos()))
}
