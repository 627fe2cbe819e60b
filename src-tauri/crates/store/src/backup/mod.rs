//! Backups: copies of the database with the pictures and files that they name. SQLite's backup API
//! makes each copy, which is opened and verified before it becomes a backup.
//!
//! A backup folder holds `inglenook-<UTC>-<data folder>.db` and a manifest for each backup. The
//! named files are in `assets`, each stored once. A backup exists once its database has its final
//! name. Files and manifest are written before the rename, and removed after the database.

mod archive;
mod aside;
mod backup_file;
mod choices;
mod content;
mod convert;
mod folder;
mod holders;
mod ladder;
mod list;
mod manifest;
mod owed;
mod pending;
mod pool;
mod preview;
mod restore;
mod settle;
mod take;
mod verify;

pub(crate) use archive::{export, import};
pub(crate) use aside::set_aside;
pub use backup_file::{BackupFile, BackupKind, BackupPlace, Settled, TakenBackup};
pub use choices::BackupChoices;
pub(crate) use choices::choose;
pub(crate) use content::read_only;
pub(crate) use convert::{convert, plain_leftovers};
pub(crate) use folder::clean;
pub(crate) use holders::{holders, holders_of};
pub(crate) use list::{is_there, list, named_aside, outdated, pooled, remove, size};
pub(crate) use manifest::assets_in;
#[cfg(test)]
pub(crate) use manifest::{Manifest, sha256};
pub(crate) use pending::{
    finish as finish_restore, is_requested as restore_is_pending, request as request_restore,
};
pub(crate) use preview::compare;
pub use preview::{Difference, Differences};
pub use restore::Restored;
pub(crate) use restore::{newest_good, restore, restore_newest};
pub(crate) use settle::{can_settle, owe};
pub(crate) use take::take;
pub(crate) use verify::{verify, verify_copy, verify_with_files};
