//! Swipes: the alternative texts of a message.

use std::collections::HashSet;

use domain::chat::{Emotion, Swipe, SwipeState};
use domain::{ChatId, MessageId, SwipeId, Timestamp, ToolCall, ToolRound};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::access::{Swipes, SwipesMut};
use crate::sql::{Col, one};
use crate::{StoreError, checksum};

/// A swipe to add. The store assigns its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSwipe {
    pub id: SwipeId,
    pub text: String,
    pub state: SwipeState,
    pub created: Timestamp,
    /// Name of the model that writes it.
    pub model: Option<String>,
}

impl Swipes<'_> {
    pub fn get(&self, id: SwipeId) -> Result<Option<Swipe>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT * FROM swipe WHERE id = ?1")?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// Changes that the scripts of a swipe made to macro variables, as JSON; `None` if they made
    /// none.
    pub fn variables(&self, id: SwipeId) -> Result<Option<String>, StoreError> {
        let json = self
            .conn
            .prepare_cached("SELECT variables FROM swipe WHERE id = ?1")?
            .query_row([Col(id)], |row| row.get(0))
            .optional()?;
        Ok(json.flatten())
    }

    /// The ids of all tool calls in a chat.
    pub fn tool_call_ids(&self, chat: ChatId) -> Result<HashSet<String>, StoreError> {
        let rounds = self
            .conn
            .prepare_cached(
                "SELECT swipe.tool_rounds FROM swipe JOIN message ON message.id = swipe.message
                 WHERE message.chat = ?1 AND swipe.tool_rounds IS NOT NULL",
            )?
            .query_map([Col(chat)], |row| {
                Ok(row.get::<_, Col<Vec<ToolRound>>>(0)?.0)
            })?
            .collect::<Result<Vec<_>, _>>()?;
        let calls = rounds.into_iter().flatten().flat_map(|round| round.calls);
        Ok(calls.filter_map(|call| call.id).collect())
    }

    /// The rated swipes of a chat, and whether each is good.
    pub fn ratings(&self, chat: ChatId) -> Result<Vec<(SwipeId, bool)>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT swipe.id, swipe.rating > 0 FROM message JOIN swipe ON swipe.message = message.id
                 WHERE message.chat = ?1 AND message.deleted IS NULL AND swipe.rating <> 0",
            )?
            .query_map([Col(chat)], |row| Ok((row.get::<_, Col<_>>(0)?.0, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl SwipesMut<'_> {
    /// Adds a swipe after the others, selects it, and updates the chat's time of change.
    pub fn add(&mut self, message: MessageId, new: &NewSwipe) -> Result<Swipe, StoreError> {
        let position: u32 = self
            .conn
            .prepare_cached("SELECT ifnull(max(position) + 1, 0) FROM swipe WHERE message = ?1")?
            .query_row([Col(message)], |row| row.get(0))?;
        let swipe = self.insert(message, position, new)?;
        self.select(message, position)?;
        self.conn
            .prepare_cached(
                "UPDATE chat SET updated = max(updated, ?2) WHERE id = (SELECT chat FROM message WHERE id = ?1)",
            )?
            .execute(params![Col(message), Col(new.created)])?;
        Ok(swipe)
    }

    /// Selects the swipe to show and send.
    pub fn select(&mut self, message: MessageId, index: u32) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE message SET selected = ?2, importance = NULL
                 WHERE id = ?1 AND EXISTS (SELECT 1 FROM swipe WHERE message = ?1 AND position = ?2)",
            )?
            .execute(params![Col(message), index])?;
        one(rows, "swipe")
    }

    /// Deletes the swipe at `index` with everything that belongs to it, and selects the one at
    /// `selected` of those that are left.
    pub fn delete(
        &mut self,
        message: MessageId,
        index: u32,
        selected: u32,
    ) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM swipe WHERE message = ?1 AND position = ?2")?
            .execute(params![Col(message), index])?;
        one(rows, "swipe")?;
        let mut close_gap = self.conn.prepare_cached(
            "UPDATE swipe SET position = ?2 - 1 WHERE message = ?1 AND position = ?2",
        )?;
        let mut position = index + 1;
        while close_gap.execute(params![Col(message), position])? > 0 {
            position += 1;
        }
        self.select(message, selected)
    }

    /// Stores the changes that the scripts of a swipe made to macro variables, as JSON.
    pub fn set_variables(&mut self, id: SwipeId, json: &str) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE swipe SET variables = ?2 WHERE id = ?1")?
            .execute(params![Col(id), json])?;
        one(rows, "swipe")
    }

    /// Updates a streaming reply. Clears the message's importance, because it rated the old text.
    pub fn set_text(
        &mut self,
        id: SwipeId,
        text: &str,
        state: SwipeState,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "UPDATE message SET importance = NULL
                 WHERE id = (SELECT message FROM swipe WHERE id = ?1) AND importance IS NOT NULL",
            )?
            .execute([Col(id)])?;
        let rows = self
            .conn
            .prepare_cached(
                "UPDATE swipe SET text = ?2, state = ?3, checksum = ?4, stopped = ?5 WHERE id = ?1",
            )?
            .execute(params![
                Col(id),
                text,
                Col(state),
                checksum::of(text),
                state == SwipeState::Stopped
            ])?;
        one(rows, "swipe")
    }

    pub fn set_tool_calls(&mut self, id: SwipeId, calls: &[ToolCall]) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE swipe SET tool_calls = ?2 WHERE id = ?1")?
            .execute(params![Col(id), Col(calls)])?;
        one(rows, "swipe")
    }

    pub fn set_tool_rounds(&mut self, id: SwipeId, rounds: &[ToolRound]) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE swipe SET tool_rounds = ?2 WHERE id = ?1")?
            .execute(params![Col(id), Col(rounds)])?;
        one(rows, "swipe")
    }

    pub fn set_emotion(&mut self, id: SwipeId, emotion: &Emotion) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE swipe SET emotion = ?2, emotion_tag = ?3 WHERE id = ?1")?
            .execute(params![Col(id), emotion.label, emotion.unknown_tag])?;
        one(rows, "swipe")
    }

    /// Rates a swipe as good or bad; `None` removes the rating.
    pub fn rate(&mut self, id: SwipeId, good: Option<bool>) -> Result<(), StoreError> {
        let rating = good.map_or(0, |good| if good { 1 } else { -1 });
        let rows = self
            .conn
            .prepare_cached("UPDATE swipe SET rating = ?2 WHERE id = ?1")?
            .execute(params![Col(id), rating])?;
        one(rows, "swipe")
    }

    pub(crate) fn insert(
        &mut self,
        message: MessageId,
        position: u32,
        new: &NewSwipe,
    ) -> Result<Swipe, StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO swipe (id, message, position, text, state, created, model, checksum, stopped)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                Col(new.id),
                Col(message),
                position,
                new.text,
                Col(new.state),
                Col(new.created),
                new.model,
                checksum::of(&new.text),
                new.state == SwipeState::Stopped,
            ])?;
        Ok(Swipe {
            id: new.id,
            message,
            position,
            text: new.text.clone(),
            state: new.state,
            created: new.created,
            model: new.model.clone(),
            tool_calls: Vec::new(),
            tool_rounds: Vec::new(),
            emotion: None,
        })
    }

    /// Marks swipes that were streaming when the app stopped as interrupted. Returns how many.
    pub(crate) fn interrupt_unfinished(&mut self) -> Result<usize, StoreError> {
        Ok(self.conn.execute(
            "UPDATE swipe SET state = 'interrupted' WHERE state = 'streaming'",
            [],
        )?)
    }
}

