//! Idle-time work: gives it permission to use the model while no user waits, and tells when all
//! work has ended.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Permission of idle-time work to use the model.
pub(crate) struct IdleWork {
    leave: Mutex<CancellationToken>,
    /// Cancelled when the engine closes, with every permission.
    ended: CancellationToken,
    at_work: Arc<watch::Sender<usize>>,
}

/// Marks work in progress until it is dropped. Tasks drop it after their engine handle, so that the
/// data folder is free once no work is left.
pub(crate) struct AtWork(Arc<watch::Sender<usize>>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.send_modify(|works| *works -= 1);
    }
}

impl Default for IdleWork {
    fn default() -> Self {
        let ended = CancellationToken::new();
        Self {
            leave: Mutex::new(ended.child_token()),
            ended,
            at_work: Arc::new(watch::Sender::new(0)),
        }
    }
}

impl IdleWork {
    /// Starts new idle work, and cancels the work before it.
    pub(crate) fn begin(&self) -> CancellationToken {
        let leave = self.ended.child_token();
        let mut held = self.leave.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, leave.clone()).cancel();
        leave
    }

    /// Cancels idle work, because the user needs the model.
    pub(crate) fn stop(&self) {
        self.leave
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cancel();
    }

    /// Cancelled when the engine closes. No idle work may start after that.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Ends all idle work.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    /// Waits until no work is under way.
    pub(crate) async fn settled(&self) {
        // The sender lives as long as `self`.
        let _ = self.at_work.subscribe().wait_for(|works| *works == 0).await;
    }

    pub(crate) fn at_work(&self) -> AtWork {
        self.at_work.send_modify(|works| *works += 1);
        AtWork(Arc::clone(&self.at_work))
    }
}
