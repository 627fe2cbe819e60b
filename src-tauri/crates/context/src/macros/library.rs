//! The table of all macros by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::macros::function::{ReadOptional, ReadText, ReadValue, Run};
use crate::macros::functions::{chance, logic, time, values, variables};

#[derive(Clone, Copy)]
pub(super) enum KnownMacro {
    Value(ReadValue),
    /// Empty if absent; its name is then listed in [`super::Expanded::absent`].
    Optional(ReadOptional),
    /// A card text, whose own macros are resolved when it is inserted.
    Text(ReadText),
    /// Takes `least` to `most` arguments; further arguments are joined to the last one.
    Function {
        least: usize,
        most: usize,
        run: Run,
    },
    /// Chooses one argument at random and evaluates only that one.
    Random,
    /// Like `Random`, but stable: the same choice at this position of this text in this chat.
    Pick,
    If,
    Else,
    Trim,
    Noop,
    Comment,
}

/// Finds a macro by its lower-case name.
pub(super) fn find(name: &str) -> Option<KnownMacro> {
    KNOWN.get(name).copied()
}

/// Number of arguments of the opening macro of a block `{{name}}...{{/name}}`; the content is one
/// more.
pub(super) fn block_arguments(name: &str) -> Option<usize> {
    match name {
        "if" | "setvar" | "addvar" | "setglobalvar" | "addglobalvar" | "settempvar" => Some(1),
        "//" | "comment" | "trim" | "reverse" | "hidden_key" | "hiddenkey" | "banned" | "lower"
        | "upper" => Some(0),
        _ => None,
    }
}

static KNOWN: LazyLock<HashMap<&'static str, KnownMacro>> = LazyLock::new(|| {
    let values = values::VALUES
        .iter()
        .map(|(name, read)| (*name, KnownMacro::Value(*read)));
    let optional = values::OPTIONAL
        .iter()
        .map(|(name, read)| (*name, KnownMacro::Optional(*read)));
    let texts = values::TEXTS
        .iter()
        .map(|(name, read)| (*name, KnownMacro::Text(*read)));
    let functions = [
        values::FUNCTIONS,
        time::FUNCTIONS,
        chance::FUNCTIONS,
        variables::FUNCTIONS,
        logic::FUNCTIONS,
    ];
    let functions = functions.into_iter().flatten();
    let functions = functions.map(|(name, least, most, run)| {
        (
            *name,
            KnownMacro::Function {
                least: *least,
                most: *most,
                run: *run,
            },
        )
    });
    let forms = [
        ("random", KnownMacro::Random),
        ("pick", KnownMacro::Pick),
        ("if", KnownMacro::If),
        ("else", KnownMacro::Else),
        ("trim", KnownMacro::Trim),
        ("noop", KnownMacro::Noop),
        ("//", KnownMacro::Comment),
        ("comment", KnownMacro::Comment),
    ];
    values
        .chain(optional)
        .chain(texts)
        .chain(functions)
        .chain(forms)
        .collect()
});
