//! A compiled pattern: by an engine of linear time where it can be, by a backtracking one with a low limit where it must.

use std::ops::Range;

use super::js::{self, Dialect, Translated};
use super::set::Why;

/// Characters of a pattern; bytes of its compiled form.
const MAX_PATTERN: usize = 16 << 10;
const MAX_COMPILED: usize = 512 << 10;
const MAX_CACHE: usize = 1 << 20;
/// Steps back in one search. Every place where a match might begin takes one, so texts are limited as well.
const MAX_STEPS: usize = 100_000;
/// Bytes of a text, for an engine of linear time and for the backtracking one.
const MAX_TEXT: usize = 1 << 20;
const MAX_TEXT_BACKTRACKING: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Pattern {
    engine: Engine,
    /// `g`: all matches, not the first one alone.
    pub(super) global: bool,
    /// `y`: a match begins where the last one ended.
    pub(super) sticky: bool,
    /// Named groups, with their numbers.
    pub(super) names: Vec<(String, usize)>,
}

#[derive(Debug)]
enum Engine {
    Linear(regex::Regex),
    Backtracking(fancy_regex::Regex),
}

/// Where a match and its groups are.
pub(super) type Found = Vec<Option<Range<usize>>>;

impl Pattern {
    pub(super) fn new(written: &str) -> Result<Self, Why> {
        if written.len() > MAX_PATTERN {
            return Err(Why::PatternTooLong);
        }
        let linear = js::translate(written, Dialect::Linear)?;
        let invalid = |error: &dyn std::fmt::Display| Why::Invalid(error.to_string());
        if !linear.needs_backtracking {
            let mut builder = regex::RegexBuilder::new(&linear.pattern);
            let builder =
                builder.case_insensitive(linear.ignore_case).size_limit(MAX_COMPILED).dfa_size_limit(MAX_CACHE);
            let regex = builder.build().map_err(|error| invalid(&error))?;
            return Ok(Self::with(Engine::Linear(regex), linear));
        }
        let translated = js::translate(written, Dialect::Backtracking)?;
        let mut builder = fancy_regex::RegexBuilder::new(&translated.pattern);
        builder
            .case_insensitive(translated.ignore_case)
            .backtrack_limit(MAX_STEPS)
            .delegate_size_limit(MAX_COMPILED)
            .delegate_dfa_size_limit(MAX_CACHE)
            .max_prog_size(MAX_COMPILED / 16);
        let regex = builder.build().map_err(|error| invalid(&error))?;
        Ok(Self::with(Engine::Backtracking(regex), translated))
    }

    fn with(engine: Engine, translated: Translated) -> Self {
        let Translated { global, sticky, names, .. } = translated;
        Self { engine, global, sticky, names }
    }

    pub(super) fn takes(&self, text: &str) -> bool {
        let most = match self.engine {
            Engine::Linear(_) => MAX_TEXT,
            Engine::Backtracking(_) => MAX_TEXT_BACKTRACKING,
        };
        text.len() <= most
    }

    /// The first match that begins at or behind `at`.
    pub(super) fn find(&self, text: &str, at: usize) -> Result<Option<Found>, Why> {
        match &self.engine {
            Engine::Linear(regex) => {
                let mut places = regex.capture_locations();
                let found = regex.captures_read_at(&mut places, text, at);
                Ok(found.map(|_| (0..places.len()).map(|group| places.get(group).map(|(from, to)| from..to)).collect()))
            }
            Engine::Backtracking(regex) => {
                let found = regex.captures_from_pos(text, at).map_err(|_| Why::TooManySteps)?;
                Ok(found.map(|groups| groups.iter().map(|group| group.map(|group| group.range())).collect()))
            }
        }
    }
}
