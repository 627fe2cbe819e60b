//! Requests of the local API for one chat get their replies one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ChatId;
use tokio::sync::OwnedMutexGuard;

/// The chats that requests use or wait for.
#[derive(Default)]
pub(crate) struct ClientQueue(Mutex<HashMap<ChatId, Arc<tokio::sync::Mutex<()>>>>);

impl ClientQueue {
    /// Waits until all earlier requests for `chat` have their reply. The next one waits for the
    /// guard.
    pub(crate) async fn enter(&self, chat: ChatId) -> OwnedMutexGuard<()> {
        let place = {
            let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            places.retain(|_, place| Arc::strong_count(place) > 1);
            Arc::clone(places.entry(chat).or_default())
        };
        place.lock_owned().await
    }
}
