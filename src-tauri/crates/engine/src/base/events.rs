//! Broadcasts events to any number of listeners.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::broadcast;

use crate::api::{Changed, Event};

/// Number of events that a listener may lag behind. A fast local model generates about 200 tokens
/// per second.
const BACKLOG: usize = 4_096;

/// Sends events to all listeners.
#[derive(Debug, Clone)]
pub(crate) struct Announcer {
    sender: broadcast::Sender<Event>,
    /// Number of listeners outside the engine.
    front_ends: Arc<AtomicUsize>,
}

impl Default for Announcer {
    fn default() -> Self {
        Self {
            sender: broadcast::Sender::new(BACKLOG),
            front_ends: Arc::default(),
        }
    }
}

impl Announcer {
    /// Sends an event. It is not an error if nobody listens.
    pub(crate) fn announce(&self, event: Event) {
        let _ = self.sender.send(event);
    }

    /// Whether a front end receives events.
    pub(crate) fn has_front_end(&self) -> bool {
        self.front_ends.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn changed(&self, what: Changed, id: Option<String>) {
        self.announce(Event::Changed { what, id });
    }

    pub(crate) fn subscribe(&self) -> Events {
        Events {
            receiver: self.sender.subscribe(),
            _front_end: None,
        }
    }

    /// Works like [`Self::subscribe`], for a listener outside the engine.
    pub(crate) fn subscribe_front_end(&self) -> Events {
        self.front_ends.fetch_add(1, Ordering::Relaxed);
        let front_end = FrontEnd(Arc::clone(&self.front_ends));
        Events {
            receiver: self.sender.subscribe(),
            _front_end: Some(front_end),
        }
    }
}

/// Events for one listener, from the moment of the subscription on.
pub struct Events {
    receiver: broadcast::Receiver<Event>,
    _front_end: Option<FrontEnd>,
}

/// Counts a listener outside the engine until it is dropped.
struct FrontEnd(Arc<AtomicUsize>);

impl Drop for FrontEnd {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Events {
    /// The next event; `None` once the engine is gone. [`Event::Missed`] replaces events that this
    /// listener was too slow to receive.
    pub async fn next(&mut self) -> Option<Event> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Event::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
