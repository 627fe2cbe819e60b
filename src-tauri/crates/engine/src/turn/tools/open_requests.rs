//! Questions about tools that wait for the user.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ChatId;
use tokio::sync::oneshot;

use crate::api::{ToolDecision, ToolRequest};

/// A question with the way to answer it.
type Waiting = (ToolRequest, oneshot::Sender<ToolDecision>);

/// All open questions, by id.
#[derive(Default)]
pub(crate) struct OpenRequests {
    open: Mutex<HashMap<String, Waiting>>,
}

impl OpenRequests {
    pub(crate) fn insert(&self, request: ToolRequest, answer: oneshot::Sender<ToolDecision>) {
        self.lock().insert(request.id.clone(), (request, answer));
    }

    /// Closes a question. `None` if it was closed before.
    pub(crate) fn remove(&self, id: &str) -> Option<oneshot::Sender<ToolDecision>> {
        self.lock().remove(id).map(|(_, answer)| answer)
    }

    /// The questions of a chat, oldest first.
    pub(crate) fn of(&self, chat: ChatId) -> Vec<ToolRequest> {
        let open = self.lock();
        let mut found: Vec<ToolRequest> = open
            .values()
            .map(|(request, _)| request)
            .filter(|request| request.chat == chat)
            .cloned()
            .collect();
        found.sort_by(|one, other| one.id.cmp(&other.id));
        found
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
