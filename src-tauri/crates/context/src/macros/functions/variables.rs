//! Variables of a chat (local) and of all chats (global).

use crate::macros::function::Function;
use crate::macros::run::MacroRun;
use crate::macros::state::{number, shown, store};

pub(crate) const FUNCTIONS: &[Function] = &[
    ("getvar", 1, 1, get::<false>),
    ("getglobalvar", 1, 1, get::<true>),
    ("setvar", 2, 2, set::<false>),
    ("setglobalvar", 2, 2, set::<true>),
    ("addvar", 2, 2, add_to::<false>),
    ("addglobalvar", 2, 2, add_to::<true>),
    ("incvar", 1, 1, |run, args| step::<false>(run, args, "1")),
    ("incglobalvar", 1, 1, |run, args| {
        step::<true>(run, args, "1")
    }),
    ("decvar", 1, 1, |run, args| step::<false>(run, args, "-1")),
    ("decglobalvar", 1, 1, |run, args| {
        step::<true>(run, args, "-1")
    }),
    ("hasvar", 1, 1, has::<false>),
    ("varexists", 1, 1, has::<false>),
    ("hasglobalvar", 1, 1, has::<true>),
    ("globalvarexists", 1, 1, has::<true>),
    ("deletevar", 1, 1, delete::<false>),
    ("flushvar", 1, 1, delete::<false>),
    ("deleteglobalvar", 1, 1, delete::<true>),
    ("flushglobalvar", 1, 1, delete::<true>),
    ("tempvar", 1, 1, |run, args| {
        Some(run.temporary.get(&args[0]).cloned().unwrap_or_default())
    }),
    ("settempvar", 2, 2, |run, args| {
        run.found.cut |= !store(&mut run.temporary, &args[0], &args[1]);
        Some(String::new())
    }),
];

fn get<const GLOBAL: bool>(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    Some(
        run.state
            .of(GLOBAL)
            .get(&args[0])
            .cloned()
            .unwrap_or_default(),
    )
}

fn set<const GLOBAL: bool>(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    run.found.cut |= !store(run.state.of(GLOBAL), &args[0], &args[1]);
    Some(String::new())
}

fn add_to<const GLOBAL: bool>(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    add(run, GLOBAL, &args[0], &args[1]);
    Some(String::new())
}

fn step<const GLOBAL: bool>(run: &mut MacroRun<'_>, args: &[String], by: &str) -> Option<String> {
    Some(add(run, GLOBAL, &args[0], by))
}

fn has<const GLOBAL: bool>(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    Some(run.state.of(GLOBAL).contains_key(&args[0]).to_string())
}

fn delete<const GLOBAL: bool>(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    run.state.of(GLOBAL).remove(&args[0]);
    Some(String::new())
}

/// Adds two numbers, or appends a text. Returns the result.
pub(crate) fn add(run: &mut MacroRun<'_>, global: bool, name: &str, value: &str) -> String {
    let variables = run.state.of(global);
    let current = variables.get(name).map_or("", String::as_str);
    let sum = number(current)
        .zip(number(value))
        .and_then(|(left, right)| shown(left + right));
    let sum = sum.unwrap_or_else(|| format!("{current}{value}"));
    let stored = store(variables, name, &sum);
    run.found.cut |= !stored;
    run.charge(sum.len());
    sum
}
