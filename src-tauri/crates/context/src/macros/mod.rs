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
mod choice;
mod eval;
mod function;
mod functions;
mod library;
mod parse;
mod replacement;
mod run;
mod scope;
mod shorthand;
mod sink;
mod state;
#[cfg(test)]
mod tests;
mod unknown;
mod volatile;

pub(crate) use replacement::{MacroMatch, Replacement, expand_pattern};
pub use run::{Expanded, MAX_INSERTED};
pub use scope::{CardValues, ChatValues, MacroClock, MacroScope, ModelFacts};
pub use state::MacroState;
pub use unknown::unknown_macros;
pub(crate) use volatile::is_settled;
pub use volatile::{is_volatile, volatile_macros};

pub use self::eval::expand;
pub use self::run::MAX_DEPTH;
