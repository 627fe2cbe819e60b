//! Divides what the server does at once between its owner and the keys of the local API: the owner
//! has places of its own, and one key can take only a part of those of all keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// A user of the server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// The holder of the server's own token.
    Owner,
    /// The name of a key, which no other key has.
    Key(String),
}

/// How many places there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) owner: usize,
    /// Places of all keys together.
    pub(crate) keys: usize,
    /// Most places of one key; fewer than those of all keys.
    pub(crate) one_key: usize,
}

pub(crate) struct Shares {
    places: Places,
    owner: Arc<Semaphore>,
    keys: Arc<Semaphore>,
    each: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place. Dropping it frees the place.
pub(crate) struct HeldShare {
    _own: OwnedSemaphorePermit,
    _among_keys: Option<OwnedSemaphorePermit>,
}

impl Shares {
    pub(crate) fn new(places: Places) -> Self {
        let semaphore = |places| Arc::new(Semaphore::new(places));
        Self {
            places,
            owner: semaphore(places.owner),
            keys: semaphore(places.keys),
            each: Mutex::default(),
        }
    }

    /// Waits for a place. `None` never happens, because the semaphores are never closed.
    pub(crate) async fn wait(&self, holder: &Holder) -> Option<HeldShare> {
        Some(match holder {
            Holder::Owner => HeldShare {
                _own: Arc::clone(&self.owner).acquire_owned().await.ok()?,
                _among_keys: None,
            },
            // Its own part first, so that a key that has used it up does not wait among the others.
            Holder::Key(name) => HeldShare {
                _own: self.of_key(name).acquire_owned().await.ok()?,
                _among_keys: Some(Arc::clone(&self.keys).acquire_owned().await.ok()?),
            },
        })
    }

    /// A place that is free now.
    pub(crate) fn try_take(&self, holder: &Holder) -> Result<HeldShare, TryAcquireError> {
        Ok(match holder {
            Holder::Owner => HeldShare {
                _own: Arc::clone(&self.owner).try_acquire_owned()?,
                _among_keys: None,
            },
            Holder::Key(name) => HeldShare {
                _own: self.of_key(name).try_acquire_owned()?,
                _among_keys: Some(Arc::clone(&self.keys).try_acquire_owned()?),
            },
        })
    }

    fn of_key(&self, name: &str) -> Arc<Semaphore> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        // A semaphore that only this map knows has no place in use.
        each.retain(|_, places| Arc::strong_count(places) > 1);
        let own = each
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(self.places.one_key)));
        Arc::clone(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Holder {
        Holder::Key(name.to_owned())
    }

    #[test]
    fn one_key_cannot_take_all_places() {
        let shares = Shares::new(Places {
            owner: 1,
            keys: 3,
            one_key: 2,
        });
        let held: Vec<_> = (0..5)
            .map(|_| shares.try_take(&key("greedy")))
            .filter_map(Result::ok)
            .collect();
        assert_eq!(held.len(), 2);
        let other = shares.try_take(&key("other"));
        assert!(other.is_ok() && shares.try_take(&key("third")).is_err());
        let owner = shares.try_take(&Holder::Owner);
        assert!(owner.is_ok() && shares.try_take(&Holder::Owner).is_err());
        drop(held);
        assert!(shares.try_take(&key("greedy")).is_ok(), "places come back");
    }

    #[tokio::test]
    async fn waiting_key_gets_its_own_place_back() {
        let shares = Arc::new(Shares::new(Places {
            owner: 1,
            keys: 2,
            one_key: 1,
        }));
        let held = shares.wait(&key("a")).await;
        let waiting = tokio::spawn({
            let shares = Arc::clone(&shares);
            async move { shares.wait(&key("a")).await.is_some() }
        });
        assert!(
            shares.wait(&key("b")).await.is_some(),
            "another key does not wait"
        );
        drop(held);
        assert!(waiting.await.unwrap());
    }
}
