//! Embeddings of messages, and the queue of messages without one.

use domain::chat::Role;
use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{Vectors, VectorsMut};
use crate::sql::Col;
use crate::visibility::HIDDEN_CHATS;

/// A message text that needs embeddings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedText {
    pub(crate) number: i64,
    pub(crate) position: i64,
    pub chat: ChatId,
    pub content: MessageContent,
    /// The previous and the next visible message.
    pub previous: Option<MessageContent>,
    pub next: Option<MessageContent>,
}

/// The text of a message, with its author and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageContent {
    pub message: MessageId,
    pub role: Role,
    pub text: String,
    pub created: Timestamp,
}

/// Embeddings of one passage of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct NewVector {
    /// Embedding of the passage with its neighbours, quantized to signed bytes. Multiply by `scale`
    /// for the original values.
    pub vector: Vec<i8>,
    pub scale: f32,
    /// Token ids of the passage, in order.
    pub token_ids: Vec<u16>,
    /// One quantized vector per token, concatenated.
    pub token_vectors: Vec<i8>,
}

/// A stored embedding of a passage.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVector {
    /// Row number, which increases with each write.
    pub number: i64,
    pub position: i64,
    pub vector: Vec<i8>,
    pub scale: f32,
    pub token_ids: Vec<u16>,
}

/// Identifies the state of the embeddings of a chat or another group. Equal revisions mean equal
/// embeddings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VectorRevision {
    pub passages: u32,
    /// Number of the last write; 0 if there was none.
    pub last: i64,
}

/// Revision of a group; see the migration.
pub(crate) fn revision(
    conn: &Connection,
    kind: &str,
    among: &[u8; 16],
) -> Result<VectorRevision, StoreError> {
    let revision = conn
        .prepare_cached("SELECT vectors, last FROM vector_group WHERE kind = ?1 AND among = ?2")?
        .query_row(params![kind, among], |row| {
            Ok(VectorRevision {
                passages: row.get(0)?,
                last: row.get(1)?,
            })
        })
        .optional()?;
    Ok(revision.unwrap_or_default())
}

