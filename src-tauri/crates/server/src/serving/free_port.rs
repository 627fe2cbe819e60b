//! Finds a free port.

use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Number of ports above a busy one that are tried.
const NEIGHBOURS: u16 = 20;

/// A port that is free now: one of the next ports, else any.
pub(crate) async fn free_port(busy: SocketAddr) -> Option<u16> {
    let next = (1..=NEIGHBOURS).filter_map(|step| busy.port().checked_add(step));
    for port in next.chain([0]) {
        if let Ok(listener) = TcpListener::bind(SocketAddr::new(busy.ip(), port)).await {
            return listener.local_addr().ok().map(|found| found.port());
        }
    }
    None
}
