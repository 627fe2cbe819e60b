//! A backup as a file: its kind, its place and its size.

use std::path::PathBuf;

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// The reason for a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum BackupKind {
    Automatic,
    ByHand,
    /// Made before the database was migrated to a newer format.
    Upgrade,
    /// Imported from an archive.
    Imported,
    /// A database that a restore replaced, not a copy.
    SetAside,
}

/// The place of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupPlace {
    Place,
    /// The folder that the user chose for a second copy.
    Second,
}

/// A copy of the database. Its pictures and files are next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFile {
    pub path: PathBuf,
    pub taken: Timestamp,
    /// Size of the database copy.
    pub bytes: u64,
    /// Number of pictures and files it names; `None` if that requires opening it.
    pub pictures: Option<usize>,
    pub kind: BackupKind,
    pub place: BackupPlace,
    /// It was verified when it was written, and its size has not changed since.
    pub checked: bool,
    /// It was made from this data folder. Other data folders may use the same second place.
    pub own: bool,
    pub(crate) sequence: u64,
}

/// The result of making a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBackup {
    pub path: PathBuf,
    /// The error of the copy to the second place, if it failed.
    pub second_failed: Option<String>,
    /// Number of pictures and files that are missing or damaged and in no backup.
    pub missing: usize,
    /// The removals that were owed and are done now.
    pub settled: Settled,
}

/// The backups that were removed because they contained forgotten items, and those that could not
/// be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// A backup and its copy in the second place are one.
    pub removed: usize,
    /// Files and folders, each with the reason.
    pub failed: Vec<(PathBuf, String)>,
}
