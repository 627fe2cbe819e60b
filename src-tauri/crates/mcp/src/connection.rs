//! One connection to a server, from the handshake to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::tool_server::ServerTool;
use rmcp::model::{
    CallToolRequestParams, JsonObject, PaginatedRequestParams, ReadResourceRequestParams, Resource, ServerPeerInfo,
    Tool,
};
use rmcp::service::{ClientInitializeError, Peer, RoleClient, RunningService, ServiceError};
use rmcp::transport::IntoTransport;
use rmcp::{ServiceExt as _, transport::DynamicTransportError};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::host::Host;
use crate::output::{self, ToolOutput};
use crate::process::ServerProcess;
use crate::text::{clean, clean_line};
use crate::traffic::{Bounded, Traffic};
use crate::{Limits, McpError, ServerConfig, http};

/// Pages of a list that are read. A server whose pages never end is cut off here.
const MAX_PAGES: usize = 50;

/// Bytes of a server's error message that are kept.
const MAX_MESSAGE: usize = 1_000;

/// Bytes of a name, a title or an address that are kept.
const MAX_LINE: usize = 500;

/// A text or file that a server offers to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResource {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub mime_type: Option<String>,
}

/// A server's description of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerAbout {
    pub name: String,
    pub version: String,
}

/// An open connection. Dropping it ends the server's process.
#[derive(Debug)]
pub struct Connection {
    service: Mutex<RunningService<RoleClient, Host>>,
    peer: Peer<RoleClient>,
    process: Mutex<Option<ServerProcess>>,
    url: Option<Url>,
    traffic: Arc<Traffic>,
    tools_changed: Arc<AtomicBool>,
    limits: Limits,
}

impl Connection {
    /// Starts or reaches the server, and completes the handshake.
    ///
    /// # Errors
    /// Every [`McpError`] except `Refused` and `TooManyDeaths`.
    pub async fn connect(config: &ServerConfig, limits: Limits) -> Result<Self, McpError> {
        match config {
            ServerConfig::Process { command, args, env, folder } => {
                let (process, stdout, stdin) = ServerProcess::start(command, args, env, folder)?;
                let traffic = Traffic::new(&limits);
                let pipes = (Bounded::new(stdout, Arc::clone(&traffic)), stdin);
                Self::shake_hands(pipes, Some(process), None, traffic, limits).await
            }
            ServerConfig::Http { url, headers } => {
                let url = http::address(url)?;
                let transport = http::transport(&url, headers, &limits)?;
                let traffic = Traffic::new(&limits);
                Self::shake_hands(transport, None, Some(url), traffic, limits).await
            }
        }
    }

