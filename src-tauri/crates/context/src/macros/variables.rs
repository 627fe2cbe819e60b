//! Variables of a chat (local) and of all chats (global).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::eval::Evaluator;
use super::library::Function;

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

pub(super) const FUNCTIONS: &[Function] = &[
    ("getvar", 1, 1, get::<false>),
    ("getglobalvar", 1, 1, get::<true>),
    ("setvar", 2, 2, set::<false>),
    ("setglobalvar", 2, 2, set::<true>),
    ("addvar", 2, 2, add_to::<false>),
    ("addglobalvar", 2, 2, add_to::<true>),
    ("incvar", 1, 1, |evaluator, args| {
        step::<false>(evaluator, args, "1")
    }),
    ("incglobalvar", 1, 1, |evaluator, args| {
        step::<true>(evaluator, args, "1")
    }),
    ("decvar", 1, 1, |evaluator, args| {
        step::<false>(evaluator, args, "-1")
    }),
    ("decglobalvar", 1, 1, |evaluator, args| {
        step::<true>(evaluator, args, "-1")
    }),
    ("hasvar", 1, 1, has::<false>),
    ("varexists", 1, 1, has::<false>),
    ("hasglobalvar", 1, 1, has::<true>),
    ("globalvarexists", 1, 1, has::<true>),
    ("deletevar", 1, 1, delete::<false>),
    ("flushvar", 1, 1, delete::<false>),
    ("deleteglobalvar", 1, 1, delete::<true>),
    ("flushglobalvar", 1, 1, delete::<true>),
    ("tempvar", 1, 1, |evaluator, args| {
        Some(
            evaluator
                .temporary
                .get(&args[0])
                .cloned()
                .unwrap_or_default(),
        )
    }),
    ("settempvar", 2, 2, |evaluator, args| {
        evaluator.found.cut |= !store(&mut evaluator.temporary, &args[0], &args[1]);
        Some(String::new())
    }),
];

fn get<const GLOBAL: bool>(evaluator: &mut Evaluator<'_>, args: &[String]) -> Option<String> {
    Some(
        evaluator
            .state
            .of(GLOBAL)
            .get(&args[0])
            .cloned()
            .unwrap_or_default(),
    )
}

fn set<const GLOBAL: bool>(evaluator: &mut Evaluator<'_>, args: &[String]) -> Option<String> {
    evaluator.found.cut |= !store(evaluator.state.of(GLOBAL), &args[0], &args[1]);
    Some(String::new())
}

fn add_to<const GLOBAL: bool>(evaluator: &mut Evaluator<'_>, args: &[String]) -> Option<String> {
    add(evaluator, GLOBAL, &args[0], &args[1]);
    Some(String::new())
}

fn step<const GLOBAL: bool>(
    evaluator: &mut Evaluator<'_>,
    args: &[String],
    by: &str,
) -> Option<String> {
    Some(add(evaluator, GLOBAL, &args[0], by))
}

fn has<const GLOBAL: bool>(evaluator: &mut Evaluator<'_>, args: &[String]) -> Option<String> {
    Some(
        evaluator
            .state
            .of(GLOBAL)
            .contains_key(&args[0])
            .to_string(),
    )
}

fn delete<const GLOBAL: bool>(evaluator: &mut Evaluator<'_>, args: &[String]) -> Option<String> {
    evaluator.state.of(GLOBAL).remove(&args[0]);
    Some(String::new())
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

/// Adds two numbers, or appends a text. Returns the result.
pub(super) fn add(evaluator: &mut Evaluator<'_>, global: bool, name: &str, value: &str) -> String {
    let variables = evaluator.state.of(global);
    let current = variables.get(name).map_or("", String::as_str);
    let sum = number(current)
        .zip(number(value))
        .and_then(|(left, right)| shown(left + right));
    let sum = sum.unwrap_or_else(|| format!("{current}{value}"));
    let stored = store(variables, name, &sum);
    evaluator.found.cut |= !stored;
    evaluator.charge(sum.len());
    sum
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
