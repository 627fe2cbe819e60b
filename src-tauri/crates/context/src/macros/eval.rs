//! Evaluator: walks a parsed text and writes the values of its macros.

use std::borrow::Cow;

use super::library::KnownMacro;
use super::parse::{HeadKind, Parsed, TextSpan};
use super::run::{Expanded, MAX_INSERTED, MacroRun};
use super::scope::MacroScope;
use super::sink::Sink;
use super::state::MacroState;
use super::{block, choice, library, shorthand, volatile};
use crate::macros::functions::{calc, values};
use crate::macros::replacement::MacroMatch;
use crate::macros::run::MAX_DEPTH;

/// Maximum number of distinct unknown macros that are reported for one text.
const MAX_REPORTED: usize = 100;
/// Maximum length of each reported name, in characters.
const MAX_REPORTED_CHARS: usize = 60;
/// Maximum nesting depth in a text that a macro inserts. Deeper macros stay as text.
const MAX_NESTED_DEPTH: usize = 16;

/// The kind of text that is evaluated.
#[derive(Clone, Copy)]
pub(super) enum Manner<'e> {
    Text,
    /// A regex: plain text stays unchanged, and values are shaped to fit.
    Pattern(fn(&str) -> String),
    /// The replacement text for a regex match; plain text may refer to the groups of the match.
    Replacement(&'e MacroMatch<'e>),
}

pub(super) fn evaluate(
    parsed: &Parsed<'_>,
    manner: Manner<'_>,
    scope: &MacroScope<'_>,
    state: &mut MacroState,
) -> Expanded {
    let mut evaluator = Evaluator {
        parsed,
        manner,
        run: MacroRun::new(parsed.source, scope, state, expand_inner),
    };
    let mut sink = Sink::default();
    evaluator.write(&parsed.whole(), 0, &mut sink);
    Expanded {
        text: sink.into_text(),
        ..evaluator.run.found
    }
}

/// A text with its macros resolved. Random results are the same as if the text were evaluated
/// alone. Reading a text uses up the size limit like writing it, which bounds the cost of many
/// macros that read a long text and write nothing.
fn expand_inner(run: &mut MacroRun<'_>, text: &str, scope: &MacroScope<'_>) -> String {
    if !run.charge(text.len()) {
        return String::new();
    }
    let parsed = Parsed::new(text);
    let mut inner = Evaluator {
        parsed: &parsed,
        manner: Manner::Text,
        run: MacroRun::new(text, scope, &mut *run.state, expand_inner),
    };
    inner.run.temporary = std::mem::take(&mut run.temporary);
    inner.run.found = std::mem::take(&mut run.found);
    inner.run.inserted = run.inserted;
    let mut sink = Sink::default();
    inner.write(&parsed.whole(), MAX_DEPTH - MAX_NESTED_DEPTH, &mut sink);
    let inner = inner.run;
    run.temporary = inner.temporary;
    run.found = inner.found;
    run.inserted = inner.inserted;
    sink.into_text()
}

pub(super) struct Evaluator<'e> {
    pub(super) parsed: &'e Parsed<'e>,
    pub(super) run: MacroRun<'e>,
    manner: Manner<'e>,
}

impl<'e> Evaluator<'e> {
    /// The value of a piece.
    pub(super) fn value(&mut self, piece: &TextSpan, depth: usize) -> String {
        let mut sink = Sink::default();
        self.write(piece, depth, &mut sink);
        sink.into_text()
    }

    pub(super) fn write(&mut self, piece: &TextSpan, depth: usize, sink: &mut Sink) {
        let parsed = self.parsed;
        let mut at = piece.text.start;
        let mut index = piece.spans.start;
        while index < piece.spans.end {
            let here = index;
            let span = &parsed.spans[index];
            self.literal(&parsed.source[at..span.start], sink);
            let closer = parsed.closer_within(index, piece);
            let last = closer.unwrap_or(index);
            (at, index) = (parsed.spans[last].end, parsed.spans[last].next);
            match closer {
                _ if depth >= MAX_DEPTH => sink.push(&parsed.source[span.start..at]),
                Some(closer) => block::write(self, here, closer, depth + 1, sink),
                None => self.single(here, depth + 1, sink),
            }
        }
        self.literal(&parsed.source[at..piece.text.end], sink);
    }

