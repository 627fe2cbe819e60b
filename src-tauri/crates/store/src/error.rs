//! Errors of the store, each with the data folder and a remedy.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::files;

/// Why an operation failed. Nothing was changed, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("Inglenook is already running with the data folder {}; use that window, or close it first", dir.display())]
    InUse { dir: PathBuf },
    #[error("the data folder {} cannot be written to; make it writable or choose another folder", dir.display())]
    ReadOnly { dir: PathBuf },
    #[error("the disk with the data folder {} is full; free some space and try again. No saved data was lost", dir.display())]
    Full { dir: PathBuf },
    #[error("cannot read or write {}: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the database {} is damaged ({detail}); restore a backup, or set it aside and start fresh", path.display())]
    Damaged { path: PathBuf, detail: String },
    #[error("the data folder {} is protected; the passphrase is needed", dir.display())]
    Protected { dir: PathBuf },
    /// The key does not open the database, and the key file does not say that it should.
    #[error(
        "the key does not open the data folder {}; unlock it with its own passphrase, or put its key file back from a copy",
        dir.display()
    )]
    WrongKey { dir: PathBuf },
    #[error(
        "the database in the data folder {} is not encrypted yet; turn the protection on again, or off",
        dir.display()
    )]
    Unprotected { dir: PathBuf },
    #[error(
        "the data was saved by a newer Inglenook (format {found}, newest supported {known}); update the app"
    )]
    TooNew { found: u32, known: u32 },
    #[error("SQLite {found} is too old to be safe; build Inglenook with 3.51.3 or newer")]
    OldSqlite { found: &'static str },
    #[error(
        "the data could not be upgraded from format {from} to {to} ({source}) and is unchanged; please report this"
    )]
    Migration {
        from: u32,
        to: u32,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the backup {} cannot be used ({detail}); choose another one", path.display())]
    BadBackup { path: PathBuf, detail: String },
    #[error("there is no such {what}; it may have been deleted")]
    NotFound { what: &'static str },
    /// A row violates a constraint, such as a duplicate id or a reference to a missing row.
    #[error("this conflicts with the stored data ({detail}); reload and try again")]
    Conflict { detail: String },
    #[error("a backup is being written; try again when it is finished")]
    BackupRunning,
    #[error("the store is closed; restart the app")]
    Closed,
    #[error("database error ({0}); try again, and report this if it happens again")]
    Sqlite(#[from] rusqlite::Error),
}

impl StoreError {
    /// Converts an SQLite error to the variant that describes its cause.
    pub(crate) fn at(self, dir: &Path) -> Self {
        match self {
            Self::Sqlite(error)
                if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
            {
                Self::Conflict {
                    detail: error.to_string(),
                }
            }
            Self::Sqlite(error) => from_sqlite(error, dir),
            Self::Migration { from, to, source } => match from_sqlite(source, dir) {
                // All other errors are caused by the migration.
                Self::Sqlite(source) => Self::Migration { from, to, source },
                clearer => clearer,
            },
            other => other,
        }
    }

    /// Converts a file system error to the variant that describes its cause.
    pub(crate) fn file(error: io::Error, path: &Path, dir: &Path) -> Self {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match error.kind() {
            PermissionDenied | ReadOnlyFilesystem => Self::ReadOnly {
                dir: dir.to_owned(),
            },
            StorageFull | QuotaExceeded => Self::Full {
                dir: dir.to_owned(),
            },
            _ => Self::Io {
                path: path.to_owned(),
                source: error,
            },
        }
    }
}

fn from_sqlite(error: rusqlite::Error, dir: &Path) -> StoreError {
    let Some(code) = error.sqlite_error_code() else {
        return StoreError::Sqlite(error);
    };
    match code {
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly {
            dir: dir.to_owned(),
        },
        ErrorCode::DiskFull => StoreError::Full {
            dir: dir.to_owned(),
        },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Damaged {
            path: dir.join(files::DATABASE),
            detail: error.to_string(),
        },
        // SQLite also returns this code when there is no disk space for the files next to the
        // database.
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen if files::is_full(dir) => {
            StoreError::Full {
                dir: dir.to_owned(),
            }
        }
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen => StoreError::Io {
            path: dir.to_owned(),
            source: io::Error::other(error),
        },
        _ => StoreError::Sqlite(error),
    }
}
