//! Pause and number of retries. `refusal.rs` and `transport_error.rs` decide whether to retry.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use super::config::Timeouts;
use crate::ProviderError;

/// Maximum number of retries per request.
pub(crate) const MAX_RETRIES: u32 = 2;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct RequestFailure {
    pub(crate) error: ProviderError,
    pub(crate) retry: RetryPolicy,
    /// The endpoint itself reported the failure, so it is valid even after the end of a reply.
    pub(crate) reported_by_endpoint: bool,
}

/// Whether another attempt may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryPolicy {
    /// No; it would fail the same way.
    Never,
    /// Yes, after a pause.
    Later,
    /// Yes, after the pause that the endpoint requested.
    After(Duration),
    /// Yes, with a request that omits the refused part.
    Adapted,
}

impl RequestFailure {
    pub(crate) fn never(error: ProviderError) -> Self {
        Self {
            error,
            retry: RetryPolicy::Never,
            reported_by_endpoint: false,
        }
    }

    pub(crate) fn later(error: ProviderError) -> Self {
        Self {
            error,
            retry: RetryPolicy::Later,
            reported_by_endpoint: false,
        }
    }
}

/// Returns the pause before retry number `attempt` (from 1), or `None` to give up. `jitter`, from
/// 0 to 1, shortens the pause by up to a quarter, so that clients that failed together do not
/// retry together.
pub(crate) fn pause(
    timeouts: &Timeouts,
    attempt: u32,
    again: RetryPolicy,
    jitter: f64,
) -> Option<Duration> {
    if attempt > MAX_RETRIES {
        return None;
    }
    match again {
        RetryPolicy::Never | RetryPolicy::Adapted => None,
        RetryPolicy::After(pause) => (pause <= timeouts.retry_after_cap).then_some(pause),
        RetryPolicy::Later => {
            let full = timeouts
                .backoff
                .saturating_mul(1 << (attempt - 1))
                .min(timeouts.backoff_cap);
            Some(full.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 4.0))
        }
    }
}

/// Returns the pause that an endpoint requests: `retry-after-ms`, or `retry-after` in seconds or as
/// a date (RFC 9110, 10.2.3).
pub(crate) fn asked_pause(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    if let Some(ms) = header("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let text = header("retry-after")?;
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        // A date in the past means no pause.
        Err(_) => Some(
            httpdate::parse_http_date(text)
                .ok()?
                .duration_since(now)
                .unwrap_or_default(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn pauses(timeouts: &Timeouts, again: RetryPolicy, jitter: f64) -> Vec<u128> {
        (1..5)
            .map_while(|attempt| pause(timeouts, attempt, again, jitter))
            .map(|pause| pause.as_millis())
            .collect()
    }

    #[test]
    fn pauses_double_and_stop_after_two() {
        assert_eq!(
            pauses(&Timeouts::default(), RetryPolicy::Later, 0.0),
            [500, 1000]
        );
        assert_eq!(
            pauses(&Timeouts::default(), RetryPolicy::Later, 1.0),
            [375, 750]
        );
        assert_eq!(pauses(&Timeouts::default(), RetryPolicy::Never, 0.0), []);
    }

    #[test]
    fn pauses_respect_their_caps() {
        let timeouts = Timeouts {
            backoff: Duration::from_secs(7),
            ..Timeouts::default()
        };
        assert_eq!(pauses(&timeouts, RetryPolicy::Later, 0.0), [7000, 8000]);
        assert_eq!(
            pauses(&timeouts, RetryPolicy::After(Duration::from_secs(60)), 0.0),
            [60_000, 60_000]
        );
        assert_eq!(
            pauses(&timeouts, RetryPolicy::After(Duration::from_secs(61)), 0.0),
            []
        );
    }

    #[test]
    fn reads_every_form_of_retry_after() {
        let now = httpdate::parse_http_date("Fri, 06 Nov 2026 08:49:30 GMT").unwrap();
        for (name, value, ms) in [
            ("retry-after", "3", Some(3000)),
            ("retry-after", " 0.25 ", Some(250)),
            ("retry-after", "Fri, 06 Nov 2026 08:49:37 GMT", Some(7000)),
            ("retry-after", "Fri, 06 Nov 2026 08:49:00 GMT", Some(0)),
            ("retry-after-ms", "40", Some(40)),
            ("retry-after", "-1", None),
            ("retry-after", "1e400", None),
            ("retry-after", "soon", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            assert_eq!(
                asked_pause(&headers, now).map(|pause| pause.as_millis()),
                ms,
                "{name}: {value}"
            );
        }
    }
}
