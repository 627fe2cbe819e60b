//! Upkeep of an open store: purges, repairs and checks.

use std::future::Future;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};

use super::handle::Store;
use crate::connection::quick_check;
use crate::{
    AssetRepair, Before, Purged, RedactManifest, StoreError, asset_files, checksum, files, purge,
};

impl Store {
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
        self.inner.writer.run(move |conn| {
            place.explain(|dir| purge::purge(conn, dir, place.keys(), before, without_words))
        })
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

    /// Rebuilds the database file without the text of removed rows, like a purge. Returns whether
    /// the log is empty too: a long read may still need it.
    ///
    /// # Errors
    /// `Full` if there is not enough space to rebuild the file.
    pub fn erase_removed_text(
        &self,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .writer
            .run(move |conn| place.explain(|_| purge::erase(conn)))
    }

    /// Restores files of assets that are missing or cut off from the backups.
    pub fn repair_assets(
        &self,
    ) -> impl Future<Output = Result<AssetRepair, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner
            .readers
            .run(move |conn| place.explain(|dir| asset_files::heal_all(conn, dir, place.keys())))
    }

    /// Removes files of assets that the database does not name and that were there when the store
    /// was opened. Returns how many.
    pub fn sweep_assets(&self) -> impl Future<Output = Result<usize, StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        // On the writer, so that no row is stored between the comparison and the removal.
        self.inner.writer.run(move |conn| {
            place.explain(|dir| asset_files::sweep(conn, dir, place.opened, place.keys()))
        })
    }

    /// Reads the whole database and checks its structure and the checksum of every text.
    pub fn check(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let place = Arc::clone(&self.inner.place);
        self.inner.readers.run(move |conn| {
            place.explain(|dir| {
                check(conn).map_err(|detail| StoreError::Damaged {
                    path: dir.join(files::DATABASE),
                    detail,
                })
            })
        })
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
