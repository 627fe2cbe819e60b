//! Embeddings of memories, document passages and lorebook entries. Triggers maintain the queue of
//! items without an embedding.

use domain::LorebookId;
use domain::document::DocumentOwner;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::vector::{self, VectorRevision, bytes, signed};
use crate::StoreError;
use crate::access::{ItemEmbeddings, ItemEmbeddingsMut};
use crate::visibility::{HIDDEN_CHARACTERS, HIDDEN_LOREBOOKS};

/// A kind of item with an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbeddedKind {
    Memory,
    Passage,
    Entry,
}

impl EmbeddedKind {
    const ALL: [Self; 3] = [Self::Entry, Self::Memory, Self::Passage];

    fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Passage => "passage",
            Self::Entry => "entry",
        }
    }
}

/// A group of items that are searched together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbeddingGroup {
    Memories,
    /// The passages of all documents of one owner.
    Passages(DocumentOwner),
    /// The entries of a lorebook. A card's own book has the id of its character.
    Entries(LorebookId),
}

impl EmbeddingGroup {
    fn kind(self) -> EmbeddedKind {
        match self {
            Self::Memories => EmbeddedKind::Memory,
            Self::Passages(_) => EmbeddedKind::Passage,
            Self::Entries(_) => EmbeddedKind::Entry,
        }
    }

    fn id(self) -> [u8; 16] {
        match self {
            Self::Memories => [0; 16],
            Self::Passages(DocumentOwner::Chat(id)) => id.0.into_bytes(),
            Self::Passages(DocumentOwner::Character(id)) => id.0.into_bytes(),
            Self::Passages(DocumentOwner::Lorebook(id)) => id.0.into_bytes(),
            Self::Entries(book) => book.0.into_bytes(),
        }
    }
}

/// An item that needs an embedding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedItem {
    pub kind: EmbeddedKind,
    pub(crate) owner: i64,
    pub text: String,
}

/// An embedding of one part of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEmbedding {
    /// Row number, which increases with each write.
    pub number: i64,
    /// Row number of the memory, passage or entry.
    pub owner: i64,
    pub vector: Vec<i8>,
    pub scale: f32,
}

/// A lorebook entry that semantic search can activate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoreEntryText {
    pub uid: String,
    pub text: String,
}

