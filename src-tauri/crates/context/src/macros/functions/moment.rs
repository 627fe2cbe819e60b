//! Moment.js date formats, in English, as used by existing cards.

use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Longer tokens precede their prefixes.
const TOKENS: [&str; 55] = [
    "YYYY", "YY", "Y", "MMMM", "MMM", "MM", "Mo", "M", "Qo", "Q", "DDDD", "DDDo", "DDD", "DD",
    "Do", "D", "dddd", "ddd", "dd", "do", "d", "E", "e", "GGGG", "GG", "WW", "Wo", "W", "HH", "H",
    "hh", "h", "kk", "k", "mm", "m", "ss", "s", "SSS", "SS", "S", "A", "a", "ZZ", "Z", "X", "x",
    "LTS", "LT", "LLLL", "LLL", "LL", "L", "ll", "l",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// Formats a time with a Moment.js pattern; `[text]` is literal.
pub(crate) fn format(pattern: &str, now: DateTime, offset: Offset) -> String {
    let mut formatted = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let token = TOKENS.into_iter().find(|token| rest.starts_with(token));
        let quoted = rest
            .strip_prefix('[')
            .and_then(|rest| rest.find(']').map(|end| &rest[..end]));
        let length = if let Some(quoted) = quoted {
            formatted.push_str(quoted);
            quoted.len() + 2
        } else if let Some(token) = token {
            formatted.push_str(&part(token, now, offset));
            token.len()
        } else {
            formatted.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    formatted
}

fn part(token: &str, now: DateTime, offset: Offset) -> String {
    match token {
        "LT" => return format("h:mm A", now, offset),
        "LTS" => return format("h:mm:ss A", now, offset),
        "L" => return format("MM/DD/YYYY", now, offset),
        "l" => return format("M/D/YYYY", now, offset),
        "LL" => return format("MMMM D, YYYY", now, offset),
        "ll" => return format("MMM D, YYYY", now, offset),
        "LLL" => return format("MMMM D, YYYY h:mm A", now, offset),
        "LLLL" => return format("dddd, MMMM D, YYYY h:mm A", now, offset),
        _ => {}
    }
    match token.as_bytes().first() {
        Some(b'Y' | b'M' | b'Q' | b'D' | b'd' | b'E' | b'e' | b'G' | b'W') => day_part(token, now),
        _ => time_part(token, now, offset),
    }
}

fn day_part(token: &str, now: DateTime) -> String {
    let year = now.year();
    let month = number(now.month());
    let day = number(now.day());
    let weekday = number(now.weekday().to_sunday_zero_offset());
    let month_name = MONTHS[(month as usize + 11) % 12];
    let day_name = DAYS[weekday as usize % 7];
    let day_of_year = now.day_of_year().unsigned_abs().into();
    let quarter = month.div_ceil(3);
    let week = now.date().iso_week_date();
    match token {
        "YYYY" => format!("{year:04}"),
        "YY" => format!("{:02}", year.rem_euclid(100)),
        "Y" => year.to_string(),
        "MMMM" => month_name.to_owned(),
        "MMM" => month_name[..3].to_owned(),
        "MM" => format!("{month:02}"),
        "Mo" => ordinal(month),
        "M" => month.to_string(),
        "Qo" => ordinal(quarter),
        "Q" => quarter.to_string(),
        "DDDD" => format!("{day_of_year:03}"),
        "DDDo" => ordinal(day_of_year),
        "DDD" => day_of_year.to_string(),
        "DD" => format!("{day:02}"),
        "Do" => ordinal(day),
        "D" => day.to_string(),
        "dddd" => day_name.to_owned(),
        "ddd" => day_name[..3].to_owned(),
        "dd" => day_name[..2].to_owned(),
        "do" => ordinal(weekday),
        "d" | "e" => weekday.to_string(),
        "E" => now.weekday().to_monday_one_offset().to_string(),
        "GGGG" => format!("{:04}", week.year()),
        "GG" => format!("{:02}", week.year().rem_euclid(100)),
        "WW" => format!("{:02}", week.week()),
        "Wo" => ordinal(number(week.week())),
        _ => week.week().to_string(),
    }
}

fn time_part(token: &str, now: DateTime, offset: Offset) -> String {
    let hour = number(now.hour());
    let minute = number(now.minute());
    let second = number(now.second());
    let twelve = (hour + 11) % 12 + 1;
    let day_hour = if hour == 0 { 24 } else { hour };
    let nanos = now.subsec_nanosecond();
    let timestamp = || offset.to_timestamp(now).ok();
    match token {
        "HH" => format!("{hour:02}"),
        "H" => hour.to_string(),
        "hh" => format!("{twelve:02}"),
        "h" => twelve.to_string(),
        "kk" => format!("{day_hour:02}"),
        "k" => day_hour.to_string(),
        "mm" => format!("{minute:02}"),
        "m" => minute.to_string(),
        "ss" => format!("{second:02}"),
        "s" => second.to_string(),
        "SSS" => format!("{:03}", nanos / 1_000_000),
        "SS" => format!("{:02}", nanos / 10_000_000),
        "S" => (nanos / 100_000_000).to_string(),
        "A" => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        "a" => if hour < 12 { "am" } else { "pm" }.to_owned(),
        "Z" => zone(offset, ":"),
        "ZZ" => zone(offset, ""),
        "X" => timestamp().map_or(String::new(), |at| at.as_second().to_string()),
        _ => timestamp().map_or(String::new(), |at| at.as_millisecond().to_string()),
    }
}

fn zone(offset: Offset, colon: &str) -> String {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!(
        "{sign}{:02}{colon}{:02}",
        minutes.abs() / 60,
        minutes.abs() % 60
    )
}

fn number(small: i8) -> u32 {
    small.unsigned_abs().into()
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// A humanized duration, such as `a few seconds`, `an hour`, `3 days`.
pub(crate) fn humanized(seconds: u64) -> String {
    let rounded = |unit: f64| (seconds as f64 / unit).round() as u64;
    let minutes = rounded(60.0);
    let hours = rounded(3_600.0);
    let days = rounded(86_400.0);
    // Mean lengths of a month and a year in the Gregorian calendar.
    let months = rounded(146_097.0 / 4_800.0 * 86_400.0);
    let years = rounded(365.2425 * 86_400.0);
    match () {
        () if seconds < 45 => "a few seconds".to_owned(),
        () if minutes <= 1 => "a minute".to_owned(),
        () if minutes < 45 => format!("{minutes} minutes"),
        () if hours <= 1 => "an hour".to_owned(),
        () if hours < 22 => format!("{hours} hours"),
        () if days <= 1 => "a day".to_owned(),
        () if days < 26 => format!("{days} days"),
        () if months <= 1 => "a month".to_owned(),
        () if months < 11 => format!("{months} months"),
        () if years <= 1 => "a year".to_owned(),
        () => format!("{years} years"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn shown(pattern: &str) -> String {
        format(
            pattern,
            date(2027, 1, 3).at(0, 7, 4, 56_000_000),
            Offset::constant(-3),
        )
    }

    #[test]
    fn formats_moment_js_patterns() {
        assert_eq!(shown("LLLL"), "Sunday, January 3, 2027 12:07 AM");
        assert_eq!(
            shown("L, l, ll, LTS"),
            "01/03/2027, 1/3/2027, Jan 3, 2027, 12:07:04 AM"
        );
        assert_eq!(
            shown("YY Y MM Mo Qo DDDD DDDo dd do d e E GGGG[-W]WW"),
            "27 2027 01 1st 1st 003 3rd Su 0th 0 0 7 2026-W53"
        );
        assert_eq!(
            shown("H hh kk k m s S SS SSS a Z ZZ X x"),
            "0 12 24 24 7 4 0 05 056 am -03:00 -0300 1798945624 1798945624056"
        );
        assert_eq!(
            shown("[today is] dddd — [no end"),
            "today is Sunday — [no 0n0"
        );
    }

    #[test]
    fn humanizes_durations() {
        let spans = [
            0,
            44,
            45,
            120,
            44 * 60,
            45 * 60,
            7_200,
            86_400,
            3 * 86_400,
            30 * 86_400,
            90 * 86_400,
            365 * 86_400,
            731 * 86_400,
        ];
        let words: Vec<String> = spans.into_iter().map(humanized).collect();
        let expected = [
            "a few seconds",
            "a few seconds",
            "a minute",
            "2 minutes",
            "44 minutes",
            "an hour",
            "2 hours",
            "a day",
            "3 days",
            "a month",
            "3 months",
            "a year",
            "2 years",
        ];
        assert_eq!(words, expected);
    }
}
