//! Waits for data from an endpoint. Reports long silences, and gives up after a timeout.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Outcome of a wait.
#[derive(Debug)]
pub(crate) enum Waited<T> {
    Ready(T),
    /// Nothing has arrived for this many seconds in total.
    Notice(u32),
    TimedOut,
    Cancelled,
}

/// Measures the current silence.
#[derive(Debug)]
pub(crate) struct IdleTimer {
    since: Instant,
    notice: Duration,
    notices: u32,
    /// Maximum silence.
    pub(crate) limit: Duration,
}

impl IdleTimer {
    pub(crate) fn new(notice: Duration, limit: Duration) -> Self {
        Self {
            since: Instant::now(),
            notice,
            notices: 0,
            limit,
        }
    }

    /// Resets the silence when data arrives.
    pub(crate) fn reset(&mut self) {
        self.since = Instant::now();
        self.notices = 0;
    }

    /// Waits for `next` until the next notice is due. `next` is then dropped, so it must be safe to
    /// call again.
    pub(crate) async fn wait<T>(
        &mut self,
        cancel: &CancellationToken,
        next: impl Future<Output = T>,
    ) -> Waited<T> {
        let notice = self.since + self.notice * (self.notices + 1);
        let limit = self.since + self.limit;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Waited::Cancelled,
            ready = next => Waited::Ready(ready),
            () = sleep_until(notice.min(limit)) => {
                if limit <= notice {
                    return Waited::TimedOut;
                }
                self.notices += 1;
                let seconds = (self.notice * self.notices).as_secs();
                Waited::Notice(u32::try_from(seconds).unwrap_or(u32::MAX))
            }
        }
    }
}
