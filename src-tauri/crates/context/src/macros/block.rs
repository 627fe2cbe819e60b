//! Evaluates block macros, `{{name}}...{{/name}}`, and conditions.

use std::borrow::Cow;

use super::eval::Evaluator;
use super::library::{self, KnownMacro};
use super::parse::{HeadKind, Parsed, TextSpan};
use super::shorthand;
use super::sink::{Sink, dedented};
use super::state::truth;

/// Writes the block between an opening and a closing macro.
pub(super) fn write(
    evaluator: &mut Evaluator<'_>,
    opener: usize,
    closer: usize,
    depth: usize,
    sink: &mut Sink,
) {
    let parsed = evaluator.parsed;
    let head = &parsed.spans[opener].head;
    let HeadKind::Named { name, args } = &head.kind else {
        return;
    };
    let content = parsed.content(opener, closer);
    let shaped = |text: String| if head.verbatim { text } else { dedented(&text) };
    match library::find(name) {
        Some(KnownMacro::If) => {
            let condition = parsed.arguments(opener, *args);
            if let Some(branch) = condition
                .first()
                .and_then(|condition| branch(evaluator, condition, &content, depth))
            {
                let text = evaluator.value(&branch, depth);
                sink.push(&shaped(text));
            }
        }
        Some(KnownMacro::Trim) => {
            let text = evaluator.value(&content, depth);
            sink.push(&shaped(text));
        }
        Some(KnownMacro::Function { .. }) => {
            let mut values = evaluator.arguments(opener, *args, depth);
            let text = evaluator.value(&content, depth);
            values.push(shaped(text.clone()));
            if !evaluator.call(opener, &values, sink) {
                evaluator.as_source(opener, *args, &values, sink);
                evaluator.insert(&text, sink);
                let closing = &parsed.spans[closer];
                sink.push(&parsed.source[closing.start..closing.end]);
            }
        }
        _ => {}
    }
}

/// Writes `{{if condition::then}}`; its text may contain an `{{else}}`.
pub(super) fn write_inline(
    evaluator: &mut Evaluator<'_>,
    index: usize,
    args: usize,
    depth: usize,
    sink: &mut Sink,
) {
    let parsed = evaluator.parsed;
    let pieces = parsed.arguments(index, args);
    let [condition, then, ..] = pieces.as_slice() else {
        return evaluator.as_text(index, depth, sink);
    };
    let whole = parsed.inner(index, args);
    let content = parsed.trimmed(TextSpan {
        text: then.text.start..whole.text.end,
        spans: then.spans.start..whole.spans.end,
    });
    if let Some(branch) = branch(evaluator, condition, &content, depth) {
        let branch = parsed.trimmed(branch);
        evaluator.write(&branch, depth, sink);
    }
}

/// The branch of `content` that the condition selects, if it exists.
fn branch(
    evaluator: &mut Evaluator<'_>,
    condition: &TextSpan,
    content: &TextSpan,
    depth: usize,
) -> Option<TextSpan> {
    let (then, otherwise) = branches(evaluator.parsed, content);
    if holds(evaluator, condition, depth) {
        Some(then)
    } else {
        otherwise
    }
}

/// Splits `content` at its own `{{else}}` and ignores those of nested blocks.
fn branches(parsed: &Parsed<'_>, content: &TextSpan) -> (TextSpan, Option<TextSpan>) {
    let mut index = content.spans.start;
    while index < content.spans.end {
        let span = &parsed.spans[index];
        if matches!(&span.head.kind, HeadKind::Named { name, .. } if name == "else" && !span.head.closing)
        {
            let then = TextSpan {
                text: content.text.start..span.start,
                spans: content.spans.start..index,
            };
            let otherwise = TextSpan {
                text: span.end..content.text.end,
                spans: span.next..content.spans.end,
            };
            return (then, Some(otherwise));
        }
        index = parsed.spans[parsed.closer_within(index, content).unwrap_or(index)].next;
    }
    (content.clone(), None)
}

/// Evaluates a condition: the name of a macro, a variable, or any text; `!` negates it. A variable
/// is `.name` or `$name`, optionally with a comparison, or the bare name of a variable of the chat.
fn holds(evaluator: &mut Evaluator<'_>, condition: &TextSpan, depth: usize) -> bool {
    let parsed = evaluator.parsed;
    let mut condition = condition.clone();
    let literal = &parsed.source[condition.text.start..parsed.literal_end(&condition)];
    let inverted = literal.starts_with('!');
    if inverted {
        condition.text.start += 1;
        condition = parsed.trimmed(condition);
    }
    let variable = variable(parsed, &condition);
    let value = match (variable, parsed.literal(&condition)) {
        (Some(global), _) => {
            let at = condition.text.start + 1;
            let rest = TextSpan {
                text: at..condition.text.end,
                spans: condition.spans.clone(),
            };
            shorthand::evaluate(evaluator, global, &rest, depth).map(Cow::Owned)
        }
        (None, Some(name)) => evaluator.by_name(&name.to_ascii_lowercase()).or_else(|| {
            evaluator
                .run
                .state
                .of(false)
                .get(name)
                .cloned()
                .map(Cow::Owned)
        }),
        (None, None) => None,
    };
    let value = value.unwrap_or_else(|| evaluator.value(&condition, depth).into());
    truth(&value) != inverted
}

fn variable(parsed: &Parsed<'_>, condition: &TextSpan) -> Option<bool> {
    match parsed.source[condition.text.clone()].chars().next() {
        Some('.') => Some(false),
        Some('$') => Some(true),
        _ => None,
    }
}
