//! Messages of chats, in order.

use domain::chat::{Message, MessageSource, Role, Swipe};
use domain::{ChatId, MessageId, Timestamp};
use rusqlite::{OptionalExtension, Params, Row, params};

use super::picture;
use super::swipe::{self, NewSwipe};
use crate::access::{ChatsMut, Messages, MessagesMut, SwipesMut};
use crate::sql::{Col, one};
use crate::visibility::HIDDEN_CHATS;
use crate::{StoreError, checksum};

/// A message to append. The store assigns its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    pub id: MessageId,
    pub chat: ChatId,
    pub role: Role,
    pub created: Timestamp,
    /// At least one. A greeting includes its alternates.
    pub swipes: Vec<NewSwipe>,
    /// Index into `swipes`.
    pub selected: u32,
    pub context_block: Option<String>,
}

/// Numbers of messages by author.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCount {
    pub all: u32,
    pub of_character: u32,
    pub of_user: u32,
}

impl Messages<'_> {
    /// The last `limit` messages of a chat before `before` (exclusive; from the end if `None`),
    /// oldest first.
    pub fn page(
        &self,
        chat: ChatId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let mut messages = self.select(
            "SELECT * FROM message WHERE chat = ?1 AND deleted IS NULL AND position < ?2
             ORDER BY position DESC LIMIT ?3",
            params![Col(chat), before.unwrap_or(i64::MAX), limit],
        )?;
        messages.reverse();
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else {
            return Ok(messages);
        };
        let swipes = swipe::between(self.conn, chat, first.position, last.position)?;
        let mut pictures = picture::between(self.conn, chat, first.position, last.position)?;
        let mut messages = with_swipes(messages, swipes);
        for message in &mut messages {
            message.pictures = pictures.remove(&message.id).unwrap_or_default();
        }
        Ok(messages)
    }

    /// Position of a message; `None` if it does not exist or is deleted.
    pub fn position(&self, id: MessageId) -> Result<Option<i64>, StoreError> {
        let position = self
            .conn
            .prepare_cached("SELECT position FROM message WHERE id = ?1 AND deleted IS NULL")?
            .query_row([Col(id)], |row| row.get(0))
            .optional()?;
        Ok(position)
    }

    /// The character's messages up to `position` that are not hidden and contain `word`, oldest
    /// first. `word` must be upper case; the match ignores case.
    pub fn containing(
        &self,
        chat: ChatId,
        word: &str,
        position: i64,
    ) -> Result<Vec<String>, StoreError> {
        let texts = self
            .conn
            .prepare_cached(
                "SELECT swipe.text
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 WHERE message.chat = ?1 AND message.deleted IS NULL AND message.hidden = 0
                     AND message.role = 'character'
                     AND message.position <= ?2 AND instr(upper(swipe.text), ?3) > 0
                 ORDER BY message.position",
            )?
            .query_map(params![Col(chat), position, word], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(texts)
    }

    /// `None` if it does not exist or is deleted.
    pub fn get(&self, id: MessageId) -> Result<Option<Message>, StoreError> {
        let sql = format!(
            "SELECT * FROM message
             WHERE id = ?1 AND deleted IS NULL AND chat NOT IN ({HIDDEN_CHATS})"
        );
        self.single(&sql, [Col(id)])
    }

    /// The message right before `id` in the same chat.
    pub fn before(&self, id: MessageId) -> Result<Option<Message>, StoreError> {
        self.single(
            "SELECT earlier.* FROM message AS this
             JOIN message AS earlier ON earlier.chat = this.chat AND earlier.position < this.position
             WHERE this.id = ?1 AND earlier.deleted IS NULL
             ORDER BY earlier.position DESC LIMIT 1",
            [Col(id)],
        )
    }

    pub fn last(&self, chat: ChatId) -> Result<Option<Message>, StoreError> {
        self.single(
            "SELECT * FROM message WHERE chat = ?1 AND deleted IS NULL ORDER BY position DESC LIMIT 1",
            [Col(chat)],
        )
    }

    /// Whether the user has written a message in the chat.
    pub fn any_by_user(&self, chat: ChatId) -> Result<bool, StoreError> {
        let sql =
            "SELECT 1 FROM message WHERE chat = ?1 AND role = 'user' AND deleted IS NULL LIMIT 1";
        Ok(self.conn.prepare_cached(sql)?.exists([Col(chat)])?)
    }

    /// Whether the user has written at least `count` messages, in all chats together.
    pub fn by_user_reach(&self, count: u32) -> Result<bool, StoreError> {
        let found: u32 = self
            .conn
            .prepare_cached(
                "SELECT count(*) FROM
                     (SELECT 1 FROM message WHERE role = 'user' AND deleted IS NULL LIMIT ?1)",
            )?
            .query_row([count], |row| row.get(0))?;
        Ok(found >= count)
    }

    /// Index of the selected greeting, if the chat starts with a message of the character.
    pub fn opening(&self, chat: ChatId) -> Result<Option<u32>, StoreError> {
        let opening: Option<(bool, u32)> = self
            .conn
            .prepare_cached(
                "SELECT role = 'character', selected FROM message WHERE chat = ?1 AND deleted IS NULL
                 ORDER BY position LIMIT 1",
            )?
            .query_row([Col(chat)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(opening
            .filter(|(of_character, _)| *of_character)
            .map(|(_, selected)| selected))
    }

    /// Numbers of messages before `position`, by author. Events are no messages.
    pub fn count_before(&self, chat: ChatId, position: i64) -> Result<MessageCount, StoreError> {
        let counts = self
            .conn
            .prepare_cached(
                "SELECT count(*) FILTER (WHERE role <> 'event'), count(*) FILTER (WHERE role = 'character'),
                     count(*) FILTER (WHERE role = 'user')
                 FROM message WHERE chat = ?1 AND position < ?2 AND deleted IS NULL",
            )?
            .query_row(params![Col(chat), position], |row| {
                Ok(MessageCount { all: row.get(0)?, of_character: row.get(1)?, of_user: row.get(2)? })
            })?;
        Ok(counts)
    }

    pub fn count(&self, chat: ChatId) -> Result<u32, StoreError> {
        let count = self
            .conn
            .prepare_cached("SELECT count(*) FROM message WHERE chat = ?1 AND deleted IS NULL")?
            .query_row([Col(chat)], |row| row.get(0))?;
        Ok(count)
    }

    fn select(&self, sql: &str, params: impl Params) -> Result<Vec<Message>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(sql)?
            .query_map(params, from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    fn single(&self, sql: &str, params: impl Params) -> Result<Option<Message>, StoreError> {
        let found = self
            .conn
            .prepare_cached(sql)?
            .query_row(params, from_row)
            .optional()?;
        let Some(mut message) = found else {
            return Ok(None);
        };
        message.swipes = swipe::of(self.conn, message.id)?;
        message.pictures = picture::of(self.conn, message.id)?;
        Ok(Some(message).filter(|message| !message.swipes.is_empty()))
    }
}

impl MessagesMut<'_> {
    /// Appends a message to the chat and updates the chat's time of change.
    pub fn append(&mut self, new: &NewMessage) -> Result<Message, StoreError> {
        if new.selected as usize >= new.swipes.len() {
            return Err(StoreError::Conflict {
                detail: "a message needs at least one swipe and a valid selection".into(),
            });
        }
        let position = self.next_position(new.chat)?;
        self.conn
            .prepare_cached(
                "INSERT INTO message (id, chat, position, role, created, selected, context_block)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                Col(new.id),
                Col(new.chat),
                position,
                Col(new.role),
                Col(new.created),
                new.selected,
                new.context_block,
            ])?;
        let mut swipes = SwipesMut { conn: self.conn };
        let swipes = (0..)
            .zip(&new.swipes)
            .map(|(place, swipe)| swipes.insert(new.id, place, swipe))
            .collect::<Result<_, _>>()?;
        self.touch_chat(new.chat, new.created)?;
        Ok(Message {
            id: new.id,
            chat: new.chat,
            position,
            role: new.role,
            created: new.created,
            swipes,
            selected: new.selected,
            context_block: new.context_block.clone(),
            pinned: false,
            hidden: false,
            undated: false,
            source: MessageSource::Typed,
            pictures: Vec::new(),
        })
    }

    /// Sets the importance, from 1 to 10; `None` means not rated.
    pub fn set_importance(
        &mut self,
        id: MessageId,
        importance: Option<u8>,
    ) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET importance = ?2 WHERE id = ?1")?
            .execute(params![Col(id), importance])?;
        one(rows, "message")
    }

    /// Replaces the text of the selected swipe, which keeps its creation time. Clears the
    /// importance, because it rated the old text. The next purge removes quotes of the old text.
    pub fn edit(&mut self, id: MessageId, text: &str) -> Result<(), StoreError> {
        let selected = "message = ?1 AND position = (SELECT selected FROM message WHERE id = ?1 AND deleted IS NULL)";
        let rewritten = format!(
            "INSERT OR IGNORE INTO rewritten (id) SELECT message FROM swipe
             WHERE {selected} AND substr(?2, 1, length(text)) <> text"
        );
        self.conn
            .prepare_cached(&rewritten)?
            .execute(params![Col(id), text])?;
        let edited = format!(
            "UPDATE swipe SET text = ?2, state = 'finished', checksum = ?3 WHERE {selected}"
        );
        one(
            self.conn.prepare_cached(&edited)?.execute(params![
                Col(id),
                text,
                checksum::of(text)
            ])?,
            "message",
        )?;
        self.set_importance(id, None)
    }

    pub fn set_context_block(
        &mut self,
        id: MessageId,
        block: Option<&str>,
    ) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET context_block = ?2 WHERE id = ?1")?
            .execute(params![Col(id), block])?;
        one(rows, "message")
    }

    pub fn set_pinned(&mut self, id: MessageId, pinned: bool) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET pinned = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), pinned])?;
        one(rows, "message")
    }

    /// Hides a message from the model, or makes it visible again. It stays in the chat.
    pub fn set_hidden(&mut self, id: MessageId, hidden: bool) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET hidden = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), hidden])?;
        one(rows, "message")
    }

    /// Marks the time of a message as unknown.
    pub fn set_undated(&mut self, id: MessageId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET undated = 1 WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "message")
    }

    pub fn set_source(&mut self, id: MessageId, source: MessageSource) -> Result<(), StoreError> {
        let sql = "UPDATE message SET source = ?2 WHERE id = ?1";
        one(
            self.conn
                .prepare_cached(sql)?
                .execute(params![Col(id), Col(source)])?,
            "message",
        )
    }

    /// Hides one message until `restore` or a purge.
    pub fn soft_delete(&mut self, id: MessageId, when: Timestamp) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE message SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), Col(when)])?;
        one(rows, "message")
    }

    /// Hides the messages of a chat from `position` on; returns them, for `restore`.
    pub fn delete_from(
        &mut self,
        chat: ChatId,
        position: i64,
        when: Timestamp,
    ) -> Result<Vec<MessageId>, StoreError> {
        let ids = self
            .conn
            .prepare_cached(
                "UPDATE message SET deleted = ?3 WHERE chat = ?1 AND position >= ?2 AND deleted IS NULL RETURNING id",
            )?
            .query_map(params![Col(chat), position, Col(when)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// Restores deleted messages at their positions.
    pub fn restore(&mut self, ids: &[MessageId]) -> Result<(), StoreError> {
        let mut statement = self
            .conn
            .prepare_cached("UPDATE message SET deleted = NULL WHERE id = ?1")?;
        ids.iter()
            .try_for_each(|id| one(statement.execute([Col(*id)])?, "message"))
    }

    /// Clears the context blocks and digests of chats with messages deleted at or before `before`,
    /// because they may quote them. These chats start a new epoch.
    pub(crate) fn redact_quotes(&mut self, before: Timestamp) -> Result<(), StoreError> {
        self.conn.execute(
            "UPDATE message SET context_block = '[]' WHERE context_block IS NOT NULL
                 AND chat IN (SELECT chat FROM message WHERE deleted <= ?1)",
            [Col(before)],
        )?;
        self.conn.execute(
            "UPDATE chat SET window_fingerprint = '', window_frozen = ''
             WHERE id IN (SELECT chat FROM message WHERE deleted <= ?1)",
            [Col(before)],
        )?;
        Ok(())
    }

    /// Permanently removes messages deleted at or before `before`. Returns how many.
    pub(crate) fn purge(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .execute("DELETE FROM message WHERE deleted <= ?1", [Col(before)])?)
    }

    /// Includes deleted messages, so that a restored message finds its position free.
    fn next_position(&self, chat: ChatId) -> Result<i64, StoreError> {
        crate::table::chats::copy::next_position(self.conn, chat)
    }

    fn touch_chat(&self, chat: ChatId, when: Timestamp) -> Result<(), StoreError> {
        ChatsMut { conn: self.conn }.touch(chat, when)
    }
}

/// Adds swipes to messages; both must be sorted by message position. Drops messages without swipes,
/// which have nothing to show.
fn with_swipes(mut messages: Vec<Message>, swipes: Vec<Swipe>) -> Vec<Message> {
    let mut swipes = swipes.into_iter().peekable();
    for message in &mut messages {
        while let Some(swipe) = swipes.next_if(|swipe| swipe.message == message.id) {
            message.swipes.push(swipe);
        }
    }
    messages.retain(|message| !message.swipes.is_empty());
    messages
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get::<_, Col<_>>("id")?.0,
        chat: row.get::<_, Col<_>>("chat")?.0,
        position: row.get("position")?,
        role: row.get::<_, Col<_>>("role")?.0,
        created: row.get::<_, Col<_>>("created")?.0,
        swipes: Vec::new(),
        selected: row.get("selected")?,
        context_block: row.get("context_block")?,
        pinned: row.get("pinned")?,
        hidden: row.get("hidden")?,
        undated: row.get("undated")?,
        source: row.get::<_, Col<_>>("source")?.0,
        pictures: Vec::new(),
    })
}
