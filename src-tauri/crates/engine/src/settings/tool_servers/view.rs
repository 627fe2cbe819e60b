//! Tool servers as pages see them.

use domain::tool_server::{ToolServer, ToolServerTransport};
use mcp::ServerState;
use serde_json::Value;

use crate::api;
use crate::base::error::{ApiResult, sentence};
use crate::settings::tool_servers::ToolServers;

impl ToolServers {
    pub(super) async fn shown_server(&self, server: ToolServer) -> ApiResult<api::ToolServer> {
        let all = self
            .base()
            .store()
            .read(|store| store.tool_servers().list())
            .await?;
        self.shown_among(&all, server).await
    }

    /// Shows a server. Names for models depend on all servers.
    pub(super) async fn shown_among(
        &self,
        all: &[ToolServer],
        server: ToolServer,
    ) -> ApiResult<api::ToolServer> {
        // A locked keychain must not keep the list from being shown.
        let values = self.stored_values(&server).await.unwrap_or_default();
        let stored = |name: &String| api::ToolServerValue {
            name: name.clone(),
            stored: values.contains_key(name),
        };
        let values: Vec<_> = server.transport.value_names().iter().map(stored).collect();
        let for_session = self
            .keychain
            .with_secrets(|secrets| Ok(secrets.is_for_session()))
            .await?;
        let mut tools = Vec::with_capacity(server.tools.len());
        let named = named_tools(all)
            .into_iter()
            .filter(|named| named.server == server.id);
        for (tool, name) in server.tools.iter().zip(named) {
            tools.push(api::ServerTool {
                name: tool.name.clone(),
                title: tool.title.clone(),
                description: tool.description.clone(),
                model_name: name.model_name,
                arguments: argument_names(&tool.parameters),
                reads_only: tool.reads_only,
                grant: self.grant_of(server.id, tool, None).await?,
            });
        }
        let left_out = self.running().left_out(server.id).into_iter().collect();
        Ok(api::ToolServer {
            id: server.id,
            values_are_for_session: for_session && values.iter().any(|value| value.stored),
            values,
            state: self.shown_state(&server),
            name: server.name,
            enabled: server.enabled,
            transport: match server.transport {
                ToolServerTransport::Process { command, args, .. } => {
                    api::ToolServerTransport::Process { command, args }
                }
                ToolServerTransport::Http { url, .. } => api::ToolServerTransport::Http { url },
            },
            tools,
            left_out,
        })
    }

    fn shown_state(&self, server: &ToolServer) -> api::ToolServerState {
        if !server.enabled {
            return api::ToolServerState::Off;
        }
        match self.running().state(server.id) {
            None | Some(ServerState::Stopped) => api::ToolServerState::Stopped,
            Some(ServerState::Starting) => api::ToolServerState::Starting,
            Some(ServerState::Running) => api::ToolServerState::Running,
            Some(ServerState::Failed(error)) => api::ToolServerState::Failed {
                message: sentence(&error.to_string()),
                hint: error.hint().to_owned(),
            },
        }
    }
}

/// A tool with its name for models.
pub(super) struct NamedTool {
    pub(super) server: domain::ToolServerId,
    /// Position in the server's list.
    pub(super) position: usize,
    pub(super) model_name: String,
}

/// Names all tools of all servers, so that a name stays the same when a server is switched on or
/// off.
pub(super) fn named_tools(servers: &[ToolServer]) -> Vec<NamedTool> {
    let ids: Vec<String> = servers.iter().map(|server| server.id.to_string()).collect();
    let tools = || {
        servers
            .iter()
            .enumerate()
            .flat_map(|(at, server)| server.tools.iter().map(move |tool| (at, tool)))
    };
    let names = mcp::model_names(tools().map(|(at, tool)| {
        (
            ids[at].as_str(),
            servers[at].name.as_str(),
            tool.name.as_str(),
        )
    }));
    let positions = servers
        .iter()
        .flat_map(|server| (0..server.tools.len()).map(|position| (server.id, position)));
    let named = |((server, position), model_name)| NamedTool {
        server,
        position,
        model_name,
    };
    positions.zip(names).map(named).collect()
}

/// Names of the arguments in a JSON Schema of an object.
fn argument_names(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .map(|all| all.keys().take(50).cloned().collect())
        .unwrap_or_default()
}
