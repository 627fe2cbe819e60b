//! Limits the number of open sockets.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::caller::Caller;
use crate::shares::{HeldShare, Holder, Places, Shares};

/// Open sockets whose client has shown the token or a key.
const SOCKETS: Places = Places {
    owner: 64,
    keys: 64,
    one_key: 24,
};

/// Maximum number of sockets that wait for a key.
const WAITING: usize = 16;

/// Places for sockets.
pub(crate) struct ChatSockets {
    pub(crate) open: Shares,
    pub(crate) waiting: Arc<Semaphore>,
}

/// The place of a socket. Dropping it frees the place.
pub(crate) enum SocketPlace {
    Waiting(#[expect(dead_code, reason = "only held")] OwnedSemaphorePermit),
    User(#[expect(dead_code, reason = "only held")] HeldShare),
}

impl Default for ChatSockets {
    fn default() -> Self {
        Self {
            open: Shares::new(SOCKETS),
            waiting: Arc::new(Semaphore::new(WAITING)),
        }
    }
}

impl ChatSockets {
    pub(crate) fn place(&self, caller: &Caller) -> Option<SocketPlace> {
        match caller.holder() {
            None => Arc::clone(&self.waiting)
                .try_acquire_owned()
                .ok()
                .map(SocketPlace::Waiting),
            Some(holder) => self.place_for_user(&holder),
        }
    }

    /// A place for a client that has shown a key.
    pub(crate) fn place_for_user(&self, holder: &Holder) -> Option<SocketPlace> {
        self.open.try_take(holder).ok().map(SocketPlace::User)
    }
}
