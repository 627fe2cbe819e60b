//! Servers that offer tools, and the permissions for their tools. The OS keychain stores the values
//! of their variables and headers.

use domain::tool_server::{ServerTool, ToolServer, ToolServerTransport};
use domain::{ChatId, ToolServerId};
use rusqlite::types::FromSqlError;
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use crate::StoreError;
use crate::access::{ToolServers, ToolServersMut};
use crate::sql::{Col, one};

/// A stored decision about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredGrant {
    /// The chat in which it applies; everywhere if `None`.
    pub chat: Option<ChatId>,
    pub allowed: bool,
    /// Identifies the definition of the tool that the user saw.
    pub definition: String,
}

impl ToolServers<'_> {
    /// Sorted by name.
    pub fn list(&self) -> Result<Vec<ToolServer>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT * FROM tool_server ORDER BY name COLLATE NOCASE, id")?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    pub fn get(&self, id: ToolServerId) -> Result<Option<ToolServer>, StoreError> {
        let row = self
            .conn
            .prepare_cached("SELECT * FROM tool_server WHERE id = ?1")?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// The decisions about a tool that apply everywhere or in `chat`.
    pub fn grants(
        &self,
        server: ToolServerId,
        tool: &str,
        chat: Option<ChatId>,
    ) -> Result<Vec<StoredGrant>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT chat, allowed, definition FROM server_tool_grant \
                 WHERE server = ?1 AND tool = ?2 AND (chat IS NULL OR chat = ?3)",
            )?
            .query_map(params![Col(server), tool, chat.map(Col)], grant_from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl ToolServersMut<'_> {
    pub fn insert(&mut self, server: &ToolServer) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO tool_server (id, name, enabled, transport, tools) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                Col(server.id),
                server.name,
                server.enabled,
                json(&server.transport)?,
                json(&server.tools)?
            ])?;
        Ok(())
    }

    /// Replaces the name and the transport.
    pub fn update(&mut self, server: &ToolServer) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE tool_server SET name = ?2, transport = ?3 WHERE id = ?1")?
            .execute(params![
                Col(server.id),
                server.name,
                json(&server.transport)?
            ])?;
        one(rows, "tool server")
    }

    pub fn set_enabled(&mut self, id: ToolServerId, enabled: bool) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE tool_server SET enabled = ?2 WHERE id = ?1")?
            .execute(params![Col(id), enabled])?;
        one(rows, "tool server")
    }

    pub fn set_tools(&mut self, id: ToolServerId, tools: &[ServerTool]) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE tool_server SET tools = ?2 WHERE id = ?1")?
            .execute(params![Col(id), json(&tools)?])?;
        one(rows, "tool server")
    }

    /// Deletes the server with its grants.
    pub fn delete(&mut self, id: ToolServerId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("DELETE FROM tool_server WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "tool server")
    }

    pub fn insert_grant(
        &mut self,
        server: ToolServerId,
        tool: &str,
        grant: &StoredGrant,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO server_tool_grant (server, tool, chat, allowed, definition) VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (server, tool, coalesce(chat, x'')) DO UPDATE SET allowed = excluded.allowed, \
                 definition = excluded.definition",
            )?
            .execute(params![Col(server), tool, grant.chat.map(Col), grant.allowed, grant.definition])?;
        Ok(())
    }

    /// Deletes every decision about a tool, or about all tools of the server.
    pub fn delete_grants(
        &mut self,
        server: ToolServerId,
        tool: Option<&str>,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "DELETE FROM server_tool_grant WHERE server = ?1 AND (?2 IS NULL OR tool = ?2)",
            )?
            .execute(params![Col(server), tool])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<ToolServer> {
    let transport: String = row.get("transport")?;
    let tools: String = row.get("tools")?;
    Ok(ToolServer {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        enabled: row.get("enabled")?,
        transport: serde_json::from_str::<ToolServerTransport>(&transport)
            .map_err(FromSqlError::other)?,
        tools: serde_json::from_str(&tools).map_err(FromSqlError::other)?,
    })
}

fn grant_from_row(row: &Row<'_>) -> rusqlite::Result<StoredGrant> {
    let chat: Option<Col<ChatId>> = row.get("chat")?;
    Ok(StoredGrant {
        chat: chat.map(|chat| chat.0),
        allowed: row.get("allowed")?,
        definition: row.get("definition")?,
    })
}

fn json(value: &impl Serialize) -> Result<String, rusqlite::Error> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
