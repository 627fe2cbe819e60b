//! Copies messages and settings of a chat into another one.

use std::collections::HashMap;

use domain::{ChatId, DocumentId, MessageId, SwipeId};
use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::StoreError;
use crate::access::{BranchLinksMut, GroupsMut};
use crate::sql::Col;

/// Which messages to copy, and to where.
#[derive(Debug, Clone, Copy)]
pub struct CopiedRange {
    pub from: ChatId,
    pub to: ChatId,
    /// Positions of the first and the last message.
    pub first: i64,
    pub last: i64,
    /// Added to each position.
    pub shift: i64,
}

/// The new ids of copied messages and swipes, by their old ids.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    pub messages: HashMap<MessageId, MessageId>,
    pub swipes: HashMap<SwipeId, SwipeId>,
}

/// The columns of a swipe that its copy has as well.
const SWIPE: &str = "position, text, state, created, model, tool_calls, tool_rounds, untold, checksum, stopped, rating, emotion, emotion_tag, variables";
/// Tables with rows for a message or a swipe, which the copy has as well: table, key, other
/// columns.
const OF_MESSAGE: [(&str, &str); 3] = [
    ("message_picture", "position, asset, name"),
    ("foreign_message", "json"),
    ("checkpoint", "name, created"),
];
/// Tables with rows for a chat: table, owner's column, condition, other columns.
const OF_CHAT: [(&str, &str, &str, &str); 10] = [
    ("chat_text", "chat", "1", "field, text"),
    ("chat_member", "chat", "1", "character, position"),
    ("former_lead", "chat", "1", "character"),
    ("former_lead_text", "chat", "1", "character, field, text"),
    (
        "chat_group",
        "chat",
        "1",
        "turn_order, self_responses, several_replies, auto_delay, foreign_fields",
    ),
    ("member_state", "chat", "1", "character, muted, away"),
    ("foreign_chat", "chat", "1", "user_name, json, name_settled"),
    (
        "scoped_setting",
        "owner",
        "scope = 'chat'",
        "scope, key, value",
    ),
    (
        "lorebook_binding",
        "owner",
        "scope = 'chat'",
        "lorebook, scope",
    ),
    (
        "quick_reply_binding",
        "owner",
        "scope = 'chat'",
        "quick_replies, scope",
    ),
];

