//! News to any number of listeners.

use tokio::sync::broadcast;

use crate::api::{Changed, Event};

/// Events a listener may lag behind. A fast local model makes about 200 tokens a second.
const BACKLOG: usize = 4_096;

/// Where events are announced.
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
    /// Tells everybody who listens; nobody listening is fine.
    pub(crate) fn announce(&self, event: Event) {
        let _ = self.sender.send(event);
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
    /// The next event; `None` once the engine is gone. [`Event::Missed`] stands for events that this listener was too slow
    /// for.
    pub async fn next(&mut self) -> Option<Event> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Event::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
