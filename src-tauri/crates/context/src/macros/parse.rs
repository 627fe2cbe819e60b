//! Macro parser. One pass finds all macros and keeps them in a flat list, so the cost is linear at
//! any nesting depth.

use std::collections::HashMap;
use std::ops::Range;

use super::library;

/// One `{{...}}`. Spans are sorted by start; the spans within span `i` are `i + 1 ..
/// spans[i].next`.
#[derive(Debug)]
pub(super) struct Span {
    /// Byte offsets of the first brace and of the end after the last brace.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Index of the next span that is not within this one.
    pub(super) next: usize,
    pub(super) head: Head,
    /// Index of the span that closes the block this one opens.
    pub(super) closer: Option<usize>,
}

/// The beginning of a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// `{{/name}}`
    pub(super) closing: bool,
    /// `{{#name}}`: the content of the block keeps its whitespace.
    pub(super) verbatim: bool,
    pub(super) kind: HeadKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeadKind {
    /// A lower-case name, and the offset of its arguments.
    Named {
        name: String,
        args: usize,
    },
    /// `{{.name}}` or `{{$name}}`, with the offset of the expression after the mark.
    Variable {
        global: bool,
        at: usize,
    },
    /// `{{? 1 + 2}}`, with the offset of the expression.
    Sum {
        at: usize,
    },
    Other,
}

/// A part of the text with all spans within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextSpan {
    pub(super) text: Range<usize>,
    pub(super) spans: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Parsed<'a> {
    pub(super) source: &'a str,
    pub(super) spans: Vec<Span>,
}

