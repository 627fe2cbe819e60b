//! Tracks recent deaths of the worker and decides whether and when to restart it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use provider::{ProviderError, ProviderErrorKind};

use crate::settings::Policy;

/// Recent deaths within the policy's window, for one model at one context size.
#[derive(Debug, Default)]
pub(crate) struct CrashHistory {
    deaths: VecDeque<Instant>,
    last: String,
}

impl CrashHistory {
    pub(crate) fn record_death(&mut self, now: Instant, how: &str) {
        self.deaths.push_back(now);
        how.clone_into(&mut self.last);
    }

    /// Forgets the last death, which was not the model's fault.
    pub(crate) fn forgive(&mut self) {
        self.deaths.pop_back();
    }

    /// Returns the pause before the next start.
    ///
    /// # Errors
    /// [`ProviderErrorKind::WorkerDied`] if the worker has died too often.
    pub(crate) fn pause(
        &mut self,
        now: Instant,
        policy: &Policy,
    ) -> Result<Duration, ProviderError> {
        self.deaths
            .retain(|death| now.duration_since(*death) < policy.window);
        let deaths = self.deaths.len();
        if deaths >= policy.deaths {
            return Err(self.given_up(now, policy));
        }
        let doublings = u32::try_from(deaths.saturating_sub(1))
            .unwrap_or(u32::MAX)
            .min(16);
        Ok(if deaths == 0 {
            Duration::ZERO
        } else {
            policy.backoff * 2u32.pow(doublings)
        })
    }

    fn given_up(&self, now: Instant, policy: &Policy) -> ProviderError {
        let (deaths, minutes) = (self.deaths.len(), policy.window.as_secs().div_ceil(60));
        let oldest = self
            .deaths
            .front()
            .map_or(Duration::ZERO, |death| now.duration_since(*death));
        let wait = policy.window.saturating_sub(oldest).as_secs().max(1);
        ProviderError::new(
            ProviderErrorKind::WorkerDied,
            format!(
                "the inference worker died {deaths} times within {minutes} minutes and was not restarted; {}",
                self.last
            ),
            format!(
                "choose a smaller context size or another model, or try again in {wait} seconds"
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_until_the_third_death_in_window() {
        let (policy, start) = (Policy::default(), Instant::now());
        let minute = |minutes: u64| start + Duration::from_secs(60 * minutes);
        let mut health = CrashHistory::default();
        assert_eq!(health.pause(start, &policy).unwrap(), Duration::ZERO);
        health.record_death(minute(1), "it was killed");
        assert_eq!(
            health.pause(minute(1), &policy).unwrap(),
            Duration::from_millis(250)
        );
        health.record_death(minute(2), "it was killed");
        assert_eq!(
            health.pause(minute(2), &policy).unwrap(),
            Duration::from_millis(500)
        );
        health.record_death(minute(3), "it was killed");
        let error = health.pause(minute(3), &policy).unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::WorkerDied);
        assert_eq!(
            error.message,
            "the inference worker died 3 times within 5 minutes and was not restarted; it was killed"
        );
        assert!(
            error.hint.ends_with("try again in 180 seconds"),
            "{}",
            error.hint
        );
        assert!(
            health.pause(minute(7), &policy).is_ok(),
            "the first death is forgotten after five minutes"
        );
    }
}
