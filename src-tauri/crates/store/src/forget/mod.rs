//! Removes everything about a character, a persona or a span of time from the database, in one
//! transaction. A preview runs the same transaction and rolls it back, so its numbers are exact.
//!
//! [`crate::Store::forget`] also erases the removed text from the file, and notes which backups
//! must go.

mod affected;
mod character;
mod counts;
mod persona;
mod span;
mod target;
mod traces;

use std::path::Path;

pub use counts::ForgetCounts;
use domain::Timestamp;
use rusqlite::{Connection, TransactionBehavior};
pub use target::ForgetTarget;

use crate::connection::{Durability, set_durability};
use crate::{AssetHash, Before, FolderKeys, ReadTransaction, StoreError, WriteTransaction, purge};

/// The items that were removed, and why others could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub counts: ForgetCounts,
    /// Files of pictures could not be deleted. Their rows are removed.
    pub files_left: Option<String>,
    /// It could not be noted that backups must go.
    pub backups_left: Option<String>,
    /// The database file could not be rebuilt, and may contain traces of the text.
    pub traces_left: Option<String>,
}

/// Rows that a transaction has removed, and the assets whose files go after its commit.
struct RemovedRows {
    counts: ForgetCounts,
    assets: Vec<AssetHash>,
}

/// The numbers of items that [`forget`] would remove. Nothing is changed.
pub(crate) fn preview(
    conn: &mut Connection,
    dir: &Path,
    keys: Option<&FolderKeys>,
    target: ForgetTarget,
) -> Result<ForgetCounts, StoreError> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let removed = remove(&transaction, dir, keys, target)?;
    transaction.rollback()?;
    Ok(removed.counts)
}

/// Removes the rows and the files of pictures.
pub(crate) fn forget(
    conn: &mut Connection,
    dir: &Path,
    keys: Option<&FolderKeys>,
    target: ForgetTarget,
) -> Result<Forgotten, StoreError> {
    set_durability(conn, Durability::Full)?;
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let removed = remove(&transaction, dir, keys, target)?;
    transaction.commit()?;
    let files_left = purge::remove_files(dir, keys, &removed.assets)
        .err()
        .map(|error| error.to_string());
    Ok(Forgotten {
        counts: removed.counts,
        files_left,
        ..Forgotten::default()
    })
}

fn remove(
    conn: &Connection,
    dir: &Path,
    keys: Option<&FolderKeys>,
    target: ForgetTarget,
) -> Result<RemovedRows, StoreError> {
    let mut write = WriteTransaction {
        read: ReadTransaction { conn, dir, keys },
    };
    let before = ForgetCounts::read(conn)?;
    let known = traces::ids(conn)?;
    let referred = write.assets_mut().referred()?;
    match target {
        ForgetTarget::Character { id, .. } => character::remove(&mut write, id)?,
        ForgetTarget::Persona { id, by_default } => persona::remove(&mut write, id, by_default)?,
        ForgetTarget::Span { from, until } => span::remove(&mut write, from, until)?,
    }
    let left = traces::ids(conn)?;
    traces::remove_quotes(&mut write, &known.difference(&left).copied().collect())?;
    let assets = write
        .assets_mut()
        .purge(unreferred_since(target), &referred)?;
    Ok(RemovedRows {
        counts: before.minus(ForgetCounts::read(conn)?),
        assets,
    })
}

/// Assets without references since this time go too.
fn unreferred_since(target: ForgetTarget) -> Timestamp {
    match target {
        ForgetTarget::Character {
            unreferred_since, ..
        } => unreferred_since,
        ForgetTarget::Persona { .. } | ForgetTarget::Span { .. } => Before::CONDEMNED,
    }
}