impl<'a> Parsed<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let mut parsed = Self {
            source,
            spans: spans(source),
        };
        nest(&mut parsed.spans);
        for index in 0..parsed.spans.len() {
            parsed.spans[index].head = parsed.head(index);
        }
        if parsed.spans.iter().any(|span| span.head.closing) {
            // Inner blocks are paired first, because a separator inside a block does not split the
            // arguments around it. The number of arguments decides whether a macro opens a block.
            for index in (0..parsed.spans.len()).rev() {
                parsed.pair_blocks(index + 1..parsed.spans[index].next);
            }
            parsed.pair_blocks(0..parsed.spans.len());
        }
        parsed
    }

    pub(super) fn whole(&self) -> TextSpan {
        TextSpan {
            text: 0..self.source.len(),
            spans: 0..self.spans.len(),
        }
    }

    /// The content of a span, from offset `at` to the closing braces.
    pub(super) fn inner(&self, index: usize, at: usize) -> TextSpan {
        TextSpan {
            text: at..self.spans[index].end - 2,
            spans: index + 1..self.spans[index].next,
        }
    }

    /// The content of a block, between its opening and its closing macro.
    pub(super) fn content(&self, opener: usize, closer: usize) -> TextSpan {
        TextSpan {
            text: self.spans[opener].end..self.spans[closer].start,
            spans: self.spans[opener].next..closer,
        }
    }

    /// The outermost spans of a piece.
    pub(super) fn direct(&self, piece: &TextSpan) -> impl Iterator<Item = usize> + '_ {
        let end = piece.spans.end;
        let first = Some(piece.spans.start).filter(|first| *first < end);
        std::iter::successors(first, move |index| {
            Some(self.spans[*index].next).filter(|next| *next < end)
        })
    }

    /// Returns the closing macro of the block that `index` opens, if the piece contains it.
    pub(super) fn closer_within(&self, index: usize, piece: &TextSpan) -> Option<usize> {
        self.spans[index]
            .closer
            .filter(|closer| *closer < piece.spans.end)
    }

    /// Returns the first and the last span of each direct unit of a piece. A block is one unit.
    fn units(&self, piece: &TextSpan) -> impl Iterator<Item = (usize, usize)> + '_ {
        let start = piece.spans.start;
        let piece = piece.clone();
        let unit = move |index: usize| {
            let within = index < piece.spans.end;
            within.then(|| (index, self.closer_within(index, &piece).unwrap_or(index)))
        };
        std::iter::successors(unit(start), move |(_, last)| unit(self.spans[*last].next))
    }

    /// The piece without surrounding whitespace.
    pub(super) fn trimmed(&self, piece: TextSpan) -> TextSpan {
        let TextSpan { mut text, spans } = piece;
        let first = if spans.is_empty() {
            text.end
        } else {
            self.spans[spans.start].start
        };
        let lead = &self.source[text.start..first.max(text.start)];
        text.start += lead.len() - lead.trim_start().len();
        let last = self
            .direct(&TextSpan {
                text: text.clone(),
                spans: spans.clone(),
            })
            .last();
        let floor = last.map_or(text.start, |last| self.spans[last].end);
        text.end = floor + self.source[floor..text.end].trim_end().len();
        TextSpan { text, spans }
    }

    /// Splits a piece at each `separator` outside its macros and blocks. An escaped comma (`\,`)
    /// does not split.
    pub(super) fn split(&self, piece: &TextSpan, separator: &str) -> Vec<TextSpan> {
        let mut pieces = Vec::new();
        let mut from = piece.text.start;
        let mut first = piece.spans.start;
        let mut cut_within = |text: Range<usize>, behind: usize| {
            for (at, _) in self.source[text.clone()].match_indices(separator) {
                let at = text.start + at;
                if separator != "," || !self.source[..at].ends_with('\\') {
                    pieces.push(TextSpan {
                        text: from..at,
                        spans: first..behind,
                    });
                    (from, first) = (at + separator.len(), behind);
                }
            }
        };
        let mut at = piece.text.start;
        for (index, last) in self.units(piece) {
            cut_within(at..self.spans[index].start, index);
            at = self.spans[last].end;
        }
        cut_within(at..piece.text.end, piece.spans.end);
        pieces.push(TextSpan {
            text: from..piece.text.end,
            spans: first..piece.spans.end,
        });
        pieces
    }

    /// The arguments of a macro: the text after `::`, `:` or a blank, split at `::`. Empty if
    /// nothing follows.
    pub(super) fn arguments(&self, index: usize, at: usize) -> Vec<TextSpan> {
        let mut rest = self.trimmed(self.inner(index, at));
        let until = self.literal_end(&rest);
        let lead = &self.source[rest.text.start..until];
        let separator = ["::", ":"]
            .into_iter()
            .find(|separator| lead.starts_with(separator));
        match separator {
            None if rest.text.is_empty() => return Vec::new(),
            None => {}
            Some(separator) => rest.text.start += separator.len(),
        }
        self.split(&rest, "::")
            .into_iter()
            .map(|piece| self.trimmed(piece))
            .collect()
    }

    /// Offset of the first span of a piece, or of its end.
    pub(super) fn literal_end(&self, piece: &TextSpan) -> usize {
        if piece.spans.is_empty() {
            piece.text.end
        } else {
            self.spans[piece.spans.start].start
        }
    }

    /// The text of a piece without macros; `None` if it has any.
    pub(super) fn literal(&self, piece: &TextSpan) -> Option<&'a str> {
        piece
            .spans
            .is_empty()
            .then(|| &self.source[piece.text.clone()])
    }

    fn head(&self, index: usize) -> Head {
        let piece = self.inner(index, self.spans[index].start + 2);
        head(
            self.source,
            piece.text.start..self.literal_end(&piece),
            !piece.spans.is_empty(),
        )
    }

    /// Finds which of the sibling spans open and close blocks. An opener left open inside a closed
    /// block opens no block.
    fn pair_blocks(&mut self, spans: Range<usize>) {
        let siblings: Vec<usize> = self.direct(&TextSpan { text: 0..0, spans }).collect();
        let mut open: Vec<usize> = Vec::new();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for index in siblings {
            let HeadKind::Named { name, args } = self.spans[index].head.kind.clone() else {
                continue;
            };
            if !self.spans[index].head.closing {
                let wanted = library::block_arguments(&name);
                if wanted.is_some_and(|wanted| self.arguments(index, args).len() == wanted) {
                    open.push(index);
                    by_name.entry(name).or_default().push(index);
                }
            } else if let Some(opener) = by_name
                .get(&name)
                .and_then(|openers| openers.last().copied())
            {
                self.spans[opener].closer = Some(index);
                self.drop_open(opener, &mut open, &mut by_name);
            }
        }
    }

    fn drop_open(
        &self,
        until: usize,
        open: &mut Vec<usize>,
        by_name: &mut HashMap<String, Vec<usize>>,
    ) {
        while let Some(index) = open.pop() {
            if let HeadKind::Named { name, .. } = &self.spans[index].head.kind {
                by_name.get_mut(name).and_then(Vec::pop);
            }
            if index == until {
                break;
            }
        }
    }
}

