//! Limits how often a client may do something.

use std::time::Instant;

/// A token bucket.
pub(super) struct RateLimit {
    capacity: f64,
    per_second: f64,
    left: f64,
    at: Instant,
}

impl RateLimit {
    /// Allows `capacity` at once, and `per_second` in the long run.
    pub(super) fn new(capacity: u32, per_second: f64, now: Instant) -> Self {
        Self {
            capacity: f64::from(capacity),
            per_second,
            left: f64::from(capacity),
            at: now,
        }
    }

    pub(super) fn allows(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * self.per_second).min(self.capacity);
        self.at = now;
        let allowed = self.left >= 1.0;
        if allowed {
            self.left -= 1.0;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn allows_a_burst_and_then_a_steady_rate() {
        let start = Instant::now();
        let mut limit = RateLimit::new(3, 2.0, start);
        assert_eq!(
            [(); 4].map(|()| limit.allows(start)),
            [true, true, true, false]
        );
        assert!(limit.allows(start + Duration::from_millis(500)));
        assert!(!limit.allows(start + Duration::from_millis(600)));
        let later = start + Duration::from_secs(3600);
        assert_eq!(
            [(); 4].map(|()| limit.allows(later)),
            [true, true, true, false],
            "no more than the burst is saved up"
        );
    }
}
