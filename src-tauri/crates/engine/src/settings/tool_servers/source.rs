//! The tools of a server as a source for replies.

use std::sync::Arc;

use domain::tool_server::ServerToolGrant;
use domain::{ChatId, ToolArguments, ToolServerId};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use store::StoredGrant;
use tokio_util::sync::CancellationToken;

use super::calls::OfferedServerTool;
use crate::api::ApiError;
use crate::base::error::{ApiResult, not_found};
use crate::base::tool_source::{SourceGrants, SourceTool, ToolOutput, ToolSource};
use crate::settings::tool_servers::ToolServers;

/// One server with the tools that it listed last.
struct ServerSource {
    room: ToolServers,
    server: ToolServerId,
    name: String,
    tools: Vec<OfferedServerTool>,
}

impl ToolServers {
    /// The servers that are switched on and have tools. Nothing is started.
    pub(crate) async fn server_sources(&self) -> ApiResult<Vec<Arc<dyn ToolSource>>> {
        let mut sources: Vec<ServerSource> = Vec::new();
        for tool in self.server_tools().await? {
            match sources
                .iter_mut()
                .find(|source| source.server == tool.server)
            {
                Some(source) => source.tools.push(tool),
                None => sources.push(ServerSource {
                    room: self.clone(),
                    server: tool.server,
                    name: tool.server_name.clone(),
                    tools: vec![tool],
                }),
            }
        }
        Ok(sources
            .into_iter()
            .map(|source| Arc::new(source) as Arc<dyn ToolSource>)
            .collect())
    }
}

impl ServerSource {
    fn tool(&self, name: &str) -> ApiResult<&OfferedServerTool> {
        self.tools
            .iter()
            .find(|offered| offered.tool.name == name)
            .ok_or_else(|| not_found("tool"))
    }

    async fn keep_decision(
        &self,
        tool: &str,
        chat: Option<ChatId>,
        allowed: bool,
    ) -> ApiResult<()> {
        let definition = mcp::digest(&self.tool(tool)?.tool);
        let grant = StoredGrant {
            chat,
            allowed,
            definition,
        };
        self.room
            .keep_grant(self.server, tool.to_owned(), Some(grant))
            .await
    }

    async fn stored_decision(&self, tool: &str, chat: ChatId) -> ApiResult<Option<bool>> {
        let grant = self
            .room
            .grant_of(self.server, &self.tool(tool)?.tool, Some(chat))
            .await?;
        Ok(match grant {
            ServerToolGrant::Ask => None,
            ServerToolGrant::Chat | ServerToolGrant::Always => Some(true),
            ServerToolGrant::Never => Some(false),
        })
    }
}

impl ToolSource for ServerSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn tools(&self) -> BoxFuture<'_, Vec<SourceTool>> {
        let source_tool = |offered: &OfferedServerTool| SourceTool {
            name: offered.tool.name.clone(),
            model_name: Some(offered.definition.name.clone()),
            description: offered.definition.description.clone(),
            parameters: offered.definition.parameters.clone(),
            reads_only: offered.tool.reads_only,
            harmless: false,
        };
        let tools = self.tools.iter().map(source_tool).collect();
        Box::pin(async move { tools })
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let arguments = ToolArguments::Object(Value::Object(arguments).to_string());
            match self.tool(tool) {
                Ok(offered) => {
                    self.room
                        .call_server_tool(offered, &arguments, &cancel)
                        .await
                }
                Err(error) => ToolOutput::error(error.to_string()),
            }
        })
    }

    fn grants(&self) -> Option<&dyn SourceGrants> {
        Some(self)
    }
}

impl SourceGrants for ServerSource {
    fn decision<'a>(
        &'a self,
        tool: &'a str,
        chat: ChatId,
    ) -> BoxFuture<'a, Result<Option<bool>, ApiError>> {
        Box::pin(self.stored_decision(tool, chat))
    }

    fn keep<'a>(
        &'a self,
        tool: &'a str,
        chat: Option<ChatId>,
        allowed: bool,
    ) -> BoxFuture<'a, Result<(), ApiError>> {
        Box::pin(self.keep_decision(tool, chat, allowed))
    }
}
