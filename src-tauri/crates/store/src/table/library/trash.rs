//! The trash: deleted chats, characters and lorebooks, which can be restored until they are purged.

use domain::{CharacterId, ChatId, LorebookId, Timestamp};
use rusqlite::{Row, params};
use uuid::Uuid;

use crate::StoreError;
use crate::access::{Trash, TrashMut};
use crate::sql::{Col, one};
use crate::visibility::{hidden_characters, hidden_chats, hidden_lorebooks};

/// The id of an item in the trash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrashId {
    Chat(ChatId),
    Character(CharacterId),
    Lorebook(LorebookId),
}

impl TrashId {
    /// The table of the item, and its id there.
    pub(crate) fn row(self) -> (&'static str, Uuid) {
        match self {
            Self::Chat(id) => ("chat", id.0),
            Self::Character(id) => ("character", id.0),
            Self::Lorebook(id) => ("lorebook", id.0),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    pub id: TrashId,
    pub name: String,
    /// The character's name, for a chat.
    pub with: Option<String>,
    /// The number of messages of a chat, or of all chats of a character.
    pub messages: u32,
    pub created: Timestamp,
    pub deleted: Timestamp,
}

/// Leaves hidden items out. Lists chats only while their character is not deleted. A restored
/// character brings its chats back.
const LIST: &str = concat!(
    "
    SELECT 'chat' AS kind, chat.id, chat.title AS name, character.name AS with_name, chat.created, chat.deleted,
        (SELECT count(*) FROM message WHERE message.chat = chat.id AND message.deleted IS NULL) AS messages
    FROM chat JOIN character ON character.id = chat.character
    WHERE chat.deleted IS NOT NULL AND character.deleted IS NULL AND chat.id NOT IN (",
    hidden_chats!(),
    ")
    UNION ALL
    SELECT 'character', id, name, NULL, created, deleted,
        (SELECT count(*) FROM message JOIN chat ON chat.id = message.chat
         WHERE chat.character = character.id AND message.deleted IS NULL)
    FROM character WHERE deleted IS NOT NULL AND id NOT IN (",
    hidden_characters!(),
    ")
    UNION ALL
    SELECT 'lorebook', id, name, NULL, created, deleted, 0 FROM lorebook
    WHERE deleted IS NOT NULL AND id NOT IN (",
    hidden_lorebooks!(),
    ")
    ORDER BY deleted DESC, id DESC"
);

impl Trash<'_> {
    /// Most recently deleted first.
    pub fn list(&self) -> Result<Vec<Trashed>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(LIST)?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?)
    }
}

impl TrashMut<'_> {
    /// Marks an item in the trash, so that the next purge with
    /// [`Before::ONLY_CONDEMNED`](crate::Before) removes it.
    pub fn mark_for_purge(&mut self, id: TrashId) -> Result<(), StoreError> {
        let (table, id) = id.row();
        let sql = format!("UPDATE {table} SET deleted = ?2 WHERE id = ?1 AND deleted IS NOT NULL");
        one(
            self.conn
                .prepare_cached(&sql)?
                .execute(params![id.as_bytes(), crate::Before::CONDEMNED.0])?,
            table,
        )
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Trashed> {
    let id = Uuid::from_bytes(row.get("id")?);
    let kind: String = row.get("kind")?;
    Ok(Trashed {
        id: match kind.as_str() {
            "chat" => TrashId::Chat(ChatId(id)),
            "character" => TrashId::Character(CharacterId(id)),
            _ => TrashId::Lorebook(LorebookId(id)),
        },
        name: row.get("name")?,
        with: row.get("with_name")?,
        messages: row.get("messages")?,
        created: row.get::<_, Col<_>>("created")?.0,
        deleted: row.get::<_, Col<_>>("deleted")?.0,
    })
}
