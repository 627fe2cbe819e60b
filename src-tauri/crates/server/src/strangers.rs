//! Connections that have not shown the token. They have places of their own, and the one that came first leaves when a new
//! one finds all of them taken: idle connections of strangers keep nobody out.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Connections at once that have not shown the token.
const STRANGERS: usize = 128;
/// Connections at once that have shown it; requests of more wait.
const KNOWN: usize = 128;

/// Everybody who is connected.
#[derive(Clone)]
pub(crate) struct Connections {
    strangers: Arc<Mutex<Strangers>>,
    seats: Arc<Semaphore>,
}

/// Those of whom nothing is known, by the order in which they came.
#[derive(Default)]
struct Strangers {
    waiting: VecDeque<(u64, CancellationToken)>,
    next: u64,
}

/// One connection. It leaves its place when this is dropped.
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
    /// Takes in a new connection, of which nothing is known yet.
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
    /// The connection has shown the token: nobody takes its place from now on.
    pub(crate) async fn is_known(&self) {
        let mut seat = self.seat.lock().await;
        if seat.is_none() {
            self.leave();
            // The semaphore is never closed, so that a seat always comes.
            *seat = Arc::clone(&self.of.seats).acquire_owned().await.ok();
        }
    }

    /// Resolves when a newer stranger has taken the place of this one.
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
