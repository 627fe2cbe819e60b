//! Pictures attached to messages. Their bytes are assets.

use std::collections::HashMap;

use domain::chat::Picture;
use domain::{ChatId, MessageId};
use rusqlite::{Connection, Row, params};

use crate::access::{Pictures, PicturesMut};
use crate::sql::Col;
use crate::{AssetHash, StoreError};

impl Pictures<'_> {
    /// Pictures of a chat's messages from `position` on, in order for each message.
    pub fn from(
        &self,
        chat: ChatId,
        position: i64,
    ) -> Result<HashMap<MessageId, Vec<Picture>>, StoreError> {
        between(self.conn, chat, position, i64::MAX)
    }
}

impl PicturesMut<'_> {
    /// Adds pictures to a message that has none. Returns `Conflict` if one is not an asset.
    pub fn put(
        &mut self,
        message: MessageId,
        pictures: &[(AssetHash, String)],
    ) -> Result<(), StoreError> {
        let mut statement = self.conn.prepare_cached(
            "INSERT INTO message_picture (message, position, asset, name) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for (position, (asset, name)) in (0_i64..).zip(pictures) {
            statement.execute(params![Col(message), position, Col(*asset), name])?;
        }
        Ok(())
    }
}

/// Pictures of a chat's messages from position `first` to `last`.
pub(crate) fn between(
    conn: &Connection,
    chat: ChatId,
    first: i64,
    last: i64,
) -> Result<HashMap<MessageId, Vec<Picture>>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT message_picture.* FROM message JOIN message_picture ON message_picture.message = message.id
         WHERE message.chat = ?1 AND message.deleted IS NULL AND message.position BETWEEN ?2 AND ?3
         ORDER BY message_picture.message, message_picture.position",
    )?;
    let mut found: HashMap<MessageId, Vec<Picture>> = HashMap::new();
    let rows = statement.query_map(params![Col(chat), first, last], |row| {
        Ok((row.get::<_, Col<_>>("message")?.0, from_row(row)?))
    })?;
    for row in rows {
        let (message, picture) = row?;
        found.entry(message).or_default().push(picture);
    }
    Ok(found)
}

pub(crate) fn of(conn: &Connection, message: MessageId) -> Result<Vec<Picture>, StoreError> {
    let rows = conn
        .prepare_cached("SELECT * FROM message_picture WHERE message = ?1 ORDER BY position")?
        .query_map([Col(message)], from_row)?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Picture> {
    let hash: AssetHash = row.get::<_, Col<_>>("asset")?.0;
    Ok(Picture {
        hash: hash.to_string(),
        name: row.get("name")?,
    })
}
