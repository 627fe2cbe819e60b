//! SillyTavern's regex scripts on messages, lore and thoughts, for stored, displayed or sent text.
//!
//! Guarantees
//! - A pattern has the meaning that it has in JavaScript (see `js_regex`); an invalid one changes
//!   nothing and is reported. A match of half a surrogate pair covers the whole character, and with
//!   flag `m` alone a line ends only at a line feed.
//! - No script can block a turn: patterns, texts, matches, results and backtracking are limited,
//!   and one [`ScriptBudget`] covers all scripts of a text. A script that exceeds a limit leaves
//!   the text unchanged.
//! - Matched text is never parsed as a macro, so a message cannot inject one through `$1`.

mod budget;
mod pattern;
mod run;
mod set;
#[cfg(test)]
mod tests;

pub use budget::ScriptBudget;
pub use set::{Applied, Channel, CompiledScripts, Failure, ScriptContext, ScriptError, ScriptRun};
