//! Parses the date formats that other apps have used over the years, in their users' languages.

use domain::Timestamp;
use jiff::civil::DateTime;

use crate::base::clock::Clock;

/// Prefixes of month names, by month. A longer prefix comes before a shorter prefix of itself.
const MONTHS: [(i8, &[&str]); 12] = [
    (1, &["jan", "ene", "gen", "sty", "янв", "січ", "oca"]),
    (2, &["feb", "fév", "fev", "lut", "фев", "лют", "şub"]),
    (3, &["mar", "mär", "maa", "мар", "бер"]),
    (4, &["apr", "avr", "abr", "kwi", "апр", "кві", "nis"]),
    (5, &["may", "mai", "mei", "mag", "maj", "май", "мая", "тра"]),
    (6, &["jun", "juin", "giu", "cze", "июн", "чер", "haz"]),
    (7, &["jul", "juil", "lug", "lip", "июл", "лип", "tem"]),
    (8, &["aug", "aoû", "aou", "ago", "sie", "авг", "сер", "ağu"]),
    (9, &["sep", "set", "wrz", "сен", "вер", "eyl"]),
    (
        10,
        &["oct", "okt", "out", "ott", "paź", "окт", "жов", "eki"],
    ),
    (11, &["nov", "lis", "ноя", "kas"]),
    (
        12,
        &["dec", "dez", "déc", "dic", "gru", "дек", "гру", "ara"],
    ),
];
const AFTERNOON: [&str; 8] = ["pm", "下午", "晚上", "午後", "오후", "chiều", "tối", "μμ"];
const MORNING: [&str; 8] = ["am", "上午", "凌晨", "早上", "午前", "오전", "sáng", "πμ"];

/// Returns `None` if the text is not a date.
pub(crate) fn read(text: &str, clock: &Clock) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(at.as_millisecond()));
    }
    if let Ok(number) = text.parse::<f64>() {
        return since_1970(number);
    }
    if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
        return Some(Timestamp(zoned.timestamp().as_millisecond()));
    }
    clock.instant_of(written(text)?)
}

/// Parses seconds, milliseconds or microseconds. Their ranges do not overlap between 1973 and 5138.
fn since_1970(number: f64) -> Option<Timestamp> {
    let milliseconds = match number {
        1e8..1e11 => number * 1_000.0,
        1e11..1e14 => number,
        1e14..1e17 => number / 1_000.0,
        _ => return None,
    };
    Some(Timestamp(milliseconds as i64))
}

/// Parses a date in words or numbers without a time zone, which is local time.
fn written(text: &str) -> Option<DateTime> {
    let lower = text.to_lowercase();
    let mut numbers = lower
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|run| !run.is_empty());
    let date: Vec<(usize, i16)> = numbers
        .by_ref()
        .take(if month(&lower).is_some() { 2 } else { 3 })
        .map(number)
        .collect::<Option<_>>()?;
    let year = date.iter().position(|(digits, _)| *digits == 4)?;
    let others: Vec<i16> = date
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != year)
        .map(|(_, (_, value))| *value)
        .collect();
    let (month, day) = match (month(&lower), others[..].first_chunk::<2>()) {
        (Some(month), _) => (month, *others.first()?),
        (None, Some([month, day])) if year == 0 => (i8::try_from(*month).ok()?, *day),
        // American dates put the month first and use slashes.
        (None, Some([month, day])) if lower.contains('/') && *month <= 12 => {
            (i8::try_from(*month).ok()?, *day)
        }
        (None, Some([day, month])) => (i8::try_from(*month).ok()?, *day),
        (None, None) => return None,
    };
    let time: Vec<i16> = numbers
        .take(3)
        .map(|run| Some(number(run)?.1))
        .collect::<Option<_>>()?;
    let part = |at: usize| {
        time.get(at)
            .map_or(Some(0), |value| i8::try_from(*value).ok())
    };
    let hour = half_of_day(&lower, part(0)?);
    let minute = part(1)?;
    let second = part(2)?;
    DateTime::new(
        date[year].1,
        month,
        i8::try_from(day).ok()?,
        hour,
        minute,
        second,
        0,
    )
    .ok()
}

