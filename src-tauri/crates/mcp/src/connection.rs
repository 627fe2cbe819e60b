//! One connection to a server, from the handshake to its end.

mod resource;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ServiceExt as _;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, JsonObject, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
    ServerPeerInfo,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService,
    ServiceError,
};
use rmcp::transport::{DynamicTransportError, IntoTransport};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

pub use self::resource::ServerResource;
use self::resource::{listed, next_page, resource};
use crate::host::Host;
use crate::output::{self, ToolOutput};
use crate::process::ServerProcess;
use crate::text::{clean, clean_line};
use crate::tool_list::{MAX_LINE, ToolList};
use crate::traffic::{Bounded, Traffic};
use crate::{Limits, McpError, ServerConfig, http};

/// Pages of a list that are read. A server whose pages never end is cut off here.
const MAX_PAGES: usize = 50;

/// Bytes of a server's error message that are kept.
const MAX_MESSAGE: usize = 1_000;

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
    /// The server has answered a request after the handshake.
    answered: AtomicBool,
    limits: Limits,
}

/// A request that the server must answer. Dropping it before the answer cancels it at the server.
struct OpenRequest(Option<RequestHandle<RoleClient>>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let (Some(request), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(request.cancel(None));
        }
    }
}

impl Connection {
    /// Starts or reaches the server, and completes the handshake.
    ///
    /// # Errors
    /// Every [`McpError`] except `Refused` and `TooManyDeaths`.
    pub async fn connect(config: &ServerConfig, limits: Limits) -> Result<Self, McpError> {
        match config {
            ServerConfig::Process {
                command,
                args,
                env,
                folder,
            } => {
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
        Self::shake_hands(
            (Bounded::new(read, Arc::clone(&traffic)), write),
            None,
            None,
            traffic,
            limits,
        )
        .await
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
                let service = Mutex::new(service);
                let process = Mutex::new(process);
                let answered = AtomicBool::new(false);
                return Ok(Self {
                    service,
                    peer,
                    process,
                    url,
                    traffic,
                    tools_changed,
                    answered,
                    limits,
                });
            }
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        if let Some(excess) = traffic.excess() {
            return Err(excess);
        }
        let Some(error) = error else {
            let stderr = process
                .map(|process| process.stderr_tail())
                .unwrap_or_default();
            return Err(McpError::Timeout {
                seconds: limits.start.as_secs(),
                stderr,
            });
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

    /// Returns and forgets whether the tools may have changed since this was asked last; true for a
    /// new connection.
    pub fn take_tools_changed(&self) -> bool {
        self.tools_changed.swap(false, Ordering::Relaxed)
    }

    /// Process id of the server, if it is a process of ours.
    pub async fn pid(&self) -> Option<u32> {
        self.process
            .lock()
            .await
            .as_ref()
            .and_then(ServerProcess::pid)
    }

    pub fn about(&self) -> ServerAbout {
        let Some(server) = self.info().and_then(|info| info.server_info.clone()) else {
            return ServerAbout::default();
        };
        let name = server.title.as_deref().unwrap_or(&server.name);
        ServerAbout {
            name: clean_line(name, MAX_LINE),
            version: clean_line(&server.version, MAX_LINE),
        }
    }

    /// Lists the tools. Odd tools and those beyond the limits are left out and named.
    ///
    /// # Errors
    /// Every [`McpError`] of a running server.
    pub async fn tools(&self) -> Result<ToolList, McpError> {
        let mut list = ToolList::default();
        if self
            .info()
            .is_some_and(|info| info.capabilities.tools.is_none())
        {
            return Ok(list);
        }
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
            let page = self.ask(request, &CancellationToken::new()).await?;
            list.add(listed(&page, "tools")?, &self.limits);
            cursor = next_page(&page);
            if cursor.is_none() || list.tools.len() >= self.limits.tools {
                break;
            }
        }
        Ok(list)
    }

    /// Lists the resources. Resources beyond the limit are left out.
    ///
    /// # Errors
    /// Every [`McpError`] of a running server.
    pub async fn resources(&self) -> Result<Vec<ServerResource>, McpError> {
        if self
            .info()
            .is_some_and(|info| info.capabilities.resources.is_none())
        {
            return Ok(Vec::new());
        }
        let mut resources = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let request =
                ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page));
            let page = self.ask(request, &CancellationToken::new()).await?;
            let room = self.limits.resources - resources.len();
            resources.extend(
                listed(&page, "resources")?
                    .iter()
                    .filter_map(resource)
                    .take(room),
            );
            cursor = next_page(&page);
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
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(
            ReadResourceRequestParams::new(uri),
        ));
        let result = self.ask(request, &CancellationToken::new()).await?;
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
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(
            CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments),
        ));
        let result = self.ask(request, cancel).await?;
        if result["resultType"]
            .as_str()
            .is_some_and(|kind| kind != "complete")
        {
            return Err(McpError::Protocol {
                detail: "it asks for more input, which Inglenook does not offer".into(),
            });
        }
        Ok(output::of_call(&result, self.limits.result_bytes))
    }

    /// Closes the input of the server, gives its process time to exit, and kills it.
    pub async fn close(&self) {
        let closing = async {
            self.service
                .lock()
                .await
                .close_with_timeout(self.limits.farewell)
                .await
        };
        if timeout(self.limits.farewell, closing).await.is_err() {
            tracing::debug!("the tool server did not end in time");
        }
        if let Some(mut process) = self.process.lock().await.take() {
            process.last_words(self.limits.farewell).await;
        }
    }

    /// Whether the server has answered a request after the handshake, so that a refusal may mean a
    /// lost session.
    pub(crate) fn had_session(&self) -> bool {
        self.url.is_some() && self.answered.load(Ordering::Relaxed)
    }

    /// Waits for one answer, within the limits. A request that is given up is cancelled at the
    /// server.
    async fn ask(
        &self,
        request: ClientRequest,
        cancel: &CancellationToken,
    ) -> Result<Value, McpError> {
        self.traffic.restart();
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(McpError::Cancelled),
            answer = timeout(self.limits.request, self.answer(request)) => answer,
        };
        match answer {
            Ok(Ok(answer)) => {
                self.answered.store(true, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(error)) => Err(self.explain(&error).await),
            Err(_) => Err(McpError::Timeout {
                seconds: self.limits.request.as_secs(),
                stderr: String::new(),
            }),
        }
    }

    /// Returns the result as the server wrote it.
    async fn answer(&self, request: ClientRequest) -> Result<Value, ServiceError> {
        let handle = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await?;
        let mut open = OpenRequest(Some(handle));
        let Some(handle) = &mut open.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let answer = (&mut handle.rx).await;
        open.0 = None;
        let answer = answer.map_err(|_| ServiceError::TransportClosed)??;
        serde_json::to_value(answer).map_err(|_| ServiceError::UnexpectedResponse)
    }

    async fn explain(&self, error: &ServiceError) -> McpError {
        match (error, &self.url) {
            (ServiceError::McpError(refusal), Some(url)) if http::names_lost_session(refusal) => {
                McpError::SessionGone {
                    host: http::host(url),
                }
            }
            _ => self.explain_other(error).await,
        }
    }

    async fn explain_other(&self, error: &ServiceError) -> McpError {
        match error {
            ServiceError::McpError(refusal) => McpError::Refused {
                message: clean(&refusal.message, MAX_MESSAGE),
            },
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
            _ => McpError::Protocol {
                detail: "it sent an unexpected answer".into(),
            },
        }
    }

    fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
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
            Some(url) => McpError::Unreachable {
                host: http::host(url),
                reason: "it closed the connection".into(),
            },
            None => McpError::Ended { stderr: words },
        },
        ClientInitializeError::JsonRpcError(refusal) => McpError::Refused {
            message: clean(&refusal.message, MAX_MESSAGE),
        },
        ClientInitializeError::Cancelled => McpError::Cancelled,
        _ => McpError::Protocol { detail: words },
    }
}
