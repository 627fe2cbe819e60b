//! Lists the unknown macros of a text, which are sent to the model as text.

use super::{MacroScope, MacroState, library};
use crate::macros::eval::expand;

/// The macros of a text that stay as text in every chat, each once, in order of appearance.
pub fn unknown_macros(text: &str) -> Vec<String> {
    if !text.contains("{{") {
        return Vec::new();
    }
    let mut names = expand(text, &MacroScope::default(), &mut MacroState::default()).unknown;
    // A known macro that stayed as text only lacks values of a chat, such as a clock, or valid
    // arguments.
    names.retain(|name| library::find(&name.to_ascii_lowercase()).is_none());
    names
}