/// Returns the number of digits and the value.
fn number(run: &str) -> Option<(usize, i16)> {
    Some((run.len(), run.parse().ok()?))
}

fn month(lower: &str) -> Option<i8> {
    let mut words = lower.split(|letter: char| !letter.is_alphabetic());
    words.find_map(|word| {
        let named = |(_, names): &&(i8, &[&str])| names.iter().any(|name| word.starts_with(name));
        MONTHS.iter().find(named).map(|(month, _)| *month)
    })
}

fn half_of_day(lower: &str, hour: i8) -> i8 {
    // Accepts "3pm" and "3 p.m.".
    let close: String = lower
        .chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '.')
        .collect();
    let says = |words: &[&str]| {
        words
            .iter()
            .any(|word| close.ends_with(word) || (!word.is_ascii() && close.contains(word)))
    };
    match hour {
        1..12 if says(&AFTERNOON) => hour + 12,
        12 if says(&MORNING) => 0,
        _ => hour,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<String> {
        let clock = Clock::stopped(Timestamp(0));
        read(text, &clock).map(|at| jiff::Timestamp::from_millisecond(at.0).unwrap().to_string())
    }

    #[test]
    fn every_form_is_read_in_the_users_zone() {
        for text in [
            "2024-01-05T12:30:15.000Z",
            "2024-01-05T13:30:15+01:00",
            "1704457815000",
            "1704457815",
            "1704457815000000",
            "1704457815000.0",
            "1.704457815e12",
            "2024-01-05@12h30m15s",
            "2024-01-05@12h30m15s123ms",
            "2024-1-5 @12h 30m 15s 123ms",
            "2024-01-05 12:30:15",
            "Fri, 05 Jan 2024 12:30:15 +0000",
        ] {
            assert_eq!(
                check(text).as_deref(),
                Some("2024-01-05T12:30:15Z"),
                "{text}"
            );
        }
        assert_eq!(
            check("1705321815000.123").as_deref(),
            Some("2024-01-15T12:30:15Z")
        );
    }

    #[test]
    fn dates_are_read_in_the_languages_of_users() {
        for text in [
            "June 5, 2024 3:07pm",
            "June 5, 2024 3:07 PM",
            "June 5, 2024 15:07",
            "Jun 05, 2024 15:07",
            "5. Juni 2024 15:07",
            "5 juin 2024 15:07",
            "5 de junio de 2024 15:07",
            "5 de junho de 2024 15:07",
            "5 giugno 2024 15:07",
            "5 июня 2024 г. 15:07",
            "5 czerwca 2024 15:07",
            "5 juni 2024 15:07",
            "2024年6月5日 15:07",
            "2024年6月5日下午3点07分",
            "2024년 6월 5일 오후 3:07",
            "05.06.2024 15:07",
            "5-6-2024 15:07",
            "6/5/2024, 3:07 p.m.",
            "2024/6/5 15:07",
        ] {
            assert_eq!(
                check(text).as_deref(),
                Some("2024-06-05T15:07:00Z"),
                "{text}"
            );
        }
        assert_eq!(
            check("19/6/2023 14:20").as_deref(),
            Some("2023-06-19T14:20:00Z")
        );
        assert_eq!(
            check("January 5, 2024 12:30am").as_deref(),
            Some("2024-01-05T00:30:00Z")
        );
    }

    #[test]
    fn texts_without_a_date_are_unknown() {
        for text in [
            "",
            "yesterday",
            "Invalid date",
            "0",
            "7",
            "-1",
            "NaN",
            "inf",
            "99999999999999999999",
            "January 45, 2024 12:30pm",
            "ms",
            "2024",
            "May",
            "5/6/24",
            "99.99.2024",
            "2024-01-05@25h00m00s",
            "1e300",
        ] {
            assert_eq!(check(text), None, "{text}");
        }
    }
}
