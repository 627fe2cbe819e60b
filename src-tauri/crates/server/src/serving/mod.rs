//! Binds the port, accepts connections and stops the server.

pub(crate) mod connections;
pub(crate) mod free_port;
pub(crate) mod local_api_server;
pub(crate) mod peer;
pub(crate) mod serve_error;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use engine::Engine;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::body::BodySlots;
use crate::chat_socket::places::ChatSockets;
use crate::guard::AllowedHosts;
use crate::routes::router;
use crate::secret::{AccessToken, Tickets};
use crate::serving::connections::{Connection, Connections};
use crate::serving::free_port::free_port;
use crate::serving::peer::{PeerWatch, watched};
use crate::serving::serve_error::ServeError;
use crate::state::{ApiSwitch, ServerState};
use crate::{events, files};

/// Timeout for the head of a request, and for idle keep-alive connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout for running requests when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a failed accept, for example without free file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Options of the server.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// `127.0.0.1`, `::1` or `localhost`.
    pub host: String,
    /// Port; 0 selects any free port.
    pub port: u16,
    /// Folder of the built UI, for example from [`crate::find_ui`]; `None` serves only the API.
    pub ui: Option<PathBuf>,
    /// Access token; `None` creates a random one.
    pub token: Option<AccessToken>,
    /// When the local API answers.
    pub api: ApiSwitch,
}

/// A running server. It stops when this is dropped.
pub struct RunningServer {
    pub addr: SocketAddr,
    pub token: AccessToken,
    /// Address for a browser. The token is in the fragment, which browsers do not send.
    pub url: String,
    stopping: DropGuard,
    running: JoinHandle<()>,
}

impl RunningServer {
    /// Accepts no further requests, waits at most five seconds for running ones, and closes the
    /// sockets of listeners.
    pub async fn stop(self) {
        drop(self.stopping);
        if let Err(error) = self.running.await {
            tracing::error!(%error, "the accept loop failed");
        }
    }
}

/// Starts serving `engine` in tasks of the current Tokio runtime. The server stops when it is
/// stopped or dropped.
///
/// # Errors
/// `host` is not loopback, the port is not available, or `ui` has no `index.html`.
pub async fn serve(engine: Engine, options: ServeOptions) -> Result<RunningServer, ServeError> {
    let ip = loopback(&options.host)?;
    if let Some(folder) = options
        .ui
        .as_ref()
        .filter(|folder| !files::has_index(folder))
    {
        return Err(ServeError::NoUi {
            searched: vec![folder.clone()],
        });
    }
    let (listener, addr) = bind(SocketAddr::new(ip, options.port)).await?;
    let token = options.token.unwrap_or_else(AccessToken::random);
    let stopping = CancellationToken::new();
    let server = ServerState {
        engine,
        token: token.clone(),
        names: AllowedHosts::of(addr.port()),
        tickets: Tickets::default(),
        bodies: BodySlots::default(),
        listeners: Arc::new(Semaphore::new(events::LISTENERS)),
        chat_sockets: ChatSockets::default(),
        api: options.api,
        stopping: stopping.clone(),
    };
    let router = router(Arc::new(server), options.ui.as_deref());
    let running = tokio::spawn(accept(listener, router, stopping.clone()));
    let url = format!("http://{addr}/#token={}", token.reveal());
    Ok(RunningServer {
        addr,
        token,
        url,
        stopping: stopping.drop_guard(),
        running,
    })
}

/// Listens on `wanted`. Returns also the address, in which port 0 is replaced by the chosen one.
async fn bind(wanted: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Bind {
        addr: wanted,
        source,
    };
    match TcpListener::bind(wanted).await {
        Ok(listener) => {
            let addr = listener.local_addr().map_err(failed)?;
            Ok((listener, addr))
        }
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Err(ServeError::PortInUse {
            addr: wanted,
            free: free_port(wanted).await,
        }),
        Err(error) => Err(failed(error)),
    }
}

fn loopback(host: &str) -> Result<IpAddr, ServeError> {
    match host {
        "127.0.0.1" | "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        "::1" | "[::1]" => Ok(Ipv6Addr::LOCALHOST.into()),
        _ => Err(ServeError::NotLoopback {
            host: host.to_owned(),
        }),
    }
}

async fn accept(listener: TcpListener, router: Router, stopping: CancellationToken) {
    let connections = Connections::default();
    let mut attended = JoinSet::new();
    while let Some(accepted) = stopping.run_until_cancelled(listener.accept()).await {
        // Removes connections that have ended.
        while attended.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                attended.spawn(handle_connection(
                    stream,
                    connections.admit(),
                    router.clone(),
                    stopping.clone(),
                ));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if timeout(STOP_TIMEOUT, async {
        while attended.join_next().await.is_some() {}
    })
    .await
    .is_err()
    {
        tracing::warn!("requests were aborted when the server stopped");
    }
}

/// Serves one connection with HTTP/1.1 only, because every wait of it can have a timeout.
async fn handle_connection(
    stream: TcpStream,
    guest: Arc<Connection>,
    router: Router,
    stopping: CancellationToken,
) {
    let router = router.layer(Extension(Arc::clone(&guest)));
    let (stream, peer) = watched(stream);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        // A complete request is executed even if the client has already disconnected. Otherwise the
        // disconnect could be noticed first, and the user's message would be lost.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = with_notice(connection.as_mut(), &peer, &guest) => ended,
        () = guest.evicted() => return,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Runs the connection, and notes on the way that the client has closed it.
async fn with_notice<T>(
    connection: impl Future<Output = T>,
    peer: &PeerWatch,
    guest: &Connection,
) -> T {
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = peer.closed() => guest.mark_closed(),
    }
    connection.await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_served() {
        for host in ["127.0.0.1", "localhost", "::1", "[::1]"] {
            assert!(loopback(host).is_ok_and(|ip| ip.is_loopback()), "{host}");
        }
        for host in [
            "0.0.0.0",
            "::",
            "192.168.1.2",
            "127.0.0.1.evil.example",
            "evil.example",
            "",
        ] {
            assert!(
                matches!(loopback(host), Err(ServeError::NotLoopback { .. })),
                "{host}"
            );
        }
    }
}
