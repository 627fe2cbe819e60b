//! Reasons why the server does not start.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Reason why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(
        "{host} is not a loopback address; the server listens only on 127.0.0.1, ::1 or localhost"
    )]
    NotLoopback { host: String },
    #[error("another program uses port {}; {}", .addr.port(), instead(*.free))]
    PortInUse { addr: SocketAddr, free: Option<u16> },
    #[error("cannot listen on {addr}: {source}; choose another port, or 0 for any")]
    Bind {
        addr: SocketAddr,
        source: std::io::Error,
    },
    #[error("the web UI was not found in {}; build it with `npm run build` in `ui`, or set INGLENOOK_UI to its folder", places(.searched))]
    NoUi { searched: Vec<PathBuf> },
}

fn instead(free: Option<u16>) -> String {
    free.map_or_else(
        || "choose another one, or 0 for any".to_owned(),
        |port| format!("port {port} is free"),
    )
}

fn places(folders: &[PathBuf]) -> String {
    match folders {
        [] => "any known place".to_owned(),
        _ => folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect::<Vec<_>>()
            .join(" or "),
    }
}
