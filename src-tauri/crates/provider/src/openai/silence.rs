//! Waiting for an endpoint that may never answer.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How a wait ended.
#[derive(Debug)]
pub(super) enum Waited<T> {
    Ready(T),
    /// Still nothing, for so many seconds altogether.
    Quiet(u32),
    TooLong,
    Cancelled,
}

/// The length of the present silence.
#[derive(Debug)]
pub(super) struct Silence {
    since: Instant,
    notice: Duration,
    notices: u32,
    /// Silence that is not waited out.
    pub(super) limit: Duration,
}

impl Silence {
    pub(super) fn new(notice: Duration, limit: Duration) -> Self {
        Self { since: Instant::now(), notice, notices: 0, limit }
    }

    /// Something arrived.
    pub(super) fn broken(&mut self) {
        self.since = Instant::now();
        self.notices = 0;
    }

    /// Waits for `next` until the next notice is due. `next` is dropped then, so it must be safe to ask for it again.
    pub(super) async fn wait<T>(&mut self, cancel: &CancellationToken, next: impl Future<Output = T>) -> Waited<T> {
        let notice = self.since + self.notice * (self.notices + 1);
        let limit = self.since + self.limit;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Waited::Cancelled,
            ready = next => Waited::Ready(ready),
            () = sleep_until(notice.min(limit)) => {
                if limit <= notice {
                    return Waited::TooLong;
                }
                self.notices += 1;
                let seconds = (self.notice * self.notices).as_secs();
                Waited::Quiet(u32::try_from(seconds).unwrap_or(u32::MAX))
            }
        }
    }
}
