//! The servers that this app has started or may start.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ToolServerId;
use domain::tool_server::{ToolServer, ToolServerTransport};
use mcp::{LeftOutTool, Limits, McpError, Server, ServerConfig, ServerState};

use crate::api::ApiError;
use crate::base::error::{ApiResult, sentence};
use crate::settings::tool_servers::ToolServers;

/// In the data folder: one working folder for each server that is a program.
const FOLDERS: &str = "tool-servers";

/// Servers by id. Dropping it ends their processes.
#[derive(Debug, Default)]
pub(crate) struct RunningServers {
    servers: Mutex<HashMap<ToolServerId, Arc<Server>>>,
}

impl RunningServers {
    fn get(&self, id: ToolServerId) -> Option<Arc<Server>> {
        self.lock().get(&id).cloned()
    }

    /// Adds the server unless another caller was faster.
    fn add(&self, id: ToolServerId, server: Arc<Server>) -> Arc<Server> {
        Arc::clone(self.lock().entry(id).or_insert(server))
    }

    /// State of the server; `None` if it was not used yet.
    pub(super) fn state(&self, id: ToolServerId) -> Option<ServerState> {
        self.get(id).map(|server| server.state())
    }

    /// The tools that were left out when they were last listed.
    pub(super) fn left_out(&self, id: ToolServerId) -> Vec<LeftOutTool> {
        self.get(id)
            .map(|server| server.left_out())
            .unwrap_or_default()
    }

    /// Ends the server's process and forgets its failures. The next use reads its settings again.
    pub(super) async fn end(&self, id: ToolServerId) {
        let server = self.lock().remove(&id);
        if let Some(server) = server {
            server.stop().await;
        }
    }

    /// Ends all processes.
    pub(crate) async fn end_all(&self) {
        let servers: Vec<_> = self.lock().drain().map(|(_, server)| server).collect();
        futures_util::future::join_all(servers.iter().map(|server| server.stop())).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ToolServerId, Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolServers {
    /// The handle of a server. Nothing is started.
    ///
    /// # Errors
    /// `BadInput` if a value is missing; `Keychain`.
    pub(super) async fn running_server(&self, server: &ToolServer) -> ApiResult<Arc<Server>> {
        if let Some(known) = self.running().get(server.id) {
            return Ok(known);
        }
        let new = Server::new(self.server_config(server).await?, Limits::default());
        Ok(self.running().add(server.id, new))
    }

    /// A handle that is independent of the running server, for a test of a server that is off.
    ///
    /// # Errors
    /// The same as [`ToolServers::running_server`].
    pub(super) async fn separate_server(&self, server: &ToolServer) -> ApiResult<Arc<Server>> {
        Ok(Server::new(
            self.server_config(server).await?,
            Limits::default(),
        ))
    }

    /// The working folder of a server.
    pub(super) fn server_folder(&self, id: ToolServerId) -> PathBuf {
        self.base().store().dir().join(FOLDERS).join(id.to_string())
    }

    async fn server_config(&self, server: &ToolServer) -> ApiResult<ServerConfig> {
        let values = self.server_values(server).await?;
        Ok(match &server.transport {
            ToolServerTransport::Process { command, args, .. } => ServerConfig::Process {
                command: command.clone(),
                args: args.clone(),
                env: values,
                folder: self.server_folder(server.id),
            },
            ToolServerTransport::Http { url, .. } => ServerConfig::Http {
                url: url.clone(),
                headers: values,
            },
        })
    }
}

/// A failure of a server, for the user.
pub(super) fn failed(error: &McpError) -> ApiError {
    ApiError::ToolServer {
        message: sentence(&error.to_string()),
        hint: error.hint().to_owned(),
    }
}
