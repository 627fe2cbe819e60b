//! The arguments and the result of opening a data folder.

use std::path::PathBuf;
use std::sync::Arc;

use domain::Timestamp;

use crate::{FolderKeys, Restored, Store};

/// Arguments of `Store::open`.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time in the names of an upgrade's backup and of a database that a restore sets aside.
    pub now: Timestamp,
    /// The keys of a protected folder.
    pub keys: Option<Arc<FolderKeys>>,
}

/// An open store, and notices for the user.
pub struct Opened {
    pub store: Store,
    pub notices: Vec<Notice>,
}

/// Something that happened while the store was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// There was no database; this one is empty.
    Created,
    /// The last session did not close the database, or another program changed it. A check found no
    /// damage.
    Checked,
    /// The last session made this number of changes that the database does not have, because its
    /// log was lost or damaged.
    LogLost { changes: u64 },
    /// Texts do not match their checksums.
    TextsChanged { detail: String },
    /// Number of replies that a crash interrupted. Their text so far is kept.
    RepliesInterrupted { replies: usize },
    /// The backup that the user chose was restored.
    Restored(Restored),
    /// The restore failed, and nothing has changed.
    NotRestored { detail: String },
    /// The second place for backups is not available.
    SecondPlaceMissing { folder: PathBuf },
    /// The data was migrated to the current format. `backup` is the copy from before.
    Upgraded { from: u32, to: u32, backup: PathBuf },
}
