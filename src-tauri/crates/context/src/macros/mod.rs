//! The `{{macro}}` engine of card texts, greetings, lorebook contents and presets (formats.md 1.7, 2.7 and the core of 3.2).
//!
//! Promises
//! - One reading of the text, inner macros first. What is put in is never read again, so a name, a variable or a message
//!   cannot smuggle a macro in. The texts of the card and the one that it replaces have macros of their own: these are
//!   resolved once, on the way in.
//! - What is not understood stays as text, with its inner macros resolved, and is named in [`Expanded::unknown`].
//! - Time and memory grow with the text alone: nesting beyond [`MAX_DEPTH`] stays as text, and what is put in beyond
//!   [`MAX_INSERTED`] is left out.
//! - The same text, scope and state give the same result: the clock and the seed are handed in.

mod block;
mod calc;
#[cfg(test)]
mod card_tests;
mod chance;
mod dice;
mod eval;
#[cfg(test)]
mod grammar_tests;
mod library;
mod logic;
mod moment;
mod parse;
mod replacement;
mod scope;
mod shorthand;
mod sink;
#[cfg(test)]
mod tests;
mod time;
mod unknown;
mod values;
mod variables;
mod volatile;

pub(crate) use replacement::{Hit, Replacement, expand_pattern};
pub use scope::{CardTexts, ChatTexts, Clock, MacroScope, ModelFacts};
pub use unknown::unknown_macros;
pub use variables::MacroState;
pub(crate) use volatile::is_settled;
pub use volatile::{is_volatile, volatile_macros};

/// How deep macros and blocks nest; what is deeper stays as text.
pub const MAX_DEPTH: usize = 64;
/// Bytes that macros may put in during one expansion, inner results included.
pub const MAX_INSERTED: usize = 8 << 20;

/// A text with its macros resolved, and what was found on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// Macros that stayed as text, each named once, in order of appearance.
    pub unknown: Vec<String>,
    /// Macros that have no value here and read as empty, each named once, in order of appearance.
    pub absent: Vec<String>,
    /// What `{{hidden_key:x}}` held: not in the text, yet good for lorebook matching (MC-07).
    pub hidden_keys: Vec<String>,
    /// What `{{banned::x}}` held: strings that the reply shall not contain.
    pub banned: Vec<String>,
    /// A macro ran whose result differs from turn to turn, so the text does not suit the head of a prompt.
    pub volatile: bool,
    /// A limit was reached: some values were left out.
    pub cut: bool,
}

/// Resolves the macros of `text` by what `scope` knows, reading and changing the variables of `state`.
pub fn expand(text: &str, scope: &MacroScope<'_>, state: &mut MacroState) -> Expanded {
    eval::evaluate(&parse::Parsed::new(text), eval::Manner::Text, scope, state)
}
