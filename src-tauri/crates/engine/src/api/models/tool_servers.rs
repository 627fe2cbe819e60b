//! Tool servers and the tools that they list.

use domain::ToolServerId;
pub use domain::tool_server::ServerToolGrant;
pub use mcp::{LeftOutTool, ServerResource};
use serde::{Deserialize, Serialize};
use specta::Type;

/// A server that offers tools (MCP). The values of its variables and headers are never shown again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolServer {
    pub id: ToolServerId,
    pub name: String,
    /// The user has switched it on. Only then does it start, when a model calls one of its tools.
    pub enabled: bool,
    pub transport: ToolServerTransport,
    /// Environment variables of a program, or headers of an address.
    pub values: Vec<ToolServerValue>,
    /// The values are kept only until the app ends, because this machine has no keychain.
    pub values_are_for_session: bool,
    pub state: ToolServerState,
    /// The tools that it offered when they were last listed.
    pub tools: Vec<ServerTool>,
    /// The tools that were left out of that list, while the app runs.
    pub left_out: Vec<LeftOutTool>,
}

/// Transport to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ToolServerTransport {
    /// A program on this machine.
    Process { command: String, args: Vec<String> },
    /// An address (streamable HTTP).
    Http { url: String },
}

/// A variable or a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerValue {
    pub name: String,
    /// A value is stored. Otherwise the user has to enter one.
    pub stored: bool,
}

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ToolServerState {
    /// Switched off.
    Off,
    /// It is not running; the next call starts it.
    Stopped,
    Starting,
    Running,
    Failed {
        message: String,
        hint: String,
    },
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ServerTool {
    /// The server's name for it.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// The name that the model sees.
    pub model_name: String,
    /// Names of its arguments.
    pub arguments: Vec<String>,
    /// The server says that it changes nothing. It may be wrong.
    pub reads_only: bool,
    /// The decision for all chats.
    pub grant: ServerToolGrant,
}

/// A new or changed tool server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerDraft {
    /// `null` adds a server.
    pub id: Option<ToolServerId>,
    pub name: String,
    pub transport: ToolServerTransport,
    /// All variables or headers.
    pub values: Vec<ToolServerValueDraft>,
}

/// A variable or a header of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerValueDraft {
    pub name: String,
    /// `null` keeps the stored value.
    pub value: Option<String>,
}

/// The servers of a pasted text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct AddedToolServers {
    /// All are switched off.
    pub added: Vec<ToolServer>,
    pub skipped: Vec<SkippedToolServer>,
}

/// A server that was not added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct SkippedToolServer {
    pub name: String,
    pub reason: String,
}

/// The answer of a server to a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct ToolServerTest {
    /// The server's name for itself.
    pub name: String,
    pub version: String,
    pub took_ms: f64,
    pub server: ToolServer,
    pub resources: Vec<ServerResource>,
}
