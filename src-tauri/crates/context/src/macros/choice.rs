//! Evaluates `{{random}}` and `{{pick}}`.

use super::eval::Evaluator;
use super::parse::{Parsed, TextSpan};
use crate::macros::functions::chance::Numbers;

/// Chooses one item of a list. If `stable`, the position of the macro decides the choice. Only the
/// chosen item is resolved.
pub(super) fn choose(
    evaluator: &mut Evaluator<'_>,
    index: usize,
    args: usize,
    stable: bool,
    depth: usize,
) -> String {
    let parsed = evaluator.parsed;
    let mut numbers = if stable {
        Numbers::at(&mut evaluator.run, parsed.spans[index].start)
    } else {
        Numbers::next(&mut evaluator.run)
    };
    let mut items = parsed.arguments(index, args);
    let by_comma = items.len() == 1;
    if by_comma {
        items = comma_separated(parsed, &items[0]);
    }
    let Some(item) = numbers.one_of(&items) else {
        return String::new();
    };
    let value = evaluator.value(item, depth);
    if items.len() == 1 && parsed.literal(item).is_none() {
        // The list may come from a variable, or from blocks that hold one item each.
        one_of_value(&value, &mut numbers)
    } else if by_comma {
        value.replace("\\,", ",")
    } else {
        value
    }
}

fn comma_separated(parsed: &Parsed<'_>, list: &TextSpan) -> Vec<TextSpan> {
    let items = parsed.split(list, ",").into_iter();
    items.map(|item| parsed.trimmed(item)).collect()
}

/// One item of a list that is the value of a macro.
fn one_of_value(value: &str, numbers: &mut Numbers) -> String {
    let list = value.trim().trim_start_matches("::");
    let separator = if value.contains("::") { "::" } else { "," };
    let items: Vec<&str> = list.split(separator).map(str::trim).collect();
    numbers
        .one_of(&items)
        .map_or(String::new(), |item| (*item).to_owned())
}
