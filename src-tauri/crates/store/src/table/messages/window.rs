//! The messages of a chat that a prompt can contain, each with only its selected swipe.

use domain::chat::{Role, SwipeState};
use domain::{ChatId, MessageId, SwipeId, Timestamp, ToolCall, ToolRound};
use rusqlite::{OptionalExtension, Row, params};

use crate::StoreError;
use crate::access::Messages;
use crate::sql::Col;

/// A message for the prompt, with only the selected swipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowMessage {
    pub id: MessageId,
    pub position: i64,
    pub role: Role,
    pub created: Timestamp,
    pub swipe: SwipeId,
    pub state: SwipeState,
    pub text: String,
    pub context_block: Option<String>,
    pub pinned: bool,
    /// 1 to 10; `None` if it was not rated.
    pub importance: Option<u8>,
    pub tool_calls: Vec<ToolCall>,
    pub tool_rounds: Vec<ToolRound>,
}

impl Messages<'_> {
    /// The messages of the chat's scene that are not hidden, oldest first, starting at `anchor`. If
    /// `anchor` is `None` or purged, they start at the scene's first message.
    pub fn from(
        &self,
        chat: ChatId,
        anchor: Option<MessageId>,
    ) -> Result<Vec<WindowMessage>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT {WINDOW_COLUMNS}
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 WHERE message.chat = ?1 AND message.deleted IS NULL AND message.hidden = 0
                     AND message.position >= ifnull((SELECT position FROM message WHERE id = ?2 AND chat = ?1), ?3)
                     AND message.position > ifnull((SELECT scene_after FROM chat WHERE id = ?1), -1)
                 ORDER BY message.position",
            ))?
            .query_map(params![Col(chat), anchor.map(Col), i64::MIN], window_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The messages before `anchor` that were pinned or judged important, oldest first; at most
    /// `limit`, pinned and new ones before others.
    pub fn marked_before(
        &self,
        chat: ChatId,
        anchor: MessageId,
        importance: u8,
        limit: u32,
    ) -> Result<Vec<WindowMessage>, StoreError> {
        let mut rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT {WINDOW_COLUMNS}
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 WHERE message.id IN (
                         SELECT id FROM message WHERE chat = ?1 AND pinned = 1 AND deleted IS NULL
                         UNION SELECT id FROM message WHERE chat = ?1 AND importance >= ?3 AND deleted IS NULL)
                     AND message.position < (SELECT position FROM message WHERE id = ?2 AND chat = ?1)
                     AND message.hidden = 0
                 ORDER BY message.pinned DESC, message.position DESC LIMIT ?4",
            ))?
            .query_map(params![Col(chat), Col(anchor), importance, limit], window_from_row)?
            .collect::<Result<Vec<_>, _>>()?;
        rows.sort_by_key(|message| message.position);
        Ok(rows)
    }

    /// The text that opens the chat's scene: that of its first message, if the narrator wrote it.
    pub fn scene_opening(&self, chat: ChatId) -> Result<Option<String>, StoreError> {
        let opening: Option<Option<String>> = self
            .conn
            .prepare_cached(
                "SELECT CASE message.role WHEN 'narrator' THEN swipe.text END
                 FROM message JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
                 WHERE message.chat = ?1 AND message.deleted IS NULL
                     AND message.position > ifnull((SELECT scene_after FROM chat WHERE id = ?1), -1)
                 ORDER BY message.position LIMIT 1",
            )?
            .query_row([Col(chat)], |row| row.get(0))
            .optional()?;
        Ok(opening.flatten())
    }
}

/// The columns of [`window_from_row`], in its order. A turn reads hundreds of rows, and access by
/// name is slow.
const WINDOW_COLUMNS: &str = "message.id, message.position, message.role, message.created, message.context_block, message.pinned, \
                              message.importance, swipe.id, swipe.state, swipe.text, swipe.tool_calls, swipe.tool_rounds";

fn window_from_row(row: &Row<'_>) -> rusqlite::Result<WindowMessage> {
    Ok(WindowMessage {
        id: row.get::<_, Col<_>>(0)?.0,
        position: row.get(1)?,
        role: row.get::<_, Col<_>>(2)?.0,
        created: row.get::<_, Col<_>>(3)?.0,
        swipe: row.get::<_, Col<_>>(7)?.0,
        state: row.get::<_, Col<_>>(8)?.0,
        text: row.get(9)?,
        context_block: row.get(4)?,
        pinned: row.get(5)?,
        importance: row.get(6)?,
        tool_calls: row.get::<_, Col<_>>(10)?.0,
        tool_rounds: row.get::<_, Col<_>>(11)?.0,
    })
}
