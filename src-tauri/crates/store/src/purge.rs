//! Permanently removes deleted items, including their bytes in the file.

use std::path::Path;

use rusqlite::Connection;

use crate::asset_folder::AssetFolder;
use crate::table::library::lead::LeadsMut;
use crate::{
    AssetHash, Before, FolderKeys, ReadTransaction, RedactManifest, StoreError, WriteTransaction,
};

/// Number of items that a purge removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    pub characters: usize,
    /// Chats that were deleted individually. Chats of purged characters are not counted.
    pub chats: usize,
    /// Messages that were deleted individually.
    pub messages: usize,
    /// Memories that were deleted individually or with their source messages. Those of purged
    /// lorebooks are not counted.
    pub memories: usize,
    /// Documents that were deleted individually or with their lorebook.
    pub documents: usize,
    pub lorebooks: usize,
    pub assets: usize,
}

/// Whether a purge would remove items or earlier texts.
pub(crate) fn has_expired(conn: &Connection, before: Before) -> Result<bool, StoreError> {
    let Before { trash, rest, .. } = before;
    for (table, column, time) in [
        ("chat", "deleted", trash),
        ("character", "deleted", trash),
        ("lorebook", "deleted", trash),
        ("revision", "replaced", trash),
        ("message", "deleted", rest),
        ("memory", "deleted", rest),
        ("document", "deleted", rest),
    ] {
        if conn
            .prepare_cached(&format!("SELECT 1 FROM {table} WHERE {column} <= ?1"))?
            .exists([time.0])?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes deleted items, copies of their text or of edited text, and assets without references.
pub(crate) fn purge(
    conn: &mut Connection,
    dir: &Path,
    keys: Option<&FolderKeys>,
    before: Before,
    without_words: RedactManifest,
) -> Result<Purged, StoreError> {
    let transaction = conn.transaction()?;
    let mut write = WriteTransaction {
        read: ReadTransaction {
            conn: &transaction,
            dir,
            keys,
        },
    };
    // A group goes only with its last member.
    LeadsMut { conn: &transaction }.outlive(before.trash)?;
    write.manifests_mut().forget(before, without_words)?;
    write.messages_mut().redact_quotes(before.rest)?;
    let referred = write.assets_mut().referred()?;
    let documents = write.documents_mut().purge(before)?;
    let mut purged = Purged {
        documents: documents.len(),
        lorebooks: write.lorebooks_mut().purge(before.trash)?,
        memories: write.memories_mut().purge(before)?,
        messages: write.messages_mut().purge(before.rest)?,
        chats: write.chats_mut().purge(before.trash)?,
        characters: write.characters_mut().purge(before.trash)?,
        assets: 0,
    };
    let assets = write.assets_mut().purge(before.assets, &referred)?;
    purged.assets = assets.len();
    // Includes memories that were removed with their character, chat or world.
    let quoted: Vec<_> = documents
        .iter()
        .map(|id| id.0)
        .chain(write.memories_mut().changed_since_purge()?)
        .collect();
    quoted
        .iter()
        .try_for_each(|id| write.memories_mut().retract(*id))?;
    write
        .manifests_mut()
        .redact_quotes(&quoted, without_words)?;
    let revisions = write.revisions_mut().purge(before.trash)?;
    let residue = transaction.execute("DELETE FROM rewritten", [])? + revisions > 0;
    transaction.commit()?;
    remove_files(dir, keys, &assets)?;
    if residue || purged != Purged::default() {
        erase(conn)?;
    }
    Ok(purged)
}

/// Removes the files of assets without rows, and their thumbnails.
pub(crate) fn remove_files(
    dir: &Path,
    keys: Option<&FolderKeys>,
    assets: &[AssetHash],
) -> Result<(), StoreError> {
    let folders = [
        AssetFolder::assets(dir, keys),
        AssetFolder::thumbnails(dir, keys),
    ];
    let left = folders.iter().filter_map(AssetFolder::plain);
    for folder in folders.iter().cloned().chain(left) {
        for hash in assets {
            let removed = folder.remove(*hash);
            removed.map_err(|error| StoreError::file(error, &folder.file(*hash), dir))?;
        }
    }
    Ok(())
}

/// Rebuilds the file and empties the log. `secure_delete` zeroes freed pages, but cells that moved
/// between pages leave copies behind, and the log contains older pages.
///
/// Returns whether the log is empty. A long read may still need it.
pub(crate) fn erase(conn: &Connection) -> Result<bool, StoreError> {
    // A full-text index only marks deleted text until its segments are merged.
    for index in ["memory", "passage", "listing"]
        .iter()
        .flat_map(|of| [format!("{of}_words"), format!("{of}_letters")])
    {
        conn.execute(
            &format!("INSERT INTO {index} ({index}) VALUES ('optimize')"),
            [],
        )?;
    }
    conn.execute_batch("VACUUM")?;
    let busy: bool = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        tracing::warn!("purged text stays in the log until the store is closed");
    }
    Ok(!busy)
}
