//! Waits until every supervisor has done its part.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// Completes a receiver once every supervisor has confirmed. It fails if one does not.
#[derive(Debug)]
pub(crate) struct Confirmation {
    pending: AtomicUsize,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

impl Confirmation {
    /// `count` is the number of supervisors.
    pub(crate) fn of(count: usize) -> (Arc<Self>, oneshot::Receiver<()>) {
        let (done, receiver) = oneshot::channel();
        (
            Arc::new(Self {
                pending: AtomicUsize::new(count),
                done: Mutex::new(Some(done)),
            }),
            receiver,
        )
    }

    pub(crate) fn confirm(&self) {
        if self.pending.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(done) = self
                .done
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
        {
            // The caller may have stopped waiting.
            let _ = done.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmation_needs_every_supervisor() {
        let (both, mut done) = Confirmation::of(2);
        both.confirm();
        assert!(done.try_recv().is_err(), "one is missing");
        both.confirm();
        assert!(done.try_recv().is_ok());
        let (lost, mut done) = Confirmation::of(1);
        drop(lost);
        assert!(matches!(
            done.try_recv(),
            Err(oneshot::error::TryRecvError::Closed)
        ));
    }
}
