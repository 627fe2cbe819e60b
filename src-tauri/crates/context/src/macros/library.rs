//! Every macro by its name.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::eval::Evaluator;
use super::scope::MacroScope;
use super::{chance, logic, time, values, variables};

/// Reads a value out of the scope.
pub(super) type ReadValue = for<'s> fn(&'s MacroScope<'_>) -> Cow<'s, str>;
/// Reads a value that the scope may lack.
pub(super) type ReadOptional = for<'s> fn(&'s MacroScope<'_>) -> Option<Cow<'s, str>>;
/// Reads a text of the card out of the scope.
pub(super) type ReadText = for<'s> fn(&MacroScope<'s>) -> &'s str;
/// Runs on arguments that are resolved already. `None`: they make no sense, the macro stays as text.
pub(super) type Run = fn(&mut Evaluator<'_>, &[String]) -> Option<String>;

#[derive(Clone, Copy)]
pub(super) enum Known {
    Value(ReadValue),
    /// Empty where there is none, and named in [`super::Expanded::absent`] then.
    Optional(ReadOptional),
    /// Its own macros are resolved when it is put in.
    Text(ReadText),
    /// Takes so many arguments at least and at most; what is too much belongs to the last one.
    Function {
        least: usize,
        most: usize,
        run: Run,
    },
    /// One of its arguments, by chance; the others are not run.
    Random,
    /// The same, but always the same one at this place of this text in this chat.
    Pick,
    If,
    Else,
    Trim,
    Noop,
    Comment,
}

/// `name`, least and most arguments, what it does.
pub(super) type Function = (&'static str, usize, usize, Run);

/// What a name in lower case means.
pub(super) fn find(name: &str) -> Option<Known> {
    KNOWN.get(name).copied()
}

/// How many arguments stand in the opening macro of a block `{{name}}...{{/name}}`; the content is one more.
pub(super) fn block_arguments(name: &str) -> Option<usize> {
    match name {
        "if" | "setvar" | "addvar" | "setglobalvar" | "addglobalvar" | "settempvar" => Some(1),
        "//" | "comment" | "trim" | "reverse" | "hidden_key" | "hiddenkey" | "banned" | "lower" | "upper" => Some(0),
        _ => None,
    }
}

static KNOWN: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
    let values = values::VALUES.iter().map(|(name, read)| (*name, Known::Value(*read)));
    let optional = values::OPTIONAL.iter().map(|(name, read)| (*name, Known::Optional(*read)));
    let texts = values::TEXTS.iter().map(|(name, read)| (*name, Known::Text(*read)));
    let functions = [values::FUNCTIONS, time::FUNCTIONS, chance::FUNCTIONS, variables::FUNCTIONS, logic::FUNCTIONS];
    let functions = functions.into_iter().flatten();
    let functions =
        functions.map(|(name, least, most, run)| (*name, Known::Function { least: *least, most: *most, run: *run }));
    let forms = [
        ("random", Known::Random),
        ("pick", Known::Pick),
        ("if", Known::If),
        ("else", Known::Else),
        ("trim", Known::Trim),
        ("noop", Known::Noop),
        ("//", Known::Comment),
        ("comment", Known::Comment),
    ];
    values.chain(optional).chain(texts).chain(functions).chain(forms).collect()
});
