//! Comparison, arithmetic and string functions, as in RisuAI. Truth values are `1` and `0`.

use crate::macros::function::Function;
use crate::macros::functions::calc;
use crate::macros::run::{MAX_INSERTED, MacroRun};
use crate::macros::state::{number, shown, truth};

pub(crate) const FUNCTIONS: &[Function] = &[
    ("equal", 2, 2, |_, args| yes(args[0] == args[1])),
    ("notequal", 2, 2, |_, args| yes(args[0] != args[1])),
    ("greater", 2, 2, |_, args| {
        compared(args, |left, right| left > right)
    }),
    ("greaterequal", 2, 2, |_, args| {
        compared(args, |left, right| left >= right)
    }),
    ("less", 2, 2, |_, args| {
        compared(args, |left, right| left < right)
    }),
    ("lessequal", 2, 2, |_, args| {
        compared(args, |left, right| left <= right)
    }),
    ("and", 2, MANY, |_, args| {
        yes(args.iter().all(|arg| truth(arg)))
    }),
    ("all", 1, MANY, |_, args| {
        yes(args.iter().all(|arg| truth(arg)))
    }),
    ("or", 2, MANY, |_, args| {
        yes(args.iter().any(|arg| truth(arg)))
    }),
    ("any", 1, MANY, |_, args| {
        yes(args.iter().any(|arg| truth(arg)))
    }),
    ("not", 1, 1, |_, args| yes(!truth(&args[0]))),
    ("calc", 1, 1, |_, args| calc::shown(&args[0])),
    ("min", 1, MANY, |_, args| folded(args, f64::min)),
    ("max", 1, MANY, |_, args| folded(args, f64::max)),
    ("floor", 1, 1, |_, args| rounded(args, f64::floor)),
    ("ceil", 1, 1, |_, args| rounded(args, f64::ceil)),
    ("round", 1, 1, |_, args| rounded(args, f64::round)),
    ("abs", 1, 1, |_, args| rounded(args, f64::abs)),
    ("lower", 1, 1, |_, args| Some(args[0].to_lowercase())),
    ("upper", 1, 1, |_, args| Some(args[0].to_uppercase())),
    ("length", 1, 1, |_, args| {
        Some(args[0].chars().count().to_string())
    }),
    ("contains", 2, 2, |_, args| yes(args[0].contains(&args[1]))),
    ("startswith", 2, 2, |_, args| {
        yes(args[0].starts_with(&args[1]))
    }),
    ("endswith", 2, 2, |_, args| yes(args[0].ends_with(&args[1]))),
    ("replace", 3, 3, replace),
];

const MANY: usize = 1_000;

fn yes(holds: bool) -> Option<String> {
    Some(if holds { "1" } else { "0" }.to_owned())
}

fn compared(args: &[String], compare: fn(f64, f64) -> bool) -> Option<String> {
    yes(compare(number(&args[0])?, number(&args[1])?))
}

fn folded(args: &[String], fold: fn(f64, f64) -> f64) -> Option<String> {
    let numbers: Option<Vec<f64>> = args.iter().map(|arg| number(arg)).collect();
    shown(numbers?.into_iter().reduce(fold)?)
}

fn rounded(args: &[String], round: fn(f64) -> f64) -> Option<String> {
    shown(round(number(&args[0])?))
}

fn replace(run: &mut MacroRun<'_>, args: &[String]) -> Option<String> {
    let [text, old, new] = args else { return None };
    let hits = if old.is_empty() {
        0
    } else {
        text.matches(old.as_str()).count()
    };
    if hits.saturating_mul(new.len()) > MAX_INSERTED {
        run.found.cut = true;
        return None;
    }
    Some(if hits == 0 {
        text.clone()
    } else {
        text.replace(old.as_str(), new)
    })
}
