//! The state of the front end's server for the local API, in memory.

use std::sync::{Mutex, PoisonError};

use crate::api::ApiServerState;

/// State of the front end's server.
#[derive(Default)]
pub(crate) struct ApiServer(Mutex<ApiServerState>);

impl ApiServer {
    pub(crate) fn get(&self) -> ApiServerState {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns whether the state changed.
    pub(crate) fn set(&self, state: ApiServerState) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = *known != state;
        *known = state;
        changed
    }
}
