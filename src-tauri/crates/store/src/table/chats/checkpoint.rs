//! Checkpoints: named bookmarks on messages.

use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{Row, params};

use crate::StoreError;
use crate::access::{Checkpoints, CheckpointsMut};
use crate::sql::Col;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub message: MessageId,
    pub name: String,
    pub created: Timestamp,
}

impl Checkpoints<'_> {
    /// The checkpoints of a chat, in the order of its messages.
    pub fn of(&self, chat: ChatId) -> Result<Vec<Checkpoint>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT checkpoint.message, checkpoint.name, checkpoint.created
                 FROM message JOIN checkpoint ON checkpoint.message = message.id
                 WHERE message.chat = ?1 AND message.deleted IS NULL ORDER BY message.position",
            )?
            .query_map([Col(chat)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl CheckpointsMut<'_> {
    /// Adds a checkpoint, or renames the one that the message has.
    pub fn set(
        &mut self,
        message: MessageId,
        name: &str,
        created: Timestamp,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO checkpoint (message, name, created) VALUES (?1, ?2, ?3)
                 ON CONFLICT (message) DO UPDATE SET name = excluded.name",
            )?
            .execute(params![Col(message), name, Col(created)])?;
        Ok(())
    }

    pub fn remove(&mut self, message: MessageId) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM checkpoint WHERE message = ?1")?
            .execute([Col(message)])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Checkpoint> {
    Ok(Checkpoint {
        message: row.get::<_, Col<_>>(0)?.0,
        name: row.get(1)?,
        created: row.get::<_, Col<_>>(2)?.0,
    })
}