/// Finds every pair of `{{` and `}}`. If there are three or more opening braces, the last two open
/// the macro.
fn spans(source: &str) -> Vec<Span> {
    let bytes = source.as_bytes();
    let mut open = Vec::new();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"{{" if bytes.get(at + 2) != Some(&b'{') => {
                open.push(at);
                at += 2;
            }
            b"}}" => {
                if let Some(start) = open.pop() {
                    let head = Head {
                        closing: false,
                        verbatim: false,
                        kind: HeadKind::Other,
                    };
                    spans.push(Span {
                        start,
                        end: at + 2,
                        next: 0,
                        head,
                        closer: None,
                    });
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
    spans.sort_unstable_by_key(|span| span.start);
    spans
}

fn nest(spans: &mut [Span]) {
    let mut around: Vec<usize> = Vec::new();
    for index in 0..spans.len() {
        while let Some(outer) = around.pop_if(|outer| spans[*outer].end <= spans[index].start) {
            spans[outer].next = index;
        }
        around.push(index);
    }
    for outer in around {
        spans[outer].next = spans.len();
    }
}

/// Parses the head of a macro in `range`, which ends at the first inner macro (`cut`) or at the end
/// of the macro.
fn head(source: &str, range: Range<usize>, cut: bool) -> Head {
    let from = range.start;
    let text = &source[range];
    let blank = |text: &str| text.len() - text.trim_start().len();
    let mut at = blank(text);
    if let Some(rest) = text[at..].strip_prefix("//") {
        let closing = rest.trim() == "/";
        let kind = HeadKind::Named {
            name: "//".into(),
            args: from + at + 2,
        };
        return Head {
            closing,
            verbatim: false,
            kind,
        };
    }
    let mut closing = false;
    let mut verbatim = false;
    let mut kind = HeadKind::Other;
    while let Some(mark) = text[at..].chars().next() {
        match mark {
            '/' if text[at..].starts_with("//") => break,
            '/' => closing = true,
            '#' => verbatim = true,
            '!' | '~' | '>' | ':' => {}
            '?' if text[at + 1..].starts_with([' ', '('])
                || text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                kind = HeadKind::Sum { at: from + at + 1 };
                break;
            }
            '?' => {}
            '.' | '$' => {
                kind = HeadKind::Variable {
                    global: mark == '$',
                    at: from + at + 1,
                };
                break;
            }
            _ => {
                kind = named(text, at, from, cut);
                break;
            }
        }
        at += 1;
        at += blank(&text[at..]);
    }
    Head {
        closing,
        verbatim,
        kind,
    }
}

/// Parses a name, which must end at a blank, at a colon or at the end of the macro.
fn named(text: &str, at: usize, from: usize, cut: bool) -> HeadKind {
    let rest = &text[at..];
    let length = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .unwrap_or(rest.len());
    // The argument of `{{time_UTC+2}}` follows the name without a separator.
    let utc = "time_utc".len();
    if rest
        .get(..utc)
        .is_some_and(|name| name.eq_ignore_ascii_case("time_utc"))
        && rest[utc..].starts_with(['+', '-'])
    {
        return HeadKind::Named {
            name: "time_utc".into(),
            args: from + at + utc,
        };
    }
    let ends = rest[length..]
        .chars()
        .next()
        .map_or(!cut, |c| c == ':' || c.is_whitespace());
    if !ends || !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return HeadKind::Other;
    }
    HeadKind::Named {
        name: rest[..length].to_ascii_lowercase(),
        args: from + at + length,
    }
}
