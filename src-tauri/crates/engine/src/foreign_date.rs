//! Points in time as SillyTavern has written them over the years.

use domain::Timestamp;
use jiff::civil::DateTime;

use crate::clock::Clock;

/// Forms without a zone, blanks left out: they are in the user's.
const LOCAL: [&str; 3] = ["%B%d,%Y%I:%M%p", "%B%d,%Y%H:%M", "%Y-%m-%d@%Hh%Mm%Ss"];

/// `None` for what is no date.
pub(crate) fn read(text: &str, clock: &Clock) -> Option<Timestamp> {
    if let Ok(at) = text.trim().parse::<jiff::Timestamp>() {
        return Some(Timestamp(at.as_millisecond()));
    }
    if let Ok(milliseconds) = text.trim().parse::<i64>() {
        return jiff::Timestamp::from_millisecond(milliseconds).is_ok().then_some(Timestamp(milliseconds));
    }
    let close: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let close = without_milliseconds(&close);
    let civil = LOCAL.iter().find_map(|form| DateTime::strptime(form, close).ok())?;
    clock.instant_of(civil)
}

/// `...30m15s123ms` as `...30m15s`.
fn without_milliseconds(text: &str) -> &str {
    match text.strip_suffix("ms").and_then(|text| text.rfind('s')) {
        Some(seconds) => &text[..=seconds],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_the_user_s_zone_fills_in() {
        let clock = Clock::stopped(Timestamp(0));
        let check =
            |text: &str| read(text, &clock).map(|at| jiff::Timestamp::from_millisecond(at.0).unwrap().to_string());
        for text in [
            "2024-01-05T12:30:15.000Z",
            "2024-01-05T13:30:15+01:00",
            "1704457815000",
            "2024-01-05@12h30m15s",
            "2024-01-05@12h30m15s123ms",
            "2024-1-5 @12h 30m 15s 123ms",
        ] {
            assert_eq!(check(text).as_deref(), Some("2024-01-05T12:30:15Z"), "{text}");
        }
        for text in ["January 5, 2024 12:30pm", "January 5, 2024 12:30 PM", "January 5, 2024 12:30"] {
            assert_eq!(check(text).as_deref(), Some("2024-01-05T12:30:00Z"), "{text}");
        }
        for text in ["", "yesterday", "99999999999999999999", "January 45, 2024 12:30pm", "ms"] {
            assert_eq!(check(text), None, "{text}");
        }
    }
}
