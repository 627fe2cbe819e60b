//! Patterns of JavaScript on engines of Rust: those of lorebook keys and of regex scripts.
//!
//! A pattern is read by JavaScript's grammar and written anew for `regex`, or for `fancy-regex` where it looks around or back.
//! Without flag `u` JavaScript sees UTF-16 units, so an emoji is two characters: for such patterns pattern and text have
//! their surrogates mapped to private characters, which both engines then count as it does ([`Units`]).

mod case;
mod parse;
mod units;

pub(crate) use units::Units;

/// Flags that change what a pattern means. `d` and `g` do not, for one search.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flags {
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
    pub(crate) dot_all: bool,
    pub(crate) unicode: bool,
}

/// Who will read the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// An engine of linear time, which knows no looking around: word boundaries are its own, and with flag `m` a line ends at
    /// a line feed and nowhere else.
    Linear,
    /// JavaScript's meaning to the letter.
    Exact,
}

/// A pattern in Rust's words.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    pub(crate) pattern: String,
    /// Named groups, with their numbers.
    pub(crate) names: Vec<(String, usize)>,
    /// It looks around or refers back, which no engine of linear time does.
    pub(crate) needs_backtracking: bool,
    /// It names one half of a surrogate pair by its number, which is no character.
    pub(crate) halves: bool,
}

/// Why JavaScript would refuse a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Flaw(String);

impl From<&str> for Flaw {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// Translates a pattern without its slashes.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn translate(pattern: &str, flags: Flags, dialect: Dialect) -> Result<Translated, Flaw> {
    parse::translate(pattern, flags, dialect)
}
