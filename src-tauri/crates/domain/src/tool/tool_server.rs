//! Servers that offer tools (Model Context Protocol), and the permissions for their tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ToolDefinition, ToolServerId};

/// A server as the library stores it. The OS keychain stores the values of its variables or headers
/// under its id.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolServer {
    pub id: ToolServerId,
    /// Unique, ignoring case.
    pub name: String,
    /// The user has switched it on. A server that is off never starts by itself.
    pub enabled: bool,
    pub transport: ToolServerTransport,
    /// The tools that it offered when they were last listed.
    pub tools: Vec<ServerTool>,
}

/// Transport to a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ToolServerTransport {
    /// A program that speaks the protocol on its standard input and output. `env` has the names of
    /// its variables.
    Process {
        command: String,
        args: Vec<String>,
        env: Vec<String>,
    },
    /// An address. `headers` has their names.
    Http { url: String, headers: Vec<String> },
}

impl ToolServerTransport {
    /// Names of the variables or headers.
    pub fn value_names(&self) -> &[String] {
        match self {
            Self::Process { env: names, .. } | Self::Http { headers: names, .. } => names,
        }
    }

    /// Whether both start the same program with the same arguments, or reach the same address.
    pub fn is_same_server(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Process { command, args, .. },
                Self::Process {
                    command: second,
                    args: others,
                    ..
                },
            ) => command == second && args == others,
            (Self::Http { url, .. }, Self::Http { url: second, .. }) => url == second,
            _ => false,
        }
    }
}

/// A tool of a server, cleaned and within the limits of the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerTool {
    /// The server's name for it.
    pub name: String,
    #[serde(default)]
    pub title: Option<String>,
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: Value,
    /// The server says that it changes nothing. It may be wrong, so this grants nothing.
    #[serde(default)]
    pub reads_only: bool,
}

impl ServerTool {
    /// The definition for a model, which knows the tool as `model_name`.
    pub fn definition(&self, model_name: String) -> ToolDefinition {
        ToolDefinition {
            name: model_name,
            description: self.description.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

/// The user's decision about the calls of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "camelCase")]
pub enum ServerToolGrant {
    /// Each call asks the user.
    #[default]
    Ask,
    /// Allowed in one chat.
    Chat,
    Always,
    Never,
}
