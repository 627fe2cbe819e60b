//! SillyTavern's regex scripts over messages, lore and thoughts: what is stored, shown or sent.
//!
//! Promises
//! - A pattern means what it means in JavaScript (see `js_regex`); one that means nothing changes nothing and is reported. What
//!   it finds of half a character is the whole one, and with flag `m` alone a line ends at a line feed.
//! - No script can hang a turn: patterns, texts, hits, results and backtracking have limits, and a [`Budget`] holds for all
//!   scripts of a text together. What runs over leaves the text as it was.
//! - What was found is never read as a macro: a message cannot smuggle one in through `$1`.

mod budget;
mod pattern;
mod run;
mod set;
#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use set::{Applied, Channel, CompiledScripts, Failure, Occasion, Ran, Why};

/// Why a text is there, with the scripts that changed it: for the X-ray.
pub fn reason(reason: &str, scripts: &[String]) -> String {
    match scripts {
        [] => reason.to_owned(),
        [one] => format!("{reason}; rewritten by the script \"{one}\""),
        all => format!("{reason}; rewritten by the scripts \"{}\"", all.join("\", \"")),
    }
}
