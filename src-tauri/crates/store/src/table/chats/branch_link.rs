//! Links from branches to the chats that they began in.

use domain::{ChatId, MessageId};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::{BranchLinks, BranchLinksMut, Chats};
use crate::sql::Col;
use crate::visibility::HIDDEN_CHATS;

/// The place at which a chat left another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchOrigin {
    pub chat: ChatId,
    pub title: String,
    /// The last message that both have; `None` once it is purged.
    pub message: Option<MessageId>,
    /// Number of that message in the other chat, from 1.
    pub number: u32,
    /// The other chat is in the trash.
    pub deleted: bool,
}

/// A chat that left this one at a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchLink {
    pub chat: ChatId,
    pub title: String,
    pub message: Option<MessageId>,
}

/// A message as the story tree compares it. Equal keys mean the same message with the same shown
/// text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryStep {
    pub message: MessageId,
    pub key: StoryKey,
}

/// The values that copies of a message share: the author, the time, and the checksum of the shown
/// text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoryKey {
    role: String,
    created: i64,
    checksum: i64,
}

impl StoryKey {
    pub fn new(role: &str, created: i64, checksum: i64) -> Self {
        Self {
            role: role.to_owned(),
            created,
            checksum,
        }
    }
}

/// The chats that are joined to the chat `?1` by links, in any direction, with the chat itself.
/// Deleted chats are included, because they may join others.
pub(crate) const LINKED: &str = "
    WITH RECURSIVE linked (chat) AS (
        SELECT ?1
        UNION SELECT branch.origin FROM linked JOIN branch ON branch.chat = linked.chat
        UNION SELECT branch.chat FROM linked JOIN branch ON branch.origin = linked.chat)
    SELECT chat FROM linked";

impl BranchLinks<'_> {
    /// `None` for a chat that is no branch, or whose origin is hidden.
    pub fn origin(&self, chat: ChatId) -> Result<Option<BranchOrigin>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT chat.id, chat.title, branch.message, chat.deleted IS NOT NULL,
                     (SELECT count(*) FROM message AS earlier JOIN message AS last ON last.id = branch.message
                      WHERE earlier.chat = branch.origin AND earlier.deleted IS NULL
                          AND earlier.position <= last.position)
                 FROM branch JOIN chat ON chat.id = branch.origin
                 WHERE branch.chat = ?1 AND chat.id NOT IN ({HIDDEN_CHATS})"
            ))?
            .query_row([Col(chat)], |row| {
                Ok(BranchOrigin {
                    chat: row.get::<_, Col<_>>(0)?.0,
                    title: row.get(1)?,
                    message: row.get::<_, Option<Col<_>>>(2)?.map(|Col(id)| id),
                    deleted: row.get(3)?,
                    number: row.get(4)?,
                })
            })
            .optional()?;
        Ok(row)
    }

    /// The branches that began in this chat, without deleted and hidden ones, oldest first.
    pub fn of(&self, chat: ChatId) -> Result<Vec<BranchLink>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT chat.id, chat.title, branch.message FROM branch JOIN chat ON chat.id = branch.chat
                 WHERE branch.origin = ?1 AND chat.deleted IS NULL AND chat.id NOT IN ({HIDDEN_CHATS})
                 ORDER BY chat.id"
            ))?
            .query_map([Col(chat)], link_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The chats of one story, without deleted and hidden ones: those that links join to this one,
    /// and those with the same beginning. Oldest first.
    pub fn story(&self, chat: ChatId) -> Result<Vec<ChatId>, StoreError> {
        let mut found = self.linked(chat)?;
        for same in (Chats { conn: self.conn }).branches(chat)? {
            if !found.contains(&same) {
                found.extend(self.linked(same)?);
            }
        }
        found.sort_unstable();
        found.dedup();
        let mut kept = self.conn.prepare_cached(&format!(
            "SELECT EXISTS (SELECT 1 FROM chat WHERE id = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_CHATS}))"
        ))?;
        let mut shown = Vec::with_capacity(found.len());
        for id in found {
            if kept.query_row([Col(id)], |row| row.get(0))? {
                shown.push(id);
            }
        }
        Ok(shown)
    }

    /// The messages of a chat that are not deleted, in order.
    pub fn steps(&self, chat: ChatId) -> Result<Vec<StoryStep>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT message.id, message.role, message.created, ifnull(swipe.checksum, length(swipe.text))
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 WHERE message.chat = ?1 AND message.deleted IS NULL ORDER BY message.position",
            )?
            .query_map([Col(chat)], step_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The position after the last message of a chat, deleted ones included.
    pub fn next_position(&self, chat: ChatId) -> Result<i64, StoreError> {
        super::copy::next_position(self.conn, chat)
    }

    fn linked(&self, chat: ChatId) -> Result<Vec<ChatId>, StoreError> {
        let mut found = self.conn.prepare_cached(LINKED)?;
        let chats = found.query_map([Col(chat)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?;
        Ok(chats.collect::<Result<_, _>>()?)
    }
}

impl BranchLinksMut<'_> {
    /// Records that `chat` left `origin` at `message`.
    pub fn link(
        &mut self,
        chat: ChatId,
        origin: ChatId,
        message: Option<MessageId>,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO branch (chat, origin, message) VALUES (?1, ?2, ?3)
                 ON CONFLICT (chat) DO UPDATE SET origin = excluded.origin, message = excluded.message",
            )?
            .execute(params![Col(chat), Col(origin), message.map(Col)])?;
        Ok(())
    }
}

fn link_from_row(row: &Row<'_>) -> rusqlite::Result<BranchLink> {
    Ok(BranchLink {
        chat: row.get::<_, Col<_>>(0)?.0,
        title: row.get(1)?,
        message: row.get::<_, Option<Col<_>>>(2)?.map(|Col(id)| id),
    })
}

fn step_from_row(row: &Row<'_>) -> rusqlite::Result<StoryStep> {
    let key = StoryKey {
        role: row.get(1)?,
        created: row.get(2)?,
        checksum: row.get(3)?,
    };
    Ok(StoryStep {
        message: row.get::<_, Col<_>>(0)?.0,
        key,
    })
}