    /// Connects to a server over pipes that exist already.
    ///
    /// # Errors
    /// The same as [`Connection::connect`].
    pub async fn over<R, W>(read: R, write: W, limits: Limits) -> Result<Self, McpError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let traffic = Traffic::new(&limits);
        Self::shake_hands((Bounded::new(read, Arc::clone(&traffic)), write), None, None, traffic, limits).await
    }

    async fn shake_hands<T, E, A>(
        transport: T,
        mut process: Option<ServerProcess>,
        url: Option<Url>,
        traffic: Arc<Traffic>,
        limits: Limits,
    ) -> Result<Self, McpError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let host = Host::new();
        let tools_changed = Arc::clone(&host.tools_changed);
        let error = match timeout(limits.start, host.serve(transport)).await {
            Ok(Ok(service)) => {
                let peer = service.peer().clone();
                let (service, process) = (Mutex::new(service), Mutex::new(process));
                return Ok(Self { service, peer, process, url, traffic, tools_changed, limits });
            }
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        if let Some(excess) = traffic.excess() {
            return Err(excess);
        }
        let Some(error) = error else {
            let stderr = process.map(|process| process.stderr_tail()).unwrap_or_default();
            return Err(McpError::Timeout { seconds: limits.start.as_secs(), stderr });
        };
        let words = match &mut process {
            Some(process) => process.last_words(limits.farewell).await,
            None => String::new(),
        };
        Err(handshake_error(&error, url.as_ref(), words))
    }

    /// Whether requests can still be sent.
    pub fn is_open(&self) -> bool {
        !self.peer.is_transport_closed()
    }

    /// Returns and forgets whether the tools may have changed since this was asked last; true for a new connection.
    pub fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::Relaxed)
    }

    /// Process id of the server, if it is a process of ours.
    pub async fn pid(&self) -> Option<u32> {
        self.process.lock().await.as_ref().and_then(ServerProcess::pid)
    }

    pub fn about(&self) -> ServerAbout {
        let Some(server) = self.info().and_then(|info| info.server_info.clone()) else { return ServerAbout::default() };
        let name = server.title.as_deref().unwrap_or(&server.name);
        ServerAbout { name: clean_line(name, MAX_LINE), version: clean_line(&server.version, MAX_LINE) }
    }

    /// Lists the tools. Tools beyond the limits are left out.
    ///
    /// # Errors
    /// Every [`McpError`] of a running server.
    pub async fn tools(&self) -> Result<Vec<ServerTool>, McpError> {
        if self.info().is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(Vec::new());
        }
        let mut tools: Vec<ServerTool> = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.ask(self.peer.list_tools(Some(page)), &CancellationToken::new()).await?;
            for tool in page.tools.into_iter().filter_map(|tool| self.tool(tool)) {
                if tools.len() < self.limits.tools && tools.iter().all(|known| known.name != tool.name) {
                    tools.push(tool);
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() >= self.limits.tools {
                break;
            }
        }
        Ok(tools)
    }

    /// Lists the resources. Resources beyond the limit are left out.
    ///
    /// # Errors
    /// Every [`McpError`] of a running server.
    pub async fn resources(&self) -> Result<Vec<ServerResource>, McpError> {
        if self.info().is_some_and(|info| info.capabilities.resources.is_none()) {
            return Ok(Vec::new());
        }
        let (mut resources, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.ask(self.peer.list_resources(Some(page)), &CancellationToken::new()).await?;
            let room = self.limits.resources - resources.len();
            resources.extend(page.resources.into_iter().take(room).map(|resource| self.resource(resource)));
            cursor = page.next_cursor;
            if cursor.is_none() || resources.len() >= self.limits.resources {
                break;
            }
        }
        Ok(resources)
    }

    /// Reads a resource as text.
    ///
    /// # Errors
    /// Every [`McpError`] of a running server.
    pub async fn read(&self, uri: &str) -> Result<String, McpError> {
        let params = ReadResourceRequestParams::new(uri);
        let result = self.ask(self.peer.read_resource(params), &CancellationToken::new()).await?;
        Ok(output::of_resource(&result, self.limits.result_bytes))
    }

    /// Calls a tool by the server's name for it. A tool that fails is an output, not an error.
    ///
    /// # Errors
    /// `Cancelled`, and every [`McpError`] of a running server.
    pub async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, McpError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.ask(self.peer.call_tool(params), cancel).await?;
        Ok(output::of_call(&result, self.limits.result_bytes))
    }

    /// Closes the input of the server, gives its process time to exit, and kills it.
    pub async fn close(&self) {
        let closing = async { self.service.lock().await.close_with_timeout(self.limits.farewell).await };
        if timeout(self.limits.farewell, closing).await.is_err() {
            tracing::debug!("the tool server did not end in time");
        }
        if let Some(mut process) = self.process.lock().await.take() {
            process.last_words(self.limits.farewell).await;
        }
    }

    /// Waits for one answer, within the limits. A request that is given up is cancelled at the server.
    async fn ask<T>(
        &self,
        request: impl Future<Output = Result<T, ServiceError>>,
        cancel: &CancellationToken,
    ) -> Result<T, McpError> {
        self.traffic.restart();
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(McpError::Cancelled),
            answer = timeout(self.limits.request, request) => answer,
        };
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.explain(&error).await),
            Err(_) => Err(McpError::Timeout { seconds: self.limits.request.as_secs(), stderr: String::new() }),
        }
    }

    async fn explain(&self, error: &ServiceError) -> McpError {
        match error {
            ServiceError::McpError(refusal) => McpError::Refused { message: clean(&refusal.message, MAX_MESSAGE) },
            ServiceError::Cancelled { .. } => McpError::Cancelled,
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                if let Some(excess) = self.traffic.excess() {
                    return excess;
                }
                if let (Some(url), Some(error)) = (&self.url, http::transport_error(error)) {
                    return http::explain(url, error);
                }
                let stderr = match self.process.lock().await.as_mut() {
                    Some(process) => process.last_words(self.limits.farewell).await,
                    None => String::new(),
                };
                McpError::Ended { stderr }
            }
            _ => McpError::Protocol { detail: "it sent an unexpected answer".into() },
        }
    }

    fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    fn tool(&self, tool: Tool) -> Option<ServerTool> {
        let name = tool.name.into_owned();
        let parameters = Value::Object((*tool.input_schema).clone());
        let too_large = parameters.to_string().len() > self.limits.schema_bytes;
        // The name identifies the tool in calls, so it cannot be shortened or cleaned.
        if name.is_empty() || name.len() > MAX_LINE || clean_line(&name, MAX_LINE) != name || too_large {
            tracing::info!("a tool was left out, because its name or its arguments are too long");
            return None;
        }
        let title = tool.title.or_else(|| tool.annotations.as_ref().and_then(|notes| notes.title.clone()));
        Some(ServerTool {
            name,
            title: title.map(|title| clean_line(&title, MAX_LINE)).filter(|title| !title.is_empty()),
            description: clean(tool.description.as_deref().unwrap_or_default(), self.limits.description_bytes),
            parameters,
            reads_only: tool.annotations.and_then(|notes| notes.read_only_hint).unwrap_or(false),
        })
    }

    fn resource(&self, resource: Resource) -> ServerResource {
        ServerResource {
            uri: clean_line(&resource.uri, 4 * MAX_LINE),
            name: clean_line(resource.title.as_deref().unwrap_or(&resource.name), MAX_LINE),
            description: clean_line(resource.description.as_deref().unwrap_or_default(), MAX_LINE),
            mime_type: resource.mime_type.map(|kind| clean_line(&kind, 100)),
        }
    }
}

/// Explains a failed handshake. `words` are the last words of the process.
fn handshake_error(error: &ClientInitializeError, url: Option<&Url>, words: String) -> McpError {
    let by_transport = |error: &DynamicTransportError| url.map(|url| http::explain(url, error));
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            by_transport(error).unwrap_or(McpError::Ended { stderr: words })
        }
        ClientInitializeError::ConnectionClosed(_) => match url {
            Some(url) => McpError::Unreachable { host: http::host(url), reason: "it closed the connection".into() },
            None => McpError::Ended { stderr: words },
        },
        ClientInitializeError::JsonRpcError(refusal) => {
            McpError::Refused { message: clean(&refusal.message, MAX_MESSAGE) }
        }
        ClientInitializeError::Cancelled => McpError::Cancelled,
        _ => McpError::Protocol { detail: words },
    }
}
