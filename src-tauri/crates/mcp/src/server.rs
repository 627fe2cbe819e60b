//! A server that starts when it is needed, stops when it is idle, and may start again after a
//! death.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError, Weak};
use std::time::Instant;

use rmcp::model::JsonObject;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, ServerResource};
use crate::output::ToolOutput;
use crate::tool_list::ToolList;
use crate::{LeftOutTool, Limits, McpError, ServerConfig};

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// It is not running, and the next call starts it.
    Stopped,
    Starting,
    Running,
    /// The last start or call failed. The next call tries again, if there were not too many deaths.
    Failed(McpError),
}

/// A configured server. Dropping it ends its process.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    limits: Limits,
    open: Mutex<Option<Arc<Connection>>>,
    state: SyncMutex<ServerState>,
    deaths: SyncMutex<VecDeque<Instant>>,
    used: SyncMutex<Instant>,
    /// The tools that were left out of the last list.
    left_out: SyncMutex<Vec<LeftOutTool>>,
    /// Cancels a start in progress.
    starting: SyncMutex<CancellationToken>,
}

impl Server {
    /// Nothing is started yet.
    pub fn new(config: ServerConfig, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            config,
            limits,
            open: Mutex::default(),
            state: SyncMutex::new(ServerState::Stopped),
            deaths: SyncMutex::default(),
            used: SyncMutex::new(Instant::now()),
            left_out: SyncMutex::default(),
            starting: SyncMutex::default(),
        })
    }

    pub fn state(&self) -> ServerState {
        lock(&self.state).clone()
    }

    /// Lists the tools; see [`Connection::tools`].
    ///
    /// # Errors
    /// Every [`McpError`].
    pub async fn tools(self: &Arc<Self>) -> Result<ToolList, McpError> {
        let listed = self
            .ask(|connection| async move { connection.tools().await })
            .await?;
        lock(&self.left_out).clone_from(&listed.left_out);
        Ok(listed)
    }

    /// The tools that were left out when they were last listed.
    pub fn left_out(&self) -> Vec<LeftOutTool> {
        lock(&self.left_out).clone()
    }

    /// Lists the resources; see [`Connection::resources`].
    ///
    /// # Errors
    /// Every [`McpError`].
    pub async fn resources(self: &Arc<Self>) -> Result<Vec<ServerResource>, McpError> {
        self.ask(|connection| async move { connection.resources().await })
            .await
    }

    /// Reads a resource as text; see [`Connection::read`].
    ///
    /// # Errors
    /// Every [`McpError`].
    pub async fn read(self: &Arc<Self>, uri: &str) -> Result<String, McpError> {
        self.ask(|connection| async move { connection.read(uri).await })
            .await
    }

    /// Calls a tool by the server's name for it.
    ///
    /// # Errors
    /// Every [`McpError`]. A tool that fails is an output, not an error.
    pub async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, McpError> {
        let request = |connection: Arc<Connection>| {
            let arguments = arguments.clone();
            async move { connection.call(tool, arguments, cancel).await }
        };
        tokio::select! {
            biased;
            // A request in progress is cancelled at the server when it is dropped.
            () = cancel.cancelled() => Err(McpError::Cancelled),
            output = self.ask(request) => output,
        }
    }

    /// Sends a request. If the server no longer knows the session, a new session begins and the
    /// request is sent once more.
    async fn ask<T, F: Future<Output = Result<T, McpError>>>(
        self: &Arc<Self>,
        request: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, McpError> {
        let connection = self.connection().await?;
        let had_session = connection.had_session();
        let result = request(Arc::clone(&connection)).await;
        if had_session
            && result
                .as_ref()
                .err()
                .is_some_and(McpError::may_be_lost_session)
        {
            tracing::info!("the tool server no longer knows the session; a new one begins");
            self.forget(&connection).await;
            drop(connection);
            let connection = self.connection().await?;
            return self.settle(request(connection).await).await;
        }
        self.settle(result).await
    }

    /// Drops a connection, so that the next request opens another.
    async fn forget(&self, old: &Arc<Connection>) {
        let mut open = self.open.lock().await;
        if open
            .as_ref()
            .is_some_and(|connection| Arc::ptr_eq(connection, old))
        {
            *open = None;
        }
    }

    /// Returns the connection, and starts the server if it is not running.
    ///
    /// # Errors
    /// Every [`McpError`].
    pub async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, McpError> {
        *lock(&self.used) = Instant::now();
        let mut open = self.open.lock().await;
        if let Some(connection) = open.as_ref() {
            if connection.is_open() {
                return Ok(Arc::clone(connection));
            }
            *open = None;
            self.died();
        }
        self.check_deaths()
            .inspect_err(|error| self.set(ServerState::Failed(error.clone())))?;
        self.set(ServerState::Starting);
        let _given_up = StopStarting(self);
        let cancel = CancellationToken::new();
        *lock(&self.starting) = cancel.clone();
        let started = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(McpError::Cancelled),
            started = Connection::connect(&self.config, self.limits.clone()) => started,
        };
        match started {
            Ok(connection) => {
                let connection = Arc::new(connection);
                *open = Some(Arc::clone(&connection));
                self.set(ServerState::Running);
                tokio::spawn(stop_when_idle(
                    Arc::downgrade(self),
                    Arc::downgrade(&connection),
                ));
                Ok(connection)
            }
            Err(error) => {
                self.died();
                self.set(ServerState::Failed(error.clone()));
                Err(error)
            }
        }
    }

    /// Ends the server's process, also while it starts. The next call starts it again.
    pub async fn stop(&self) {
        lock(&self.starting).cancel();
        let connection = self.open.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
        self.set(ServerState::Stopped);
    }

    /// Forgets earlier deaths, because the user wants another attempt.
    pub fn forgive(&self) {
        lock(&self.deaths).clear();
    }

    /// Drops a connection that a request has shown to be dead.
    async fn settle<T>(&self, result: Result<T, McpError>) -> Result<T, McpError> {
        *lock(&self.used) = Instant::now();
        let Err(error) = &result else { return result };
        if error.is_death() {
            let mut open = self.open.lock().await;
            if open
                .as_ref()
                .is_some_and(|connection| !connection.is_open())
            {
                *open = None;
                self.died();
            }
            self.set(ServerState::Failed(error.clone()));
        }
        result
    }

    fn died(&self) {
        lock(&self.deaths).push_back(Instant::now());
    }

    fn check_deaths(&self) -> Result<(), McpError> {
        let mut deaths = lock(&self.deaths);
        while deaths
            .front()
            .is_some_and(|death| death.elapsed() >= self.limits.death_window)
        {
            deaths.pop_front();
        }
        match deaths.front() {
            Some(first) if deaths.len() >= self.limits.deaths => {
                let seconds = (self.limits.death_window - first.elapsed())
                    .as_secs()
                    .max(1);
                Err(McpError::TooManyDeaths {
                    deaths: deaths.len(),
                    seconds,
                })
            }
            _ => Ok(()),
        }
    }

    fn set(&self, state: ServerState) {
        *lock(&self.state) = state;
    }
}

/// Corrects the state if the caller gives up while the server starts.
struct StopStarting<'a>(&'a Server);

impl Drop for StopStarting<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        if *state == ServerState::Starting {
            *state = ServerState::Stopped;
        }
    }
}

/// Stops the server once nobody has used it for a while. Ends with the connection.
async fn stop_when_idle(server: Weak<Server>, connection: Weak<Connection>) {
    loop {
        let rest = {
            let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) else {
                return;
            };
            let unused = lock(&server.used).elapsed();
            // The caller of a long request holds the connection.
            let busy = Arc::strong_count(&connection) > 2;
            match server.limits.idle.checked_sub(unused) {
                Some(rest) if !rest.is_zero() => rest,
                _ if busy => server.limits.idle,
                _ => {
                    drop(connection);
                    server.stop().await;
                    return;
                }
            }
        };
        tokio::time::sleep(rest).await;
    }
}

fn lock<T>(mutex: &SyncMutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
