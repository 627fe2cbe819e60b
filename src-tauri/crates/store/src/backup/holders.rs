//! Finds the backups that still hold deleted items.

use std::path::Path;

use rusqlite::{Connection, Params, params};

use super::backup_file::BackupFile;
use super::content::read_only;
use super::list::list;
use crate::sql::Col;
use crate::{FolderKeys, ForgetTarget, StoreError, TrashId};

/// For each backup, in the order of [`list`], the `ids` that it holds. An unreadable backup is
/// assumed to hold all.
pub(crate) fn holders(
    dir: &Path,
    ids: &[TrashId],
    keys: Option<&FolderKeys>,
) -> Result<Vec<(BackupFile, Vec<bool>)>, StoreError> {
    let holds = |backup: BackupFile| {
        let held = read_only(&backup.path, keys).and_then(|conn| held(&conn, ids));
        (backup, held.unwrap_or_else(|_| vec![true; ids.len()]))
    };
    Ok(list(dir, keys)?.into_iter().map(holds).collect())
}

fn held(conn: &Connection, ids: &[TrashId]) -> rusqlite::Result<Vec<bool>> {
    let holds = |id: &TrashId| {
        let (table, id) = id.row();
        conn.prepare_cached(&format!("SELECT 1 FROM {table} WHERE id = ?1"))?
            .exists([id.as_bytes()])
    };
    ids.iter().map(holds).collect()
}

/// The backups that contain something of `target`, in the order of [`list`].
pub(crate) fn holders_of(
    dir: &Path,
    target: ForgetTarget,
    keys: Option<&FolderKeys>,
) -> Result<Vec<BackupFile>, StoreError> {
    let mut backups = list(dir, keys)?;
    backups.retain(|backup| holds(&backup.path, target, keys));
    Ok(backups)
}

/// Whether a backup contains something of `target`. An unreadable backup is assumed to.
pub(super) fn holds(backup: &Path, target: ForgetTarget, keys: Option<&FolderKeys>) -> bool {
    let found = read_only(backup, keys).and_then(|conn| contains(&conn, target));
    found.unwrap_or(true)
}

fn contains(conn: &Connection, target: ForgetTarget) -> rusqlite::Result<bool> {
    match target {
        ForgetTarget::Character { id, .. } => {
            exists(conn, "SELECT 1 FROM character WHERE id = ?1", [Col(id)])
        }
        ForgetTarget::Persona { id, .. } => {
            exists(conn, "SELECT 1 FROM persona WHERE id = ?1", [Col(id)])
        }
        ForgetTarget::Span { from, until } => exists(
            conn,
            "SELECT 1 FROM message WHERE created >= ?1 AND created < ?2
             UNION ALL SELECT 1 FROM swipe WHERE created >= ?1 AND created < ?2",
            params![Col(from), Col(until)],
        ),
    }
}

fn exists(conn: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<bool> {
    conn.prepare(sql)?.exists(values)
}
