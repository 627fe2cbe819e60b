//! The `{{macro}}` engine for card texts, greetings, lorebook contents and presets.
//!
//! Guarantees
//! - One pass over the text, inner macros first. Inserted values are not parsed again, so a name, a
//!   variable or a message cannot inject a macro. Card texts and the original prompt have macros of
//!   their own, which are resolved once before insertion.
//! - Unknown or invalid macros stay as text, with their inner macros resolved, and are listed in
//!   [`Expanded::unknown`].
//! - Time and memory are linear in the text: macros nested beyond [`MAX_DEPTH`] stay as text, and
//!   output beyond [`MAX_INSERTED`] is dropped.
//! - The same text, scope and state give the same result: the caller supplies the clock and the
//!   seed.

mod block;
mod calc;
#[cfg(test)]
mod card_tests;
mod chance;
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

pub(crate) use replacement::{MacroMatch, Replacement, expand_pattern};
pub use scope::{CardValues, ChatValues, MacroClock, MacroScope, ModelFacts};
pub use unknown::unknown_macros;
pub use variables::MacroState;
pub(crate) use volatile::is_settled;
pub use volatile::{is_volatile, volatile_macros};

/// Maximum nesting depth of macros and blocks. Deeper ones stay as text.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of bytes that macros may insert during one expansion, inner results included.
pub const MAX_INSERTED: usize = 8 << 20;

/// A text with its macros resolved, and a report about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    pub text: String,
    /// Macros that stayed as text, each once, in order of appearance.
    pub unknown: Vec<String>,
    /// Macros that have no value here and were replaced by nothing, each once, in order of
    /// appearance.
    pub absent: Vec<String>,
    /// Contents of `{{hidden_key:x}}`: not in the text, but matched by lorebook keys.
    pub hidden_keys: Vec<String>,
    /// Contents of `{{banned::x}}`: strings that the reply must not contain.
    pub banned: Vec<String>,
    /// A macro ran whose result differs from turn to turn, so the text would invalidate the cache
    /// in the head of a prompt.
    pub volatile: bool,
    /// A limit was reached, and some values were dropped.
    pub cut: bool,
}

/// Resolves the macros of `text` with the values of `scope`; reads and changes the variables of
/// `state`.
pub fn expand(text: &str, scope: &MacroScope<'_>, state: &mut MacroState) -> Expanded {
    eval::evaluate(&parse::Parsed::new(text), eval::Manner::Text, scope, state)
}
