//! Limits connections that have not shown the token. They have their own slots, and a new one evicts the oldest when all
//! slots are taken. Idle unauthenticated connections therefore cannot block others.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Maximum number of connections that have not shown the token.
const STRANGERS: usize = 128;
/// Maximum number of connections that have shown the token. Requests on further connections wait.
const KNOWN: usize = 128;

/// All open connections.
#[derive(Clone)]
pub(crate) struct Connections {
    strangers: Arc<Mutex<Strangers>>,
    seats: Arc<Semaphore>,
}

/// Connections without the token, oldest first.
#[derive(Default)]
struct Strangers {
    waiting: VecDeque<(u64, CancellationToken)>,
    next: u64,
}

/// One connection. Dropping it frees its slot.
pub(crate) struct Guest {
    of: Connections,
    number: u64,
    evicted: CancellationToken,
    seat: tokio::sync::Mutex<Option<OwnedSemaphorePermit>>,
}

impl Default for Connections {
    fn default() -> Self {
        Self { strangers: Arc::default(), seats: Arc::new(Semaphore::new(KNOWN)) }
    }
}

impl Connections {
    /// Registers a new connection, which has not shown the token yet.
    pub(crate) fn admit(&self) -> Arc<Guest> {
        let evicted = CancellationToken::new();
        let mut strangers = self.lock();
        let number = strangers.next;
        strangers.next += 1;
        strangers.waiting.push_back((number, evicted.clone()));
        if strangers.waiting.len() > STRANGERS
            && let Some((_, first)) = strangers.waiting.pop_front()
        {
            first.cancel();
        }
        drop(strangers);
        Arc::new(Guest { of: self.clone(), number, evicted, seat: tokio::sync::Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Strangers> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Marks the connection as authenticated. It can no longer be evicted.
    pub(crate) async fn is_known(&self) {
        let mut seat = self.seat.lock().await;
        if seat.is_none() {
            self.leave();
            // The semaphore is never closed, so acquiring a permit cannot fail.
            *seat = Arc::clone(&self.of.seats).acquire_owned().await.ok();
        }
    }

    /// Resolves when a newer connection without the token has evicted this one.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    fn leave(&self) {
        self.of.lock().waiting.retain(|(number, _)| *number != self.number);
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.leave();
    }
}
