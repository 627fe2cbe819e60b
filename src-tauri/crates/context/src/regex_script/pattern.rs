//! Compiled patterns: a linear-time engine if possible, otherwise a backtracking engine with a low
//! limit.

use std::ops::Range;

use fancy_regex::RegexInput;

use super::budget::ScriptBudget;
use super::set::ScriptError;
use crate::js_regex::{self, Dialect, RegexFlags, Units};

/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 16 << 10;
/// Maximum size of its compiled form in bytes.
const MAX_COMPILED: usize = 512 << 10;
const MAX_CACHE: usize = 1 << 20;
/// Maximum number of backtracking steps per match attempt, against patterns with exponential time
/// (ReDoS).
const MAX_STEPS: usize = 50_000;
/// Maximum length of a text in bytes, for the linear-time engine.
const MAX_TEXT: usize = 64 << 10;
/// The same for the backtracking engine.
const MAX_TEXT_BACKTRACKING: usize = 32 << 10;
/// Up to this length the backtracking engine searches the whole text at once. Lookaround at every
/// position takes quadratic time, so in longer texts the budget is checked between positions.
const TEXT_AT_ONCE: usize = 2 << 10;
/// Cost of one match attempt in bytes.
const ATTEMPT: usize = 16;
/// An attempt is also charged this fraction of the remaining text, which it may read again.
const ATTEMPT_READS: usize = 64;

/// Scripts must not insert half a surrogate pair into a text.
const HALVES: &str =
    "half a surrogate pair is not a character; write both halves, or \\u{...} with flag u";

#[derive(Debug)]
pub(super) struct Pattern {
    engine: RegexEngine,
    /// Flag `g`: replaces all matches instead of the first.
    pub(super) global: bool,
    /// Flag `y`: a match must begin where the previous one ended.
    pub(super) sticky: bool,
    /// Named groups with their numbers.
    pub(super) names: Vec<(String, usize)>,
    /// The pattern matches UTF-16 units instead of characters.
    units: bool,
}

#[derive(Debug)]
enum RegexEngine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

/// A text prepared for a pattern.
pub(super) struct SearchedText<'t> {
    text: &'t str,
    units: Option<Units>,
}

fn invalid(error: &dyn std::fmt::Display) -> ScriptError {
    ScriptError::Invalid(error.to_string())
}

fn flags(letters: &str) -> RegexFlags {
    let has = |flag| letters.contains(flag);
    RegexFlags {
        ignore_case: has('i'),
        multi_line: has('m'),
        dot_all: has('s'),
        unicode: has('u') || has('v'),
    }
}

fn linear_engine(pattern: &str) -> Result<RegexEngine, ScriptError> {
    let regex = regex::RegexBuilder::new(pattern)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_CACHE)
        .build();
    regex
        .map(RegexEngine::Linear)
        .map_err(|error| invalid(&error))
}

fn backtracking_engine(pattern: &str) -> Result<RegexEngine, ScriptError> {
    let regex = fancy_regex::RegexBuilder::new(pattern)
        .backtrack_limit(MAX_STEPS)
        .delegate_size_limit(MAX_COMPILED)
        .delegate_dfa_size_limit(MAX_CACHE)
        .max_prog_size(MAX_COMPILED / 16)
        .build();
    regex
        .map(RegexEngine::Backtracking)
        .map_err(|error| invalid(&error))
}

/// The ranges of a match and its groups.
pub(super) type PatternMatch = Vec<Option<Range<usize>>>;

impl Pattern {
    pub(super) fn new(written: &str) -> Result<Self, ScriptError> {
        if written.len() > MAX_PATTERN {
            return Err(ScriptError::PatternTooLong);
        }
        let (pattern, letters) = parts(written);
        let flags = flags(letters);
        let translate =
            |dialect| js_regex::translate(pattern, flags, dialect).map_err(|flaw| invalid(&flaw));
        let linear = translate(Dialect::Linear)?;
        if linear.halves {
            return Err(ScriptError::Invalid(HALVES.to_owned()));
        }
        let with = |engine| Self {
            engine,
            global: letters.contains('g'),
            sticky: letters.contains('y'),
            names: linear.names.clone(),
            units: !flags.unicode,
        };
        if !linear.needs_backtracking {
            return Ok(with(linear_engine(&linear.pattern)?));
        }
        let exact = translate(Dialect::Exact)?;
        Ok(with(backtracking_engine(&exact.pattern)?))
    }

    pub(super) fn takes(&self, text: &str) -> bool {
        let most = match self.engine {
            RegexEngine::Linear(_) => MAX_TEXT,
            RegexEngine::Backtracking(_) => MAX_TEXT_BACKTRACKING,
        };
        text.len() <= most
    }

    /// Prepares `text` for repeated searches.
    pub(super) fn read<'t>(&self, text: &'t str) -> SearchedText<'t> {
        SearchedText {
            text,
            units: if self.units { Units::of(text) } else { None },
        }
    }

    /// The first match at or after offset `at`, as ranges of the original text.
    pub(super) fn find(
        &self,
        seen: &SearchedText<'_>,
        at: usize,
        budget: &mut ScriptBudget<'_>,
    ) -> Result<Option<PatternMatch>, ScriptError> {
        let Some(units) = &seen.units else {
            return self.search(seen.text, at, budget);
        };
        let found = self.search(units.text(), units.place(at), budget)?;
        let whole = |part: Option<Range<usize>>| part.map(|part| units.range(&part));
        Ok(found.map(|found| found.into_iter().map(whole).collect()))
    }

    fn search(
        &self,
        text: &str,
        at: usize,
        budget: &mut ScriptBudget<'_>,
    ) -> Result<Option<PatternMatch>, ScriptError> {
        match &self.engine {
            RegexEngine::Linear(regex) => {
                let mut places = regex.capture_locations();
                let found = regex.captures_read_at(&mut places, text, at);
                Ok(found.map(|_| {
                    (0..places.len())
                        .map(|group| places.get(group).map(|(from, to)| from..to))
                        .collect()
                }))
            }
            RegexEngine::Backtracking(regex) if text.len() <= TEXT_AT_ONCE => {
                attempt(regex, RegexInput::new(text).from_pos(at))
            }
            RegexEngine::Backtracking(regex) => {
                let places = (at..=text.len()).filter(|place| text.is_char_boundary(*place));
                for place in places {
                    budget.spend(ATTEMPT + (text.len() - place) / ATTEMPT_READS)?;
                    let found =
                        attempt(regex, RegexInput::new(text).from_pos(place).anchored(true))?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
        }
    }
}

/// Splits off slashes and flags. Without slashes, or with invalid flags, the whole text is the
/// pattern.
fn parts(written: &str) -> (&str, &str) {
    let parts = written
        .strip_prefix('/')
        .and_then(|rest| rest.rsplit_once('/'));
    let valid = |flags: &str| {
        let mut seen = String::new();
        flags.chars().all(|flag| {
            let new = "dgimsuvy".contains(flag) && !seen.contains(flag);
            seen.push(flag);
            new
        })
    };
    parts
        .filter(|(pattern, flags)| !pattern.is_empty() && valid(flags))
        .unwrap_or((written, ""))
}

fn attempt(
    regex: &fancy_regex::Regex,
    input: RegexInput<'_, str>,
) -> Result<Option<PatternMatch>, ScriptError> {
    let found = regex
        .captures_input(input)
        .map_err(|_| ScriptError::TooManySteps)?;
    Ok(found.map(|groups| {
        groups
            .iter()
            .map(|group| group.map(|group| group.range()))
            .collect()
    }))
}
