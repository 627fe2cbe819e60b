//! Removing for good what was deleted, down to the bytes in the file.

use std::fs;
use std::path::Path;

use domain::Timestamp;
use rusqlite::Connection;

use crate::{AssetHash, Read, StoreError, Write, files};

/// How much a purge removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    pub characters: usize,
    /// Chats deleted by themselves; those of purged characters are not counted.
    pub chats: usize,
    /// Messages deleted by themselves.
    pub messages: usize,
    /// Memories deleted by themselves, or with what they were made from; those of purged lorebooks are not counted.
    pub memories: usize,
    /// Documents deleted by themselves, or with their lorebook.
    pub documents: usize,
    pub lorebooks: usize,
    pub assets: usize,
}

/// A purge removes items that were deleted at or before these times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Before {
    /// Chats, characters and lorebooks.
    pub trash: Timestamp,
    /// Messages, memories, documents.
    pub rest: Timestamp,
    /// Assets without references since this time. Assets of purged items are removed in any case.
    pub assets: Timestamp,
}

impl Before {
    /// The deletion time of items that must be purged now ([`TrashMut::condemn`](crate::TrashMut::condemn)).
    pub(crate) const CONDEMNED: Timestamp = Timestamp(i64::MIN);
    /// Purges only condemned items.
    pub const ONLY_CONDEMNED: Self = Self::all(Self::CONDEMNED);

    /// Purges everything that was deleted until now. Unreferenced assets stay, because they may be about to be used.
    pub const fn everything_deleted(now: Timestamp) -> Self {
        Self { trash: now, rest: now, assets: Self::CONDEMNED }
    }

    pub const fn all(time: Timestamp) -> Self {
        Self { trash: time, rest: time, assets: time }
    }
}

/// Leaves of a manifest what tells of its prompt but for the words; `None` if it has none any more.
pub type WithoutWords = fn(&str) -> Option<String>;

/// Removes deleted items, copies of their text or of edited text, and assets without references.
pub(crate) fn purge(
    conn: &mut Connection,
    dir: &Path,
    before: Before,
    without_words: WithoutWords,
) -> Result<Purged, StoreError> {
    let transaction = conn.transaction()?;
    let mut write = Write { read: Read { conn: &transaction, dir } };
    write.manifests_mut().forget(before, without_words)?;
    write.messages_mut().forget_quotes(before.rest)?;
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
    // Some memories went with their character, chat or world.
    let quoted: Vec<_> = documents.iter().map(|id| id.0).chain(write.memories_mut().rewritten()?).collect();
    quoted.iter().try_for_each(|id| write.memories_mut().withdraw(*id))?;
    write.manifests_mut().forget_quotes(&quoted, without_words)?;
    let residue = transaction.execute("DELETE FROM rewritten", [])? > 0;
    transaction.commit()?;
    remove_files(dir, &assets)?;
    if residue || purged != Purged::default() {
        erase(conn)?;
    }
    Ok(purged)
}

fn remove_files(dir: &Path, assets: &[AssetHash]) -> Result<(), StoreError> {
    for asset in assets {
        for folder in [files::ASSETS, files::THUMBNAILS] {
            let path = asset.path_in(&dir.join(folder));
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::file(error, &path, dir));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// `secure_delete` zeroes freed pages, but cells that moved between pages leave copies behind, and the log holds older
/// pages: so the file is rebuilt and the log emptied.
fn erase(conn: &Connection) -> Result<(), StoreError> {
    // The indexes of words mark what is deleted in one part and keep it in another until they merge the two.
    for index in ["memory", "passage", "listing"].iter().flat_map(|of| [format!("{of}_words"), format!("{of}_letters")])
    {
        conn.execute(&format!("INSERT INTO {index} ({index}) VALUES ('optimize')"), [])?;
    }
    conn.execute_batch("VACUUM")?;
    let busy: bool = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        tracing::warn!("purged text stays in the log until the store is closed");
    }
    Ok(())
}
