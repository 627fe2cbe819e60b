//! Decisions of the user about tools.

use domain::{ChatId, Timestamp};
use rusqlite::{OptionalExtension, params};

use crate::StoreError;
use crate::access::{ToolGrants, ToolGrantsMut};
use crate::sql::Col;
use crate::visibility::HIDDEN_CHATS;

/// Whether a tool may run without a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolGrant {
    /// Server of the tool; empty for the app's own.
    pub source: String,
    pub tool: String,
    /// `None`: in all chats.
    pub chat: Option<ChatId>,
    pub allowed: bool,
    pub created: Timestamp,
}

impl ToolGrants<'_> {
    /// All decisions, except those in hidden chats, the newest first.
    pub fn list(&self) -> Result<Vec<ToolGrant>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT source, tool, chat, allowed, created FROM tool_grant
                 WHERE ifnull(chat NOT IN ({HIDDEN_CHATS}), 1) ORDER BY created DESC, tool"
            ))?
            .query_map([], |row| {
                Ok(ToolGrant {
                    source: row.get(0)?,
                    tool: row.get(1)?,
                    chat: row.get::<_, Option<Col<_>>>(2)?.map(|chat| chat.0),
                    allowed: row.get(3)?,
                    created: row.get::<_, Col<_>>(4)?.0,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The decision that applies to a tool in a chat. A refusal in all chats comes first, then the
    /// chat's own decision.
    pub fn decision(
        &self,
        source: &str,
        tool: &str,
        chat: ChatId,
    ) -> Result<Option<bool>, StoreError> {
        let allowed = self
            .conn
            .prepare_cached(
                "SELECT allowed FROM tool_grant WHERE source = ?1 AND tool = ?2 AND (chat IS NULL OR chat = ?3)
                 ORDER BY chat IS NULL AND NOT allowed DESC, chat IS NULL LIMIT 1",
            )?
            .query_row(params![source, tool, Col(chat)], |row| row.get(0))
            .optional()?;
        Ok(allowed)
    }
}

impl ToolGrantsMut<'_> {
    /// Replaces the decision for the same tool and chat.
    pub fn set(&mut self, grant: &ToolGrant) -> Result<(), StoreError> {
        self.forget(&grant.source, &grant.tool, grant.chat)?;
        self.conn
            .prepare_cached(
                "INSERT INTO tool_grant (source, tool, chat, allowed, created) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![grant.source, grant.tool, grant.chat.map(Col), grant.allowed, Col(grant.created)])?;
        Ok(())
    }

    pub fn forget(
        &mut self,
        source: &str,
        tool: &str,
        chat: Option<ChatId>,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "DELETE FROM tool_grant WHERE source = ?1 AND tool = ?2 AND chat IS ?3",
            )?
            .execute(params![source, tool, chat.map(Col)])?;
        Ok(())
    }
}
