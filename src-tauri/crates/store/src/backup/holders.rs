//! Finds the backups that still hold deleted items.

use std::path::Path;

use protection::DatabaseKey;
use rusqlite::Connection;

use super::backup_file::BackupFile;
use super::content::read_only;
use super::list::list;
use crate::{StoreError, TrashId};

/// For each backup, in the order of [`list`], the `ids` that it holds. An unreadable backup is
/// assumed to hold all.
pub(crate) fn holders(
    dir: &Path,
    ids: &[TrashId],
    key: Option<&DatabaseKey>,
) -> Result<Vec<(BackupFile, Vec<bool>)>, StoreError> {
    let holds = |backup: BackupFile| {
        let held = read_only(&backup.path, key).and_then(|conn| held(&conn, ids));
        (backup, held.unwrap_or_else(|_| vec![true; ids.len()]))
    };
    Ok(list(dir)?.into_iter().map(holds).collect())
}

fn held(conn: &Connection, ids: &[TrashId]) -> rusqlite::Result<Vec<bool>> {
    let holds = |id: &TrashId| {
        let (table, id) = id.row();
        conn.prepare_cached(&format!("SELECT 1 FROM {table} WHERE id = ?1"))?
            .exists([id.as_bytes()])
    };
    ids.iter().map(holds).collect()
}
