//! Limits connections that have not shown the token. They have their own slots, and a new one
//! evicts the oldest when all slots are taken. Idle unauthenticated connections therefore cannot
//! block others.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::shares::{HeldShare, Holder, Places, Shares};

/// Maximum number of connections that have not shown the token.
const MAX_UNAUTHENTICATED: usize = 128;
/// Connections that have shown the token or a key. Requests on further connections wait.
const AUTHENTICATED: Places = Places {
    owner: 128,
    keys: 256,
    one_key: 96,
};

/// All open connections.
#[derive(Clone)]
pub(crate) struct Connections {
    unauthenticated: Arc<Mutex<Unauthenticated>>,
    seats: Arc<Shares>,
}

/// Connections without the token, oldest first.
#[derive(Default)]
struct Unauthenticated {
    waiting: VecDeque<(u64, CancellationToken)>,
    next: u64,
}

/// One connection. Dropping it frees its slot.
pub(crate) struct Connection {
    of: Connections,
    number: u64,
    evicted: CancellationToken,
    closed: CancellationToken,
    seat: tokio::sync::Mutex<Option<HeldShare>>,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            unauthenticated: Arc::default(),
            seats: Arc::new(Shares::new(AUTHENTICATED)),
        }
    }
}

impl Connections {
    /// Registers a new connection, which has not shown the token yet.
    pub(crate) fn admit(&self) -> Arc<Connection> {
        let evicted = CancellationToken::new();
        let mut unauthenticated = self.lock();
        let number = unauthenticated.next;
        unauthenticated.next += 1;
        unauthenticated.waiting.push_back((number, evicted.clone()));
        if unauthenticated.waiting.len() > MAX_UNAUTHENTICATED
            && let Some((_, first)) = unauthenticated.waiting.pop_front()
        {
            first.cancel();
        }
        drop(unauthenticated);
        let closed = CancellationToken::new();
        Arc::new(Connection {
            of: self.clone(),
            number,
            evicted,
            closed,
            seat: tokio::sync::Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Unauthenticated> {
        self.unauthenticated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Marks the connection as one of `holder`. It can no longer be evicted.
    pub(crate) async fn mark_authenticated(&self, holder: &Holder) {
        let mut seat = self.seat.lock().await;
        if seat.is_none() {
            self.leave();
            *seat = self.of.seats.wait(holder).await;
        }
    }

    /// Resolves when a newer connection without the token has evicted this one.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// The client has closed its side.
    pub(crate) fn mark_closed(&self) {
        self.closed.cancel();
    }

    /// Resolves when the client has closed its side.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    fn leave(&self) {
        self.of
            .lock()
            .waiting
            .retain(|(number, _)| *number != self.number);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.leave();
    }
}