    /// Writes a value if the size limit allows it.
    pub(super) fn insert(&mut self, value: &str, sink: &mut Sink) {
        if self.run.charge(value.len()) {
            match self.manner {
                Manner::Pattern(shape) => sink.push(&shape(value)),
                _ => sink.push(value),
            }
        }
    }

    /// The value of a macro without arguments, by its name; `None` if there is no such macro.
    pub(super) fn by_name(&mut self, name: &str) -> Option<Cow<'e, str>> {
        let scope = self.run.scope;
        self.run.found.volatile |= volatile::changes(name);
        match (library::find(name), self.manner) {
            (_, Manner::Replacement(hit)) if name == "match" => Some(hit.whole().into()),
            // A condition on `original` does not use it up.
            (_, _) if name == "original" => Some(scope.original.unwrap_or_default().into()),
            (Some(KnownMacro::Value(read)), _) => Some(read(scope)),
            (Some(KnownMacro::Optional(read)), _) => Some(read(scope).unwrap_or_default()),
            (Some(KnownMacro::Text(read)), _) => Some(self.run.card_text(read(scope)).into()),
            (Some(KnownMacro::Function { least: 0, run, .. }), _) => {
                run(&mut self.run, &[]).map(Cow::Owned)
            }
            (Some(_), _) => None,
            (None, _) => values::named(name, scope).map(Cow::Borrowed),
        }
    }

    /// Runs a function and writes its result. Returns `false` if the function cannot use these
    /// arguments.
    #[must_use]
    pub(super) fn call(&mut self, index: usize, args: &[String], sink: &mut Sink) -> bool {
        let HeadKind::Named { name, .. } = &self.parsed.spans[index].head.kind else {
            return true;
        };
        let Some(KnownMacro::Function { least, most, run }) = library::find(name) else {
            return true;
        };
        if self.run.inserted == MAX_INSERTED {
            return true;
        }
        let result = match args.len() {
            count if count < least || (most == 0 && count > 0) => None,
            count if count > most => {
                let last = args[most - 1..].join("::");
                run(&mut self.run, &[&args[..most - 1], &[last]].concat())
            }
            _ => run(&mut self.run, args),
        };
        if let Some(value) = &result {
            self.insert(value, sink);
        }
        result.is_some()
    }

    /// Writes a macro as its source text. Its arguments have already run, so their values replace
    /// them.
    pub(super) fn as_source(&mut self, index: usize, at: usize, args: &[String], sink: &mut Sink) {
        self.report(index);
        let parsed = self.parsed;
        let mut written = parsed.spans[index].start;
        let end = parsed.spans[index].end;
        for (piece, value) in parsed.arguments(index, at).iter().zip(args) {
            sink.push(&parsed.source[written..piece.text.start]);
            self.insert(value, sink);
            written = piece.text.end;
        }
        sink.push(&parsed.source[written..end]);
    }

    /// Writes the macro as text, with the macros inside it resolved.
    pub(super) fn as_text(&mut self, index: usize, depth: usize, sink: &mut Sink) {
        self.report(index);
        sink.push("{{");
        let inner = self.parsed.inner(index, self.parsed.spans[index].start + 2);
        self.write(&inner, depth, sink);
        sink.push("}}");
    }

    pub(super) fn arguments(&mut self, index: usize, at: usize, depth: usize) -> Vec<String> {
        let pieces = self.parsed.arguments(index, at);
        pieces
            .iter()
            .map(|piece| self.value(piece, depth))
            .collect()
    }

    fn single(&mut self, index: usize, depth: usize, sink: &mut Sink) {
        let parsed = self.parsed;
        let head = &parsed.spans[index].head;
        let value = match &head.kind {
            _ if head.closing => None,
            HeadKind::Other => None,
            HeadKind::Variable { global, at } => shorthand::run(self, index, *global, *at, depth),
            HeadKind::Sum { at } => {
                let sum = self.value(&parsed.inner(index, *at), depth);
                Some(calc::shown(&sum).unwrap_or(sum))
            }
            HeadKind::Named { name, args } => {
                self.run.found.volatile |= volatile::changes(name);
                match library::find(name) {
                    Some(known) => return self.named(known, index, *args, depth, sink),
                    None if parsed.arguments(index, *args).is_empty() => {
                        if values::lacks(name, self.run.scope) {
                            let name = self.name_of(index);
                            name_once(&mut self.run.found.absent, name);
                        }
                        self.by_name(name).map(Cow::into_owned)
                    }
                    None => None,
                }
            }
        };
        match value {
            Some(value) => self.insert(&value, sink),
            None => self.as_text(index, depth, sink),
        }
    }

    fn named(
        &mut self,
        known: KnownMacro,
        index: usize,
        args: usize,
        depth: usize,
        sink: &mut Sink,
    ) {
        let parsed = self.parsed;
        match known {
            KnownMacro::Value(read) if parsed.arguments(index, args).is_empty() => {
                let scope = self.run.scope;
                self.insert(&read(scope), sink);
            }
            KnownMacro::Optional(read) if parsed.arguments(index, args).is_empty() => {
                match read(self.run.scope) {
                    Some(value) => self.insert(&value, sink),
                    None => {
                        let name = self.name_of(index);
                        name_once(&mut self.run.found.absent, name);
                    }
                }
            }
            KnownMacro::Text(read) if parsed.arguments(index, args).is_empty() => {
                let value = self.run.card_text(read(self.run.scope));
                self.insert(&value, sink);
            }
            KnownMacro::Function { .. } => {
                let values = self.arguments(index, args, depth);
                if !self.call(index, &values, sink) {
                    self.as_source(index, args, &values, sink);
                }
            }
            KnownMacro::Random | KnownMacro::Pick => {
                let stable = matches!(known, KnownMacro::Pick);
                let chosen = choice::choose(self, index, args, stable, depth);
                sink.push(&chosen);
            }
            KnownMacro::If => block::write_inline(self, index, args, depth, sink),
            KnownMacro::Trim => sink.trim(),
            KnownMacro::Noop => sink.keep(),
            KnownMacro::Else | KnownMacro::Comment => {}
            KnownMacro::Value(_) | KnownMacro::Optional(_) | KnownMacro::Text(_) => {
                self.as_text(index, depth, sink)
            }
        }
    }

    /// Writes plain text: escaped braces lose their backslash, and names in angle brackets are
    /// resolved.
    fn literal(&mut self, text: &str, sink: &mut Sink) {
        let hit = match self.manner {
            Manner::Text => None,
            Manner::Pattern(_) => return sink.push(text),
            Manner::Replacement(hit) => Some(hit),
        };
        let mut rest = text;
        while let Some(at) = rest.find(['<', '\\', '$']) {
            sink.push(&rest[..at]);
            let here = &rest[at..];
            let length = if here.starts_with(r"\{") || here.starts_with(r"\}") {
                sink.push(&here[1..2]);
                2
            } else if let Some((value, length)) = hit.and_then(|hit| hit.reference(here)) {
                self.insert(value, sink);
                length
            } else if let Some((name, length)) = self.angled(here) {
                self.insert(&name, sink);
                length
            } else {
                sink.push(&here[..1]);
                1
            };
            rest = &here[length..];
        }
        sink.push(rest);
    }

    fn angled(&self, text: &str) -> Option<(String, usize)> {
        let scope = self.run.scope;
        let starts = |mark: &str| {
            text.get(..mark.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(mark))
        };
        let named = |mark: &str, name: &str| starts(mark).then(|| (name.to_owned(), mark.len()));
        named("<user>", scope.user)
            .or_else(|| named("<bot>", scope.char))
            .or_else(|| named("<char>", scope.char))
            .or_else(|| starts("<group>").then(|| (scope.group().into_owned(), "<group>".len())))
            .or_else(|| {
                starts("<charifnotgroup>")
                    .then(|| (scope.group().into_owned(), "<charifnotgroup>".len()))
            })
    }

    fn report(&mut self, index: usize) {
        let name = self.name_of(index);
        name_once(&mut self.run.found.unknown, name);
    }

    fn name_of(&self, index: usize) -> String {
        let span = &self.parsed.spans[index];
        match &span.head.kind {
            HeadKind::Named { name, .. } if !span.head.closing => name.clone(),
            _ => {
                let inner = self.parsed.source[span.start + 2..span.end - 2].trim();
                inner.chars().take(MAX_REPORTED_CHARS).collect()
            }
        }
    }
}

fn name_once(names: &mut Vec<String>, name: String) {
    if names.len() < MAX_REPORTED && !names.contains(&name) {
        names.push(name);
    }
}

/// Resolves the macros of `text` with the values of `scope`; reads and changes the variables of
/// `state`.
pub fn expand(text: &str, scope: &MacroScope<'_>, state: &mut MacroState) -> Expanded {
    evaluate(&Parsed::new(text), Manner::Text, scope, state)
}
