//! Macros in regex scripts: in the pattern and in the replacement.

use super::parse::Parsed;
use super::{MacroScope, MacroState, eval, eval::Manner};

/// A regex match: the whole match, then its groups. Its texts are values, so macros in them are not
/// resolved.
#[derive(Debug)]
pub(crate) struct MacroMatch<'h> {
    pub(crate) groups: &'h [String],
    /// Named groups, with their numbers.
    pub(crate) names: &'h [(String, usize)],
}

impl MacroMatch<'_> {
    pub(super) fn whole(&self) -> &str {
        self.group(0)
    }

    /// The value of a reference at the start of `text` (`$1`, `$<name>`, `$&`), and the length of
    /// the reference. A group without a match is empty.
    pub(super) fn reference(&self, text: &str) -> Option<(&str, usize)> {
        let behind = text.strip_prefix('$')?;
        if behind.starts_with('&') {
            return Some((self.whole(), 2));
        }
        if let Some((name, _)) = behind
            .strip_prefix('<')
            .and_then(|rest| rest.split_once('>'))
        {
            let named = self.names.iter().find(|(known, _)| known == name);
            return named.map(|(_, number)| (self.group(*number), name.len() + 3));
        }
        let digits = behind
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(behind.len());
        let number = behind[..digits].parse().ok()?;
        Some((self.group(number), digits + 1))
    }

    fn group(&self, number: usize) -> &str {
        self.groups.get(number).map_or("", String::as_str)
    }
}

/// A replacement text, parsed once for all matches.
pub(crate) struct Replacement<'t>(Parsed<'t>);

impl<'t> Replacement<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self(Parsed::new(text))
    }

    pub(crate) fn fill(
        &self,
        hit: &MacroMatch<'_>,
        scope: &MacroScope<'_>,
        state: &mut MacroState,
    ) -> String {
        eval::evaluate(&self.0, Manner::Replacement(hit), scope, state).text
    }
}

/// Resolves the macros of a pattern and passes each value through `shape`. Other text stays
/// unchanged, because braces and angle brackets have other meanings in a regex.
pub(crate) fn expand_pattern(
    pattern: &str,
    scope: &MacroScope<'_>,
    state: &mut MacroState,
    shape: fn(&str) -> String,
) -> String {
    eval::evaluate(&Parsed::new(pattern), Manner::Pattern(shape), scope, state).text
}
