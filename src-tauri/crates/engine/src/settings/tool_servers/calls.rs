//! Tools of servers for a reply: definitions and calls. Permissions are checked by the caller
//! (`grant_of`).

use domain::tool_server::{ServerTool, ToolServer};
use domain::{ToolArguments, ToolDefinition, ToolServerId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::view::named_tools;
use crate::base::error::{ApiResult, sentence};
use crate::base::tool_source::ToolOutput;
use crate::settings::tool_servers::ToolServers;

/// A tool that a model may be offered.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedServerTool {
    pub server: ToolServerId,
    pub server_name: String,
    /// The tool as the server lists it.
    pub tool: ServerTool,
    /// The tool as the model sees it.
    pub definition: ToolDefinition,
}

impl ToolServers {
    /// The tools of all servers that are switched on, as they were listed last. Nothing is started.
    pub(crate) async fn server_tools(&self) -> ApiResult<Vec<OfferedServerTool>> {
        let servers = self.stored_servers().await?;
        let named = named_tools(&servers);
        let offered = named.into_iter().filter_map(|named| {
            let server = servers
                .iter()
                .find(|server| server.id == named.server && server.enabled)?;
            let tool = server.tools.get(named.position)?.clone();
            let definition = tool.definition(named.model_name);
            Some(OfferedServerTool {
                server: server.id,
                server_name: server.name.clone(),
                tool,
                definition,
            })
        });
        Ok(offered.collect())
    }

    /// Calls a tool of a server, and starts the server if needed. A tool that the server has
    /// changed since it was listed is not called: the user and the model know only its earlier
    /// definition. Every failure is an answer for the model.
    pub(crate) async fn call_server_tool(
        &self,
        offered: &OfferedServerTool,
        arguments: &ToolArguments,
        cancel: &CancellationToken,
    ) -> ToolOutput {
        match self.try_call(offered, arguments, cancel).await {
            Ok(answer) => answer,
            Err(error) => ToolOutput {
                text: error.to_string(),
                error: true,
            },
        }
    }

    async fn try_call(
        &self,
        offered: &OfferedServerTool,
        arguments: &ToolArguments,
        cancel: &CancellationToken,
    ) -> ApiResult<ToolOutput> {
        let refused = |text: String| Ok(ToolOutput { text, error: true });
        let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(arguments.text()) else {
            return refused("The arguments are not a JSON object.".to_owned());
        };
        let server = self.stored_server(offered.server).await?;
        if !server.enabled {
            return refused(format!("The tool server {} is switched off.", server.name));
        }
        if !self.is_unchanged(&server, offered, cancel).await? {
            let name = &offered.tool.name;
            return refused(format!(
                "The tool {name} has changed, so it was not called. It is offered anew next time."
            ));
        }
        let running = self.running_server(&server).await?;
        Ok(
            match running.call(&offered.tool.name, arguments, cancel).await {
                Ok(output) => ToolOutput {
                    text: output.text,
                    error: output.error,
                },
                Err(error) => ToolOutput {
                    text: sentence(&error.to_string()),
                    error: true,
                },
            },
        )
    }

    /// Lists the tools again if they may have changed, and compares the definition that was
    /// offered.
    async fn is_unchanged(
        &self,
        server: &ToolServer,
        offered: &OfferedServerTool,
        cancel: &CancellationToken,
    ) -> ApiResult<bool> {
        let running = self.running_server(server).await?;
        let list = async {
            let connection = running.connection().await?;
            let changed = connection.take_tools_changed();
            if changed {
                running.tools().await.map(|list| Some(list.tools))
            } else {
                Ok(None)
            }
        };
        let listed = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(mcp::McpError::Cancelled),
            listed = list => listed,
        };
        let listed = listed.map_err(|error| super::running::failed(&error))?;
        let tools = match listed {
            Some(tools) => {
                self.keep_tools(server, tools.clone()).await?;
                tools
            }
            None => server.tools.clone(),
        };
        Ok(tools.contains(&offered.tool))
    }
}
