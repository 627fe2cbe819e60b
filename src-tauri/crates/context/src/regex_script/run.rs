//! Runs one script on one text.

use super::budget::ScriptBudget;
use super::pattern::PatternMatch;
use super::set::{CompiledScript, ScriptError};
use crate::macros::MacroMatch;
use crate::macros::{MacroScope, MacroState, Replacement};

/// Maximum number of matches of one script in one text.
const MAX_HITS: usize = 10_000;
/// Maximum size of the result in bytes.
const MAX_RESULT: usize = 4 << 20;
/// Cost of a search in addition to the bytes that it reads.
const SEARCH: usize = 32;

/// Replaces the first match, or all matches with flag `g`. Returns `None` if there is no match.
pub(super) fn replace(
    script: &CompiledScript,
    text: &str,
    scope: &MacroScope<'_>,
    state: &mut MacroState,
    budget: &mut ScriptBudget<'_>,
) -> Result<Option<(String, usize)>, ScriptError> {
    let pattern = &script.pattern;
    if !pattern.takes(text) {
        return Err(ScriptError::TextTooLong);
    }
    let replacement = Replacement::new(script.replacement());
    let mut changed = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut hits = 0;
    budget.spend(text.len())?;
    let seen = pattern.read(text);
    while let Some(found) = pattern.find(&seen, at, budget)? {
        let Some(whole) = found
            .first()
            .cloned()
            .flatten()
            .filter(|whole| !pattern.sticky || whole.start == at)
        else {
            break;
        };
        hits += 1;
        let groups = groups(script, text, &found);
        let filled = replacement.fill(
            &MacroMatch {
                groups: &groups,
                names: &pattern.names,
            },
            scope,
            state,
        );
        budget.spend(whole.end - at + filled.len() + SEARCH)?;
        changed.push_str(&text[copied..whole.start]);
        changed.push_str(&filled);
        copied = whole.end;
        at = next(text, whole.end, whole.is_empty());
        if hits > MAX_HITS {
            return Err(ScriptError::TooManyHits);
        } else if changed.len() > MAX_RESULT {
            return Err(ScriptError::ResultTooLarge);
        } else if !pattern.global || at > text.len() {
            break;
        }
    }
    changed.push_str(&text[copied..]);
    Ok((hits > 0).then_some((changed, hits)))
}

/// Start of the next search: after the match, or one character further if the match was empty.
fn next(text: &str, end: usize, empty: bool) -> usize {
    if !empty {
        return end;
    }
    end + text[end..].chars().next().map_or(1, char::len_utf8)
}

/// The match and its groups, without the strings that the script trims.
fn groups(script: &CompiledScript, text: &str, found: &PatternMatch) -> Vec<String> {
    let values = found
        .iter()
        .map(|group| group.clone().map_or("", |range| &text[range]));
    let trimmed = |value: &str| {
        script
            .trims
            .iter()
            .fold(value.to_owned(), |value, trim| value.replace(trim, ""))
    };
    values.map(trimmed).collect()
}
