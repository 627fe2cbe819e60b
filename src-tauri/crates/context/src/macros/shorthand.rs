//! Variable shorthands: `{{.name}}` for variables of the chat and `{{$name}}` for global ones, with
//! optional operators.

use super::eval::Evaluator;
use super::parse::TextSpan;
use super::state::{number, shown, store, truth};
use crate::macros::functions::variables;

/// Longer operators precede their prefixes, so that `??=` is not parsed as `??`.
const OPERATORS: [&str; 15] = [
    "??=", "||=", "??", "||", "++", "--", "+=", "-=", "==", "!=", ">=", "<=", ">", "<", "=",
];

/// Evaluates the expression of span `index`, which begins at `at`. `None` if it is invalid.
pub(super) fn run(
    evaluator: &mut Evaluator<'_>,
    index: usize,
    global: bool,
    at: usize,
    depth: usize,
) -> Option<String> {
    let piece = evaluator.parsed.inner(index, at);
    evaluate(evaluator, global, &piece, depth)
}

/// Evaluates an expression, which begins with the name of the variable. The right side is resolved
/// only if needed.
pub(super) fn evaluate(
    evaluator: &mut Evaluator<'_>,
    global: bool,
    piece: &TextSpan,
    depth: usize,
) -> Option<String> {
    let parsed = evaluator.parsed;
    let piece = parsed.trimmed(piece.clone());
    let text = &parsed.source[piece.text.start..parsed.literal_end(&piece)];
    let name = name(text)?;
    let behind = text[name.len()..].trim_start();
    let operator = OPERATORS
        .into_iter()
        .find(|operator| behind.starts_with(operator));
    let at = piece.text.start + (text.len() - behind.len()) + operator.map_or(0, str::len);
    let right = parsed.trimmed(TextSpan {
        text: at..piece.text.end,
        spans: piece.spans,
    });
    let mut variable = Variable {
        evaluator,
        global,
        name,
    };
    match operator {
        None if right.text.is_empty() => Some(variable.get().unwrap_or_default()),
        None => None,
        Some(operator) => variable.apply(operator, &right, depth),
    }
}

/// A letter, then letters, digits, `_` and `-`. Trailing `-` are excluded, because they may belong
/// to `--`.
fn name(text: &str) -> Option<&str> {
    let length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(text.len());
    let name = text[..length].trim_end_matches('-');
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        .then_some(name)
}

struct Variable<'v, 'e> {
    evaluator: &'v mut Evaluator<'e>,
    global: bool,
    name: &'v str,
}

impl Variable<'_, '_> {
    fn apply(&mut self, operator: &str, right: &TextSpan, depth: usize) -> Option<String> {
        let bare = right.text.is_empty();
        Some(match operator {
            "++" | "--" if !bare => return None,
            "++" => self.add("1"),
            "--" => self.add("-1"),
            "=" => {
                self.set(right, depth);
                String::new()
            }
            "+=" => {
                let value = self.right(right, depth);
                self.add(&value);
                String::new()
            }
            "-=" => {
                let value = number(&self.right(right, depth))?;
                self.add(&shown(-value)?);
                String::new()
            }
            "??" => self.get().unwrap_or_else(|| self.right(right, depth)),
            "||" => self
                .get()
                .filter(|value| truth(value))
                .unwrap_or_else(|| self.right(right, depth)),
            "??=" => self.get().unwrap_or_else(|| self.set(right, depth)),
            "||=" => self
                .get()
                .filter(|value| truth(value))
                .unwrap_or_else(|| self.set(right, depth)),
            _ => {
                let value = self.right(right, depth);
                compared(&self.get().unwrap_or_default(), operator, &value).to_string()
            }
        })
    }

    fn get(&mut self) -> Option<String> {
        let value = self
            .evaluator
            .run
            .state
            .of(self.global)
            .get(self.name)
            .cloned()?;
        self.evaluator.run.charge(value.len()).then_some(value)
    }

    fn right(&mut self, piece: &TextSpan, depth: usize) -> String {
        self.evaluator.value(piece, depth)
    }

    fn set(&mut self, piece: &TextSpan, depth: usize) -> String {
        let value = self.right(piece, depth);
        let run = &mut self.evaluator.run;
        run.found.cut |= !store(run.state.of(self.global), self.name, &value);
        value
    }

    fn add(&mut self, value: &str) -> String {
        self.evaluator.run.found.volatile = true;
        variables::add(&mut self.evaluator.run, self.global, self.name, value)
    }
}

/// Compares numerically if both sides are numbers; other texts can only be equal or not.
fn compared(left: &str, operator: &str, right: &str) -> bool {
    match (number(left), operator, number(right)) {
        (Some(left), "==", Some(right)) => left == right,
        (Some(left), "!=", Some(right)) => left != right,
        (Some(left), ">=", Some(right)) => left >= right,
        (Some(left), "<=", Some(right)) => left <= right,
        (Some(left), ">", Some(right)) => left > right,
        (Some(left), "<", Some(right)) => left < right,
        (_, "==", _) => left == right,
        (_, "!=", _) => left != right,
        _ => false,
    }
}
