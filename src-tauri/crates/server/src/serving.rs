//! Listening: binding, the accept loop, stopping.

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

use crate::body::Bodies;
use crate::guard::Names;
use crate::routes::{Server, router};
use crate::secret::{Tickets, Token};
use crate::strangers::{Connections, Guest};
use crate::{events, files};

/// For the head of a request, and between two requests of a connection.
const HEAD_PATIENCE: Duration = Duration::from_secs(15);
/// For requests that are under way when the server stops.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// After a failed accept, such as with no file handles left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// `127.0.0.1`, `::1` or `localhost`.
    pub host: String,
    /// 0 takes any free port.
    pub port: u16,
    /// The folder of the built UI, such as [`crate::find_ui`] finds; `None` serves the API alone.
    pub ui: Option<PathBuf>,
    /// `None` draws a fresh one.
    pub token: Option<Token>,
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{host} is not this machine's own address; the server listens on 127.0.0.1, ::1 or localhost only")]
    NotLoopback { host: String },
    #[error("cannot listen on {addr}: {source}; choose another port, or 0 for any")]
    Bind { addr: SocketAddr, source: std::io::Error },
    #[error("the web UI is not in {}; build it with `npm run build` in `ui`, or name its folder in INGLENOOK_UI", places(.searched))]
    NoUi { searched: Vec<PathBuf> },
}

/// A running server. It stops when this is dropped.
pub struct Serving {
    pub addr: SocketAddr,
    pub token: Token,
    /// For a browser. The token stands in the fragment, which browsers keep to themselves.
    pub url: String,
    stopping: DropGuard,
    running: JoinHandle<()>,
}

impl Serving {
    /// Takes no more requests, lets those under way end (five seconds at the most), and says goodbye to listeners.
    pub async fn stop(self) {
        drop(self.stopping);
        if let Err(error) = self.running.await {
            tracing::error!(%error, "the accept loop did not end");
        }
    }
}

/// Starts serving `engine`. The server runs in tasks of the current Tokio runtime until it is stopped or dropped.
///
/// # Errors
/// If `host` is not loopback, the port cannot be had, or `ui` holds no `index.html`.
pub async fn serve(engine: Engine, options: ServeOptions) -> Result<Serving, ServeError> {
    let ip = loopback(&options.host)?;
    if let Some(folder) = options.ui.as_ref().filter(|folder| !files::has_index(folder)) {
        return Err(ServeError::NoUi { searched: vec![folder.clone()] });
    }
    let wanted = SocketAddr::new(ip, options.port);
    let bind = |source| ServeError::Bind { addr: wanted, source };
    let listener = TcpListener::bind(wanted).await.map_err(bind)?;
    let addr = listener.local_addr().map_err(bind)?;

    let token = options.token.unwrap_or_else(Token::random);
    let stopping = CancellationToken::new();
    let server = Server {
        engine,
        token: token.clone(),
        names: Names::of(addr.port()),
        tickets: Tickets::default(),
        bodies: Bodies::default(),
        listeners: Arc::new(Semaphore::new(events::LISTENERS)),
        stopping: stopping.clone(),
    };
    let router = router(Arc::new(server), options.ui.as_deref());
    let running = tokio::spawn(accept(listener, router, stopping.clone()));
    let url = format!("http://{addr}/#token={}", token.reveal());
    Ok(Serving { addr, token, url, stopping: stopping.drop_guard(), running })
}

fn loopback(host: &str) -> Result<IpAddr, ServeError> {
    match host {
        "127.0.0.1" | "localhost" => Ok(Ipv4Addr::LOCALHOST.into()),
        "::1" | "[::1]" => Ok(Ipv6Addr::LOCALHOST.into()),
        _ => Err(ServeError::NotLoopback { host: host.to_owned() }),
    }
}

async fn accept(listener: TcpListener, router: Router, stopping: CancellationToken) {
    let (connections, mut attended) = (Connections::default(), JoinSet::new());
    while let Some(accepted) = stopping.run_until_cancelled(listener.accept()).await {
        // Removes connections that have ended.
        while attended.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                attended.spawn(attend(stream, connections.admit(), router.clone(), stopping.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if timeout(STOP_PATIENCE, async { while attended.join_next().await.is_some() {} }).await.is_err() {
        tracing::warn!("requests were cut off when the server stopped");
    }
}

/// HTTP/1.1 alone, of which every wait can be bounded.
async fn attend(stream: TcpStream, guest: Arc<Guest>, router: Router, stopping: CancellationToken) {
    let router = router.layer(Extension(Arc::clone(&guest)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        // What was asked in full is done, though the client has hung up since: otherwise its hanging up could be read
        // before its request was looked at, and the user's words would be lost.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
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

fn places(folders: &[PathBuf]) -> String {
    match folders {
        [] => "any known place".to_owned(),
        _ => folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_served() {
        for host in ["127.0.0.1", "localhost", "::1", "[::1]"] {
            assert!(loopback(host).is_ok_and(|ip| ip.is_loopback()), "{host}");
        }
        for host in ["0.0.0.0", "::", "192.168.1.2", "127.0.0.1.evil.example", "evil.example", ""] {
            assert!(matches!(loopback(host), Err(ServeError::NotLoopback { .. })), "{host}");
        }
    }
}
