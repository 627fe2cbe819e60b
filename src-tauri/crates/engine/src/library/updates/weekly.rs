//! The weekly check, which the user switches on.

use std::time::Duration;

use domain::Timestamp;

use crate::api::UpdatePhase;
use crate::base::error::ApiResult;
use crate::library::updates::{Updates, WeakUpdates};

/// Delay of the first look after the start. Commands that end soon contact no server.
const FIRST: Duration = Duration::from_secs(300);
const HOUR: Duration = Duration::from_secs(3_600);
/// Delay after a failed check.
const AFTER_FAILURE: Duration = Duration::from_secs(24 * 3_600);
const WEEK: u64 = 7 * 24 * 3_600_000;

impl Updates {
    /// Checks once a week while the switch is on.
    pub(crate) fn check_weekly_in_background(&self) {
        let updates = self.downgrade();
        tokio::spawn(check_weekly(updates));
    }

    /// Checks for updates if the user has switched the weekly check on and the last one was a week
    /// ago. Returns whether it did.
    ///
    /// # Errors
    /// Those of a check.
    pub(crate) async fn check_if_due(&self) -> ApiResult<bool> {
        let wanted = self.config().app_settings.settings().weekly_update_check;
        let is_busy = self.work().phase != UpdatePhase::Idle;
        if !wanted || self.source().address.is_none() || is_busy {
            return Ok(false);
        }
        if !is_due(self.base().now(), self.stored().await?.last_check) {
            return Ok(false);
        }
        self.check_for_updates().await.map(|_| true)
    }
}

async fn check_weekly(updates: WeakUpdates) {
    let mut wait = FIRST;
    loop {
        tokio::time::sleep(wait).await;
        let Some(updates) = updates.upgrade() else {
            return;
        };
        wait = match updates.check_if_due().await {
            Ok(_) => HOUR,
            Err(error) => {
                tracing::warn!(%error, "the weekly check for updates failed");
                AFTER_FAILURE
            }
        };
    }
}

/// A time in the future counts like one long ago, because the clock was set back.
fn is_due(now: Timestamp, last: Option<Timestamp>) -> bool {
    last.is_none_or(|last| now.0.abs_diff(last.0) >= WEEK || now.0 < last.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_is_due_after_a_week() {
        let day = |day: i64| Timestamp(day * 24 * 3_600_000);
        assert!(is_due(day(100), None));
        assert!(!is_due(day(100), Some(day(94))));
        assert!(is_due(day(100), Some(day(93))));
        assert!(is_due(day(100), Some(day(101))), "the clock was set back");
    }
}
