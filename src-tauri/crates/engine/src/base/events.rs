//! Broadcasts events to any number of listeners.

use tokio::sync::broadcast;

use crate::api::{Changed, Event};

/// Number of events that a listener may lag behind. A fast local model generates about 200 tokens per second.
const BACKLOG: usize = 4_096;

/// Sends events to all listeners.
#[derive(Debug, Clone)]
pub(crate) struct Announcer {
    sender: broadcast::Sender<Event>,
}

impl Default for Announcer {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(BACKLOG) }
    }
}

impl Announcer {
    /// Sends an event. It is not an error if nobody listens.
    pub(crate) fn announce(&self, event: Event) {
        let _ = self.sender.send(event);
    }

    /// Whether anybody receives events.
    pub(crate) fn has_listeners(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    pub(crate) fn changed(&self, what: Changed, id: Option<String>) {
        self.announce(Event::Changed { what, id });
    }

    pub(crate) fn subscribe(&self) -> Events {
        Events { receiver: self.sender.subscribe() }
    }
}

/// Events for one listener, from the moment of the subscription on.
pub struct Events {
    receiver: broadcast::Receiver<Event>,
}

impl Events {
    /// The next event; `None` once the engine is gone. [`Event::Missed`] replaces events that this listener was too
    /// slow to receive.
    pub async fn next(&mut self) -> Option<Event> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Event::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