pub(crate) fn of(conn: &Connection, message: MessageId) -> Result<Vec<Swipe>, StoreError> {
    let rows = conn
        .prepare_cached("SELECT * FROM swipe WHERE message = ?1 ORDER BY position")?
        .query_map([Col(message)], from_row)?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

/// Swipes of a chat's messages from position `first` to `last`, sorted by message, then by swipe.
pub(crate) fn between(
    conn: &Connection,
    chat: ChatId,
    first: i64,
    last: i64,
) -> Result<Vec<Swipe>, StoreError> {
    let rows = conn
        .prepare_cached(
            "SELECT swipe.* FROM message JOIN swipe ON swipe.message = message.id
             WHERE message.chat = ?1 AND message.deleted IS NULL AND message.position BETWEEN ?2 AND ?3
             ORDER BY message.position, swipe.position",
        )?
        .query_map(params![Col(chat), first, last], from_row)?
        .collect::<Result<_, _>>()?;
    Ok(rows)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Swipe> {
    let state = match row.get::<_, Col<_>>("state")?.0 {
        SwipeState::Interrupted if row.get("stopped")? => SwipeState::Stopped,
        state => state,
    };
    let label = row.get::<_, Option<String>>("emotion")?;
    let unknown_tag = row.get("emotion_tag")?;
    Ok(Swipe {
        id: row.get::<_, Col<_>>("id")?.0,
        message: row.get::<_, Col<_>>("message")?.0,
        position: row.get("position")?,
        text: row.get("text")?,
        state,
        created: row.get::<_, Col<_>>("created")?.0,
        model: row.get("model")?,
        tool_calls: row.get::<_, Col<_>>("tool_calls")?.0,
        tool_rounds: row.get::<_, Col<_>>("tool_rounds")?.0,
        emotion: label.map(|label| Emotion { label, unknown_tag }),
    })
}