impl BranchLinksMut<'_> {
    /// Copies the messages of a range that are not deleted, with all their swipes, pictures and
    /// marks. Frozen context blocks and manifests belong to the prompts of the old chat, and are
    /// not copied.
    pub fn copy_messages(
        &mut self,
        range: CopiedRange,
        new_id: &mut dyn FnMut() -> Uuid,
    ) -> Result<Copies, StoreError> {
        let mut copies = Copies::default();
        for old in self.in_range(range)? {
            let new = MessageId(new_id());
            self.copy_message(range, old, new)?;
            for swipe in crate::table::messages::swipe::of(self.conn, old)? {
                let copy = SwipeId(new_id());
                self.copy_swipe(new, swipe.id, copy)?;
                copies.swipes.insert(swipe.id, copy);
            }
            copies.messages.insert(old, new);
        }
        Ok(copies)
    }

    /// Copies everything else that the prompts of a chat depend on: replaced texts, members,
    /// settings, lorebook bindings, documents, and data of other apps.
    pub fn copy_settings(
        &mut self,
        from: ChatId,
        to: ChatId,
        new_id: &mut dyn FnMut() -> Uuid,
    ) -> Result<(), StoreError> {
        for (table, owner, condition, columns) in OF_CHAT {
            let sql = format!(
                "INSERT INTO {table} ({owner}, {columns}) SELECT ?2, {columns} FROM {table} WHERE {owner} = ?1 AND {condition}"
            );
            self.conn
                .prepare_cached(&sql)?
                .execute(params![Col(from), Col(to)])?;
        }
        let documents: Vec<DocumentId> = self
            .conn
            .prepare_cached(
                "SELECT id FROM document WHERE chat = ?1 AND deleted IS NULL ORDER BY created, id",
            )?
            .query_map([Col(from)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        documents
            .into_iter()
            .try_for_each(|old| self.copy_document(old, DocumentId(new_id()), to))
    }

    /// Marks the copied messages up to position `last` as read for facts where the originals were,
    /// so that nothing is learned twice.
    pub fn copy_extraction(
        &mut self,
        from: ChatId,
        to: ChatId,
        last: i64,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO chat_learned (chat, position)
                 SELECT ?2, min(position, ?3) FROM chat_learned WHERE chat = ?1",
            )?
            .execute(params![Col(from), Col(to), last])?;
        Ok(())
    }

    /// Works like [`Self::copy_extraction`] for messages that were appended to a chat from position
    /// `begin` on. Unless all messages before them were read for facts, they are read again.
    pub fn append_extraction(&mut self, range: CopiedRange, begin: i64) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE chat_learned SET position = learned.position + ?3
                 FROM (SELECT position FROM chat_learned WHERE chat = ?1) AS learned
                 WHERE chat_learned.chat = ?2 AND chat_learned.position < learned.position + ?3
                     AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat = ?2 AND message.deleted IS NULL
                         AND message.position > chat_learned.position AND message.position < ?4)",
            )?
            .execute(params![Col(range.from), Col(range.to), range.shift, begin])?;
        Ok(())
    }

    fn in_range(&self, range: CopiedRange) -> Result<Vec<MessageId>, StoreError> {
        let ids = self
            .conn
            .prepare_cached(
                "SELECT id FROM message WHERE chat = ?1 AND deleted IS NULL AND position BETWEEN ?2 AND ?3
                 ORDER BY position",
            )?
            .query_map(params![Col(range.from), range.first, range.last], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(ids)
    }

    fn copy_message(
        &self,
        range: CopiedRange,
        old: MessageId,
        new: MessageId,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO message (id, chat, position, role, created, selected, pinned, importance, hidden, undated, source)
                 SELECT ?2, ?3, position + ?4, role, created, selected, pinned, importance, hidden, undated, source
                 FROM message WHERE id = ?1",
            )?
            .execute(params![Col(old), Col(new), Col(range.to), range.shift])?;
        self.conn
            .prepare_cached(
                "INSERT INTO message_speaker (message, chat, character, name)
                 SELECT ?2, ?3, character, name FROM message_speaker WHERE message = ?1",
            )?
            .execute(params![Col(old), Col(new), Col(range.to)])?;
        for (table, columns) in OF_MESSAGE {
            let sql = format!(
                "INSERT INTO {table} (message, {columns}) SELECT ?2, {columns} FROM {table} WHERE message = ?1"
            );
            self.conn
                .prepare_cached(&sql)?
                .execute([Col(old), Col(new)])?;
        }
        // A character that missed a message does not know its copy either.
        GroupsMut { conn: self.conn }.copy_presence(old, new)
    }

    fn copy_swipe(&self, message: MessageId, old: SwipeId, new: SwipeId) -> Result<(), StoreError> {
        let swipe = format!(
            "INSERT INTO swipe (id, message, {SWIPE}) SELECT ?2, ?3, {SWIPE} FROM swipe WHERE id = ?1"
        );
        self.conn
            .prepare_cached(&swipe)?
            .execute(params![Col(old), Col(new), Col(message)])?;
        for sql in [
            "INSERT INTO foreign_swipe (swipe, json) SELECT ?2, json FROM foreign_swipe WHERE swipe = ?1",
            "INSERT INTO forgotten (memory, swipe) SELECT memory, ?2 FROM forgotten WHERE swipe = ?1",
            "INSERT INTO revision (swipe, text, replaced) SELECT ?2, text, replaced FROM revision WHERE swipe = ?1",
        ] {
            self.conn
                .prepare_cached(sql)?
                .execute([Col(old), Col(new)])?;
        }
        Ok(())
    }

    fn copy_document(
        &self,
        old: DocumentId,
        new: DocumentId,
        to: ChatId,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO document (id, chat, name, bytes, created)
                 SELECT ?2, ?3, name, bytes, created FROM document WHERE id = ?1",
            )?
            .execute(params![Col(old), Col(new), Col(to)])?;
        self.conn
            .prepare_cached(
                "INSERT INTO passage (document, heading, text)
                 SELECT ?2, heading, text FROM passage WHERE document = ?1 ORDER BY number",
            )?
            .execute([Col(old), Col(new)])?;
        Ok(())
    }
}

/// The position after the last message of a chat, deleted ones included.
pub(crate) fn next_position(conn: &Connection, chat: ChatId) -> Result<i64, StoreError> {
    let sql = "SELECT ifnull(max(position) + 1, 0) FROM message WHERE chat = ?1";
    Ok(conn
        .prepare_cached(sql)?
        .query_row([Col(chat)], |row| row.get(0))?)
}
