//! Variables that macros store, and the reading of their values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Maximum number of variables of one kind.
const MAX_VARIABLES: usize = 10_000;
/// Maximum length of the name and the value of a variable, in bytes.
const MAX_VALUE: usize = 1 << 20;

/// The variables that macros read and change. A preview works on a clone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MacroState {
    pub local: BTreeMap<String, String>,
    pub global: BTreeMap<String, String>,
}

impl MacroState {
    pub(super) fn of(&mut self, global: bool) -> &mut BTreeMap<String, String> {
        if global {
            &mut self.global
        } else {
            &mut self.local
        }
    }
}

/// Stores a value. Returns `false` if the value is too long or there are too many variables.
pub(super) fn store(variables: &mut BTreeMap<String, String>, name: &str, value: &str) -> bool {
    let room = variables.contains_key(name) || variables.len() < MAX_VARIABLES;
    let fits = room && name.len() + value.len() <= MAX_VALUE;
    if fits {
        variables.insert(name.to_owned(), value.to_owned());
    }
    fits
}

/// Parses a number; an empty text is zero.
pub(super) fn number(text: &str) -> Option<f64> {
    match text.trim() {
        "" => Some(0.0),
        // Rust would also accept `inf` and `nan`.
        text if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') => {
            text.parse().ok()
        }
        _ => None,
    }
}

/// Formats a number; `None` if it is not finite.
pub(super) fn shown(number: f64) -> Option<String> {
    // Adding 0 turns -0 into 0.
    number.is_finite().then(|| (number + 0.0).to_string())
}

/// False for blank text, `0`, `false` and `off`.
pub(super) fn truth(value: &str) -> bool {
    let value = value.trim();
    !(value.is_empty()
        || ["0", "false", "off"]
            .iter()
            .any(|no| value.eq_ignore_ascii_case(no)))
}
