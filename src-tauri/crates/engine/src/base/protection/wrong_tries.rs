//! Slows down the guessing of a passphrase or a recovery code.

use std::time::{Duration, Instant};

use crate::api::ApiError;
use crate::base::error::bad_input;

/// Number of wrong tries before the first wait.
const FREE_TRIES: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(900);

/// The wrong tries in a row.
#[derive(Debug, Default)]
pub struct WrongTries {
    count: u32,
    next: Option<Instant>,
}

impl WrongTries {
    /// Records a wrong try at `now`.
    pub fn record(&mut self, now: Instant) {
        self.count = self.count.saturating_add(1);
        if let Some(doublings) = self.count.checked_sub(FREE_TRIES) {
            let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(doublings));
            self.next = Some(now + wait.min(LONGEST_WAIT));
        }
    }

    /// Ends the row, because a secret was right.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// How long the next try has to wait at `now`.
    #[must_use]
    pub fn wait(&self, now: Instant) -> Duration {
        self.next
            .map_or(Duration::ZERO, |next| next.saturating_duration_since(now))
    }

    /// The wait in whole seconds, rounded up.
    #[must_use]
    pub fn wait_seconds(&self, now: Instant) -> u64 {
        let wait = self.wait(now);
        wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
    }

    /// # Errors
    /// `BadInput` if the next try has to wait at `now`.
    pub fn refuse_early(&self, now: Instant) -> Result<(), ApiError> {
        match self.wait_seconds(now) {
            0 => Ok(()),
            seconds => Err(bad_input(
                format!("After several wrong tries, the next one must wait {seconds} seconds."),
                "Wait, then try again.",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_doubles_after_five_wrong_tries() {
        let mut tries = WrongTries::default();
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..12 {
            tries.record(now);
            waits.push(tries.wait_seconds(now));
            now += tries.wait(now);
        }
        assert_eq!(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 900, 900, 900]);
    }

    #[test]
    fn wait_ends_with_time_or_the_right_secret() {
        let mut tries = WrongTries::default();
        let start = Instant::now();
        for _ in 0..5 {
            tries.record(start);
        }
        let after = |millis| tries.wait_seconds(start + Duration::from_millis(millis));
        assert_eq!([0, 500, 29_500, 30_000].map(after), [30, 30, 1, 0]);
        tries.forget();
        tries.record(start);
        assert_eq!(tries.wait(start), Duration::ZERO);
    }

    #[test]
    fn many_wrong_tries_do_not_overflow() {
        let mut tries = WrongTries::default();
        let now = Instant::now();
        for _ in 0..100 {
            tries.record(now);
        }
        assert_eq!(tries.wait(now), LONGEST_WAIT);
    }
}
