//! The time that decides what expires. A wrong clock must not empty the trash: a jump ahead counts
//! only once the clock has gone on from there.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::error::{ApiResult, internal};
use crate::base::handle::Base;

/// Setting with the times of the last sessions.
const CLOCK: &str = "clock";
const DAY: i64 = 24 * 3_600_000;
/// A longer time since the last session is a jump. Most people open the app more often.
const JUMP: i64 = 3 * DAY;
/// The clock must go on for this long after a jump before it counts.
const CONFIRMED: i64 = DAY;

/// The time at which things expire.
pub(crate) struct TrustedTime {
    pub(crate) now: Timestamp,
    /// The clock has jumped ahead, and that does not count yet.
    pub(crate) is_ahead: bool,
}

/// Looks at the clock, which says `now`, and stores what it said.
pub(crate) async fn look(base: &Base, now: Timestamp) -> ApiResult<TrustedTime> {
    let (stored, newest) = base
        .store()
        .read(|store| Ok((store.settings().get(CLOCK)?, store.chats().newest()?)))
        .await?;
    let mut clock = TrustedClock::new(stored.as_deref(), newest.unwrap_or(now));
    let trusted = TrustedTime {
        now: clock.look(now),
        is_ahead: clock.is_ahead(),
    };
    let json =
        serde_json::to_string(&clock).map_err(|_| internal("the clock could not be stored"))?;
    if stored.as_ref() != Some(&json) {
        base.store()
            .write(move |store| store.settings_mut().set(CLOCK, &json))
            .await?;
    }
    Ok(trusted)
}

/// The times of the last sessions, as a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct TrustedClock {
    /// The last time that counts.
    seen: Timestamp,
    /// The clock after a jump ahead that does not count yet.
    jump: Option<Timestamp>,
}

impl TrustedClock {
    /// `newest` is the newest time in the data, for a database of a version that kept no times.
    fn new(stored: Option<&str>, newest: Timestamp) -> Self {
        let stored = stored.and_then(|json| serde_json::from_str(json).ok());
        stored.unwrap_or(Self {
            seen: newest,
            jump: None,
        })
    }

    /// Looks at the clock. Returns the time at which things expire: `now`, or the last time that
    /// counts if the clock has jumped ahead.
    fn look(&mut self, now: Timestamp) -> Timestamp {
        let confirmed = self.jump.is_some_and(|jump| now.0 >= jump.0 + CONFIRMED);
        if now.0 - self.seen.0 <= JUMP || confirmed {
            *self = Self {
                seen: now,
                jump: None,
            };
            return now;
        }
        // A clock that was set back again begins anew.
        self.jump = Some(self.jump.map_or(now, |jump| Timestamp(jump.0.min(now.0))));
        self.seen
    }

    /// Whether a jump ahead does not count yet.
    fn is_ahead(&self) -> bool {
        self.jump.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> Timestamp {
        Timestamp(day * DAY)
    }

    /// The days at which things expire, for sessions on these days.
    fn expires(days: &[i64]) -> Vec<i64> {
        let mut clock = TrustedClock::new(None, at(days[0]));
        let mut stored: Option<String> = None;
        let mut expires = Vec::new();
        for day in days {
            if stored.is_some() {
                clock = TrustedClock::new(stored.as_deref(), at(0));
            }
            expires.push(clock.look(at(*day)).0 / DAY);
            stored = Some(serde_json::to_string(&clock).unwrap());
        }
        expires
    }

    #[test]
    fn a_clock_that_is_wrong_once_expires_nothing() {
        assert_eq!(
            expires(&[100, 101, 160, 102, 103]),
            [100, 101, 101, 102, 103]
        );
        assert_eq!(
            expires(&[100, 4_000, 4_000, 100]),
            [100, 100, 100, 100],
            "twice on one day"
        );
        assert_eq!(
            expires(&[100, 160, 102, 160, 103]),
            [100, 100, 102, 102, 103]
        );
        assert_eq!(expires(&[100, 30, 31]), [100, 30, 31], "a clock set back");
    }

    #[test]
    fn rare_sessions_expire_one_session_later() {
        assert_eq!(
            expires(&[100, 107, 114, 121, 128]),
            [100, 100, 114, 114, 128]
        );
        assert_eq!(
            expires(&[100, 300, 301]),
            [100, 100, 301],
            "back after a long time"
        );
    }

    #[test]
    fn data_from_before_the_clock_was_kept_counts() {
        assert_eq!(TrustedClock::new(None, at(50)).look(at(110)), at(50));
        assert_eq!(TrustedClock::new(Some("{"), at(50)).look(at(51)), at(51));
    }
}
