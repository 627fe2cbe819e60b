//! Stores all user data in one SQLite file and a folder of assets.
//!
//! Guarantees
//! - Each `write` is one transaction. When its future is ready, the transaction is on disk or did
//!   not happen.
//! - One process opens a data folder, and it has one writer. Reads never fail with "database is
//!   locked".
//! - Nothing is deleted silently. Deleted items can be restored until `purge`. A damaged or
//!   replaced database is moved aside, and an upgrade keeps a verified copy of the old one.
//! - `purge` erases data from the database file, not only its rows. Backups keep their copies,
//!   including pictures, until they are removed.
//! - A missing, empty or foreign database next to backups or pictures is damage. Only the user can
//!   request a fresh start.
//! - With keys, every file with content is encrypted: the database with its logs and copies, assets,
//!   thumbnails, the pools and manifests of backups. Without its keys, a protected folder is left as
//!   it is.
//!
//! This crate does not know prompts, card formats, HTTP or passphrases. It reads no clock and no
//! randomness: callers pass in times, ids and keys.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod asset;
mod asset_conversion;
mod asset_files;
mod asset_folder;
mod backup;
mod checksum;
mod commits;
mod connection;
mod encryption;
mod error;
mod files;
mod forget;
mod identity;
mod migrate;
mod open;
mod pool;
mod purge;
mod query;
mod retention;
mod search;
mod sql;
mod store;
mod stored_file;
mod table;
#[cfg(test)]
mod tests;
mod visibility;

pub use access::*;
pub use asset::{AssetHash, NotAHash};
pub use asset_files::AssetRepair;
pub use backup::{
    BackupChoices, BackupFile, BackupKind, BackupPlace, Difference, Differences, Restored, Settled,
    TakenBackup,
};
pub use encryption::conversion::Converted;
pub use encryption::folder_keys::FolderKeys;
pub use error::StoreError;
pub use files::make_private_folder;
pub use forget::{ForgetCounts, ForgetTarget, Forgotten};
pub use open::{Notice, Opened, Options};
pub use purge::Purged;
pub use query::Query;
pub use retention::{Before, RedactManifest};
pub use search::{Excerpt, register as register_search_functions};
pub use store::Store;
pub use table::chats::*;
pub use table::library::*;
pub use table::memory::*;
pub use table::messages::*;
pub use table::models::*;
pub use table::system::*;
