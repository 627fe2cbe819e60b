//! The engine's only clock, so that tests can stop it.

use std::sync::Arc;
#[cfg(any(test, feature = "evaluation"))]
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use domain::Timestamp;
use jiff::tz::TimeZone;

/// Provides the current time. Cheap to clone.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    zone: TimeZone,
}

/// Moves a clock of [`Clock::moved_by_hand`] and all its clones.
#[cfg(any(test, feature = "evaluation"))]
pub(crate) struct Hands {
    at: Arc<AtomicI64>,
}

#[cfg(any(test, feature = "evaluation"))]
impl Hands {
    pub(crate) fn move_to(&self, at: Timestamp) {
        self.at.store(at.0, Ordering::Relaxed);
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            now: Arc::new(|| Timestamp(jiff::Timestamp::now().as_millisecond())),
            zone: TimeZone::system(),
        }
    }
}

impl Clock {
    /// A clock that always returns `now`, in UTC.
    pub fn stopped(now: Timestamp) -> Self {
        Self {
            now: Arc::new(move || now),
            zone: TimeZone::UTC,
        }
    }

    /// A clock that returns `from`, in UTC, until it is moved.
    #[cfg(any(test, feature = "evaluation"))]
    pub(crate) fn moved_by_hand(from: Timestamp) -> (Self, Hands) {
        let hands = Hands {
            at: Arc::new(AtomicI64::new(from.0)),
        };
        let at = Arc::clone(&hands.at);
        (
            Self {
                now: Arc::new(move || Timestamp(at.load(Ordering::Relaxed))),
                zone: TimeZone::UTC,
            },
            hands,
        )
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// `at` in the user's time zone, as it is written in prompts: "Saturday, 21 November 2026,
    /// 23:11".
    pub(crate) fn spoken(&self, at: Timestamp) -> String {
        self.civil(at).strftime("%A, %-d %B %Y, %H:%M").to_string()
    }

    /// The day of `at` in the user's time zone: "3 May 2026".
    pub(crate) fn day(&self, at: Timestamp) -> String {
        self.civil(at).strftime("%-d %B %Y").to_string()
    }

    /// `at` in the user's time zone, to the minute, for documents: "3 May 2026, 21:04".
    pub(crate) fn minute(&self, at: Timestamp) -> String {
        self.civil(at).strftime("%-d %B %Y, %H:%M").to_string()
    }

    /// Clock values for macros at `at`.
    pub(crate) fn macros(
        &self,
        at: Timestamp,
        last_said: Option<Timestamp>,
    ) -> context::macros::MacroClock {
        let zoned = instant(at).to_zoned(self.zone.clone());
        context::macros::MacroClock {
            now: zoned.datetime(),
            offset: zoned.offset(),
            idle_seconds: last_said.map(|said| (at.0 - said.0).max(0) / 1_000),
        }
    }

    /// The instant at which the user's clock shows `civil`; the earlier one if there are two.
    pub(crate) fn instant_of(&self, civil: jiff::civil::DateTime) -> Option<Timestamp> {
        Some(Timestamp(
            civil
                .to_zoned(self.zone.clone())
                .ok()?
                .timestamp()
                .as_millisecond(),
        ))
    }

    /// `at` in the user's time zone.
    pub(crate) fn civil(&self, at: Timestamp) -> jiff::civil::DateTime {
        instant(at).to_zoned(self.zone.clone()).datetime()
    }
}

/// RFC 3339, the format of times in the API.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    instant(at).to_string()
}

/// Timestamps outside the calendar's range become the Unix epoch.
fn instant(at: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(at.0).unwrap_or_default()
}

pub(crate) fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_for_prompts_and_api() {
        let at = Timestamp(1_795_302_660_000);
        assert_eq!(
            Clock::stopped(at).spoken(at),
            "Saturday, 21 November 2026, 23:11"
        );
        assert_eq!(Clock::stopped(at).minute(at), "21 November 2026, 23:11");
        assert_eq!(rfc3339(at), "2026-11-21T23:11:00Z");
        assert_eq!(rfc3339(Timestamp(i64::MAX)), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn clones_move_with_the_clock() {
        let (clock, hands) = Clock::moved_by_hand(Timestamp(5));
        let other = clock.clone();
        hands.move_to(Timestamp(7));
        assert_eq!((clock.now(), other.now()), (Timestamp(7), Timestamp(7)));
    }
}