impl Vectors<'_> {
    /// Returns up to `limit` texts without embeddings, newest first. Texts of hidden chats wait
    /// until they are shown.
    pub fn queued(&self, limit: u32) -> Result<Vec<QueuedText>, StoreError> {
        let numbers: Vec<i64> = self
            .conn
            .prepare_cached(&format!(
                "SELECT message_unread.text FROM message_unread
                 JOIN message_text ON message_text.number = message_unread.text
                 WHERE message_text.chat NOT IN ({HIDDEN_CHATS})
                 ORDER BY message_unread.text DESC LIMIT ?1"
            ))?
            .query_map([limit], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let texts = numbers
            .into_iter()
            .filter_map(|number| text(self.conn, number).transpose());
        texts.collect()
    }

    /// Number of texts without embeddings.
    pub fn count_queued(&self) -> Result<u32, StoreError> {
        Ok(self
            .conn
            .query_row("SELECT count(*) FROM message_unread", [], |row| row.get(0))?)
    }

    pub fn revision(&self, chat: ChatId) -> Result<VectorRevision, StoreError> {
        revision(self.conn, "message", chat.0.as_bytes())
    }

    /// Passages of a chat with an embedding by `model` and a row number above `after`, sorted by
    /// number.
    pub fn of_chat(
        &self,
        chat: ChatId,
        model: &str,
        after: i64,
    ) -> Result<Vec<StoredVector>, StoreError> {
        let vectors = self
            .conn
            .prepare_cached(
                "SELECT number, position, vector, scale, pieces FROM message_vector
                 WHERE chat = ?1 AND model = ?2 AND number > ?3 ORDER BY number",
            )?
            .query_map(params![Col(chat), model, after], |row| {
                Ok(StoredVector {
                    number: row.get(0)?,
                    position: row.get(1)?,
                    vector: signed(row.get_ref(2)?.as_blob()?),
                    scale: row.get(3)?,
                    token_ids: pieces(row.get_ref(4)?.as_blob()?),
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(vectors)
    }

    /// Whether anything is embedded: a message, or an item of another kind.
    pub fn any(&self) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .query_row("SELECT EXISTS (SELECT 1 FROM vector_group)", [], |row| {
                row.get(0)
            })?)
    }

    /// The chats with embeddings that are neither deleted nor hidden, the last changed first.
    pub fn chats(&self) -> Result<Vec<ChatId>, StoreError> {
        let chats = self
            .conn
            .prepare_cached(&format!(
                "SELECT chat.id FROM vector_group JOIN chat ON chat.id = vector_group.among
                 WHERE kind = 'message' AND chat.deleted IS NULL AND chat.id NOT IN ({HIDDEN_CHATS})
                 ORDER BY chat.updated DESC"
            ))?
            .query_map([], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(chats)
    }

    /// Token vectors of a passage, concatenated; `None` if the passage no longer exists.
    pub fn pieces(&self, number: i64) -> Result<Option<Vec<i8>>, StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT vectors FROM message_pieces WHERE number = ?1")?;
        Ok(statement
            .query_row([number], |row| Ok(signed(row.get_ref(0)?.as_blob()?)))
            .optional()?)
    }
}

impl VectorsMut<'_> {
    /// Stores the embeddings of a text by `model`. Does nothing if the text or a neighbour has
    /// changed, so the text stays queued.
    pub fn keep(
        &mut self,
        unread: &QueuedText,
        model: &str,
        passages: &[NewVector],
    ) -> Result<(), StoreError> {
        if text(self.conn, unread.number)?.as_ref() != Some(unread) {
            return Ok(());
        }
        self.conn
            .prepare_cached("DELETE FROM message_vector WHERE text = ?1")?
            .execute([unread.number])?;
        let mut insert = self.conn.prepare_cached(
            "INSERT INTO message_vector (text, chat, position, passage, model, scale, vector, pieces)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let mut insert_pieces = self
            .conn
            .prepare_cached("INSERT INTO message_pieces (number, vectors) VALUES (?1, ?2)")?;
        for (place, passage) in passages.iter().enumerate() {
            let pieces: Vec<u8> = passage
                .token_ids
                .iter()
                .flat_map(|piece| piece.to_le_bytes())
                .collect();
            let number = insert.insert(params![
                unread.number,
                Col(unread.chat),
                unread.position,
                place as i64,
                model,
                passage.scale,
                bytes(&passage.vector),
                pieces
            ])?;
            insert_pieces.execute(params![number, bytes(&passage.token_vectors)])?;
        }
        self.conn
            .prepare_cached("DELETE FROM message_unread WHERE text = ?1")?
            .execute([unread.number])?;
        Ok(())
    }

    /// Removes a text from the queue without embeddings, until [`Self::queue_all`].
    pub fn dequeue(&mut self, unread: &QueuedText) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM message_unread WHERE text = ?1")?
            .execute([unread.number])?;
        Ok(())
    }

    /// Queues every text without an embedding by `model`, and deletes embeddings of other models.
    pub fn queue_all(&mut self, model: &str) -> Result<(), StoreError> {
        self.conn
            .execute("DELETE FROM message_vector WHERE model <> ?1", [model])?;
        self.conn.execute(
            "INSERT OR IGNORE INTO message_unread (text) SELECT number FROM message_text
             WHERE NOT EXISTS (SELECT 1 FROM message_vector WHERE message_vector.text = message_text.number)",
            [],
        )?;
        Ok(())
    }
}

/// Reads the current text and its neighbours.
fn text(conn: &Connection, number: i64) -> Result<Option<QueuedText>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT text.message, message.role, text.text, message.created, text.number, text.position, text.chat
         FROM message_text AS text JOIN message ON message.id = text.message WHERE text.number = ?1",
    )?;
    let beside = |which: &str, order: &str, chat: ChatId, position: i64| {
        conn.prepare_cached(&format!(
            "SELECT text.message, message.role, text.text, message.created
             FROM message_text AS text JOIN message ON message.id = text.message
             WHERE text.chat = ?1 AND text.position {which} ?2 ORDER BY text.position {order} LIMIT 1"
        ))?
        .query_row(params![Col(chat), position], said)
        .optional()
    };
    let read = |row: &Row<'_>| {
        let position = row.get(5)?;
        let chat = row.get::<_, Col<_>>(6)?.0;
        Ok(QueuedText {
            number: row.get(4)?,
            position,
            chat,
            content: said(row)?,
            previous: beside("<", "DESC", chat, position)?,
            next: beside(">", "ASC", chat, position)?,
        })
    };
    Ok(statement.query_row([number], read).optional()?)
}

fn said(row: &Row<'_>) -> rusqlite::Result<MessageContent> {
    Ok(MessageContent {
        message: row.get::<_, Col<_>>(0)?.0,
        role: row.get::<_, Col<_>>(1)?.0,
        text: row.get(2)?,
        created: row.get::<_, Col<_>>(3)?.0,
    })
}

pub(crate) fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

pub(crate) fn bytes(numbers: &[i8]) -> Vec<u8> {
    numbers
        .iter()
        .map(|number| number.cast_unsigned())
        .collect()
}

fn pieces(bytes: &[u8]) -> Vec<u16> {
    bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|piece| u16::from_le_bytes(*piece))
        .collect()
}
