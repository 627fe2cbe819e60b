//! Warnings about the user's data.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::Backup;

/// A danger to the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum DataWarningKind {
    /// Changes of the last session are gone with the log of the database.
    LogLost,
    /// Texts have changed on disk.
    TextsChanged,
    /// The last backup failed.
    BackupFailed,
    /// The second folder has no copy of the last backup.
    SecondCopyFailed,
    /// Pictures or files are missing and in no backup.
    PicturesLost,
    /// Pictures or files were damaged and came back from a backup.
    PicturesRestored,
    /// The clock is far ahead of the last session, so nothing is deleted permanently yet.
    ClockAhead,
}

/// A warning that every screen shows until its cause is over or the user dismisses it, also after a
/// restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DataWarning {
    pub kind: DataWarningKind,
    /// Number of lost changes or pictures; 0 if it is unknown.
    pub count: u32,
    /// The reason in words; empty if there is no other.
    pub detail: String,
    /// When it was first noticed.
    pub since: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct DataWarnings {
    pub warnings: Vec<DataWarning>,
    /// The newest intact backup, if one of the warnings is a reason to restore it.
    pub newest_backup: Option<Backup>,
}
