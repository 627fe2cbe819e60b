//! Translates JavaScript regular expressions, as used by lorebook keys and regex scripts, for Rust
//! engines.
//!
//! A pattern is parsed by JavaScript's grammar and rewritten for `regex`, or for `fancy-regex` if
//! it needs lookaround or backreferences. Without flag `u` JavaScript matches UTF-16 units, so an
//! emoji is two characters. For such patterns, surrogates in the pattern and in the text are mapped
//! to private-use characters ([`Units`]).

mod case;
mod parse;
mod units;

pub(crate) use units::Units;

/// Flags that affect the meaning of a pattern. `d` and `g` do not affect a single search.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RegexFlags {
    pub(crate) ignore_case: bool,
    pub(crate) multi_line: bool,
    pub(crate) dot_all: bool,
    pub(crate) unicode: bool,
}

/// The engine that runs the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Linear time, without lookaround. Word boundaries are the engine's own, and with flag `m`
    /// only a line feed ends a line.
    Linear,
    /// Exact JavaScript semantics.
    Exact,
}

/// A pattern in Rust syntax.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    pub(crate) pattern: String,
    /// Named groups with their numbers.
    pub(crate) names: Vec<(String, usize)>,
    /// The pattern has lookaround or backreferences, which linear-time engines do not support.
    pub(crate) needs_backtracking: bool,
    /// The pattern has an escape for one half of a surrogate pair, which is not a character.
    pub(crate) halves: bool,
}

/// The reason why JavaScript rejects a pattern.
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
/// Errors
/// The reason why the pattern is invalid.
pub(crate) fn translate(
    pattern: &str,
    flags: RegexFlags,
    dialect: Dialect,
) -> Result<Translated, Flaw> {
    parse::translate(pattern, flags, dialect)
}
