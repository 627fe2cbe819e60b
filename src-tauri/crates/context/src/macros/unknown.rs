//! Which macros nobody knows: they are sent as they are written.

use super::{MacroScope, MacroState, expand, library};

/// The macros of a text that stay as text in every chat, each once, in order of appearance.
pub fn unknown_macros(text: &str) -> Vec<String> {
    if !text.contains("{{") {
        return Vec::new();
    }
    let mut names = expand(text, &MacroScope::default(), &mut MacroState::default()).unknown;
    // What is known and stays as text lacks only what a chat has: a clock, the right arguments.
    names.retain(|name| library::find(&name.to_ascii_lowercase()).is_none());
    names
}