impl ItemEmbeddings<'_> {
    /// Returns up to `limit` items without an embedding: entries first, then memories, then
    /// passages; newest first in each kind.
    pub fn queued(&self, limit: u32) -> Result<Vec<QueuedItem>, StoreError> {
        let mut queue = self.conn.prepare_cached(
            "SELECT owner FROM meaning_unread WHERE kind = ?1 ORDER BY owner DESC LIMIT ?2",
        )?;
        let mut unread = Vec::new();
        for kind in EmbeddedKind::ALL {
            let left = limit as usize - unread.len();
            let owners = queue.query_map(params![kind.as_str(), left as i64], |row| {
                row.get::<_, i64>(0)
            })?;
            for owner in owners {
                let owner = owner?;
                let text = text_of(self.conn, kind, owner)?
                    .map(|(_, text)| text)
                    .unwrap_or_default();
                unread.push(QueuedItem { kind, owner, text });
            }
        }
        Ok(unread)
    }

    /// Number of items without an embedding.
    pub fn count_queued(&self) -> Result<u32, StoreError> {
        Ok(self
            .conn
            .query_row("SELECT count(*) FROM meaning_unread", [], |row| row.get(0))?)
    }

    /// Returns up to `limit` lorebooks, without hidden ones, whose entries must be listed with
    /// [`ItemEmbeddingsMut::put_entries`]. A card's own book has the id of its character.
    pub fn queued_books(&self, limit: u32) -> Result<Vec<LorebookId>, StoreError> {
        let books = self
            .conn
            .prepare_cached(&format!(
                "SELECT book FROM lore_unread
                 WHERE book NOT IN ({HIDDEN_CHARACTERS}) AND book NOT IN ({HIDDEN_LOREBOOKS}) LIMIT ?1"
            ))?
            .query_map([limit], |row| Ok(LorebookId(Uuid::from_bytes(row.get(0)?))))?
            .collect::<Result<_, _>>()?;
        Ok(books)
    }

    pub fn revision(&self, among: EmbeddingGroup) -> Result<VectorRevision, StoreError> {
        vector::revision(self.conn, among.kind().as_str(), &among.id())
    }

    /// Embeddings by `model` in a group.
    pub fn of(
        &self,
        among: EmbeddingGroup,
        model: &str,
    ) -> Result<Vec<StoredEmbedding>, StoreError> {
        let meant = |row: &Row<'_>| {
            Ok(StoredEmbedding {
                number: row.get(0)?,
                owner: row.get(1)?,
                vector: signed(row.get_ref(2)?.as_blob()?),
                scale: row.get(3)?,
            })
        };
        let sql = "SELECT number, owner, vector, scale FROM meaning
             WHERE kind = ?1 AND among = ?2 AND model = ?3 ORDER BY number";
        let rows = self
            .conn
            .prepare_cached(sql)?
            .query_map(params![among.kind().as_str(), among.id(), model], meant)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The lorebooks with embedded entries. A card's own book has the id of its character.
    pub fn books(&self) -> Result<Vec<LorebookId>, StoreError> {
        let books = self
            .conn
            .prepare_cached("SELECT among FROM vector_group WHERE kind = 'entry'")?
            .query_map([], |row| Ok(LorebookId(Uuid::from_bytes(row.get(0)?))))?
            .collect::<Result<_, _>>()?;
        Ok(books)
    }

    /// Returns the uid of the entry with this row number; `None` if it no longer exists.
    pub fn entry(&self, number: i64) -> Result<Option<String>, StoreError> {
        let mut uid = self
            .conn
            .prepare_cached("SELECT uid FROM lore_entry WHERE number = ?1")?;
        Ok(uid.query_row([number], |row| row.get(0)).optional()?)
    }

    /// Returns the listed entries of a lorebook, and whether each has an embedding.
    pub fn entries(&self, book: LorebookId) -> Result<Vec<(String, bool)>, StoreError> {
        let sql = "SELECT uid, EXISTS (SELECT 1 FROM meaning WHERE kind = 'entry' AND owner = lore_entry.number)
             FROM lore_entry WHERE book = ?1 ORDER BY number";
        let rows = self
            .conn
            .prepare_cached(sql)?
            .query_map([book.0.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ItemEmbeddingsMut<'_> {
    /// Stores the embeddings of an item, one vector and scale per part, and removes it from the
    /// queue. Does nothing if the item has changed meanwhile.
    pub fn keep(
        &mut self,
        thing: &QueuedItem,
        model: &str,
        parts: &[(Vec<i8>, f32)],
    ) -> Result<(), StoreError> {
        let now = text_of(self.conn, thing.kind, thing.owner)?;
        let Some((among, _)) = now.filter(|(_, text)| *text == thing.text) else {
            return Ok(());
        };
        let kind = thing.kind.as_str();
        let owner = thing.owner;
        self.conn
            .prepare_cached("DELETE FROM meaning WHERE kind = ?1 AND owner = ?2")?
            .execute(params![kind, owner])?;
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO meaning (kind, owner, among, part, model, scale, vector) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        for (part, (vector, scale)) in (0_i64..).zip(parts) {
            insert.execute(params![
                kind,
                owner,
                among,
                part,
                model,
                scale,
                bytes(vector)
            ])?;
        }
        self.dequeue(thing)
    }

    /// Removes an item from the queue without an embedding, until [`Self::queue_all`].
    pub fn dequeue(&mut self, thing: &QueuedItem) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM meaning_unread WHERE kind = ?1 AND owner = ?2")?
            .execute(params![thing.kind.as_str(), thing.owner])?;
        Ok(())
    }

    /// Replaces the list of a book's entries for semantic search, and marks the book as done.
    pub fn put_entries(
        &mut self,
        book: LorebookId,
        entries: &[LoreEntryText],
    ) -> Result<(), StoreError> {
        let id = book.0.as_bytes();
        let uids: Vec<&str> = entries.iter().map(|entry| entry.uid.as_str()).collect();
        let uids = serde_json::to_string(&uids).unwrap_or_default();
        self.conn
            .prepare_cached("DELETE FROM lore_entry WHERE book = ?1 AND uid NOT IN (SELECT value FROM json_each(?2))")?
            .execute(params![id, uids])?;
        let mut put = self.conn.prepare_cached(
            "INSERT INTO lore_entry (book, uid, text) VALUES (?1, ?2, ?3)
             ON CONFLICT (book, uid) DO UPDATE SET text = excluded.text",
        )?;
        for entry in entries {
            put.execute(params![id, entry.uid, entry.text])?;
        }
        self.conn
            .prepare_cached("DELETE FROM lore_unread WHERE book = ?1")?
            .execute([id])?;
        Ok(())
    }

    /// Queues every item without an embedding by `model`, and deletes embeddings of other models.
    pub fn queue_all(&mut self, model: &str) -> Result<(), StoreError> {
        self.conn
            .execute("DELETE FROM meaning WHERE model <> ?1", [model])?;
        self.conn.execute(
            "INSERT OR IGNORE INTO meaning_unread (kind, owner) SELECT kind, owner FROM meaningful AS thing
             WHERE NOT EXISTS (SELECT 1 FROM meaning WHERE meaning.kind = thing.kind AND meaning.owner = thing.owner)",
            [],
        )?;
        Ok(())
    }
}

/// Returns the group and the text of an item; `None` if it no longer exists.
fn text_of(
    conn: &Connection,
    kind: EmbeddedKind,
    owner: i64,
) -> Result<Option<([u8; 16], String)>, StoreError> {
    let sql = "SELECT among, text FROM meaningful WHERE kind = ?1 AND owner = ?2";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(conn
        .prepare_cached(sql)?
        .query_row(params![kind.as_str(), owner], row)
        .optional()?)
}
