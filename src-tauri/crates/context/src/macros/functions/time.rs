//! Macros of time and date. Without a clock they are empty.

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use crate::macros::function::Function;
use crate::macros::functions::moment;
use crate::macros::run::MacroRun;
use crate::macros::scope::MacroClock;

pub(crate) const FUNCTIONS: &[Function] = &[
    ("time", 0, 1, time),
    ("time_utc", 1, 1, |run, args| {
        elsewhere(run.scope.clock, &args[0])
    }),
    ("date", 0, 1, |run, args| {
        Some(now(run, args.first().map_or("LL", String::as_str)))
    }),
    ("weekday", 0, 0, |run, _| Some(now(run, "dddd"))),
    ("isotime", 0, 0, |run, _| Some(now(run, "HH:mm"))),
    ("isodate", 0, 0, |run, _| Some(now(run, "YYYY-MM-DD"))),
    ("datetimeformat", 1, 1, |run, args| Some(now(run, &args[0]))),
    ("idleduration", 0, 0, idle),
    ("idle_duration", 0, 0, idle),
    ("timediff", 2, 2, difference),
];

fn now(run: &MacroRun<'_>, pattern: &str) -> String {
    run.scope.clock.map_or(String::new(), |clock| {
        moment::format(pattern, clock.now, clock.offset)
    })
}

/// The current time: local, at another offset (`UTC+2`), or in a given format.
fn time(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    let Some(wanted) = args.first() else {
        return Some(now(run, "LT"));
    };
    match wanted.to_ascii_uppercase().strip_prefix("UTC") {
        Some(offset) => Some(elsewhere(run.scope.clock, offset).unwrap_or_else(|| now(run, "LT"))),
        None => Some(now(run, wanted)),
    }
}

/// The time at another offset. Numbers up to 15 are hours, larger ones minutes.
fn elsewhere(clock: Option<MacroClock>, offset: &str) -> Option<String> {
    let MacroClock {
        now, offset: here, ..
    } = clock?;
    let number: i32 = offset.parse().ok()?;
    let seconds = number.checked_mul(if number.abs() < 16 { 3_600 } else { 60 })?;
    let there = Offset::from_seconds(seconds).ok()?;
    let time = there.to_datetime(here.to_timestamp(now).ok()?);
    Some(moment::format("LT", time, there))
}

fn idle(run: &mut MacroRun<'_>, _: &[String]) -> Option<String> {
    let idle = run.scope.clock.and_then(|clock| clock.idle_seconds);
    Some(idle.map_or("just now".to_owned(), |seconds| {
        moment::humanized(seconds.unsigned_abs())
    }))
}

/// The distance of the first time from the second, such as `in 3 hours` or `3 hours ago`.
fn difference(_: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    let left = moment_of(&args[0])?;
    let right = moment_of(&args[1])?;
    let seconds = left.duration_since(right).as_secs();
    let words = moment::humanized(seconds.unsigned_abs());
    Some(if seconds > 0 {
        format!("in {words}")
    } else {
        format!("{words} ago")
    })
}

/// Parses ISO dates and times, and the formats of `{{date}}` and `{{date}} {{time}}`.
fn moment_of(text: &str) -> Option<DateTime> {
    let text = text.trim();
    let long = || DateTime::strptime("%B %d, %Y %I:%M %p", text).ok();
    let day = || {
        Date::strptime("%B %d, %Y", text)
            .ok()
            .map(|day| day.at(0, 0, 0, 0))
    };
    text.parse().ok().or_else(long).or_else(day)
}
