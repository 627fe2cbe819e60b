//! Marks that models and servers use for passages of a reply.

use super::{EPISODE_END, ReplyPassage};

/// Characters that can begin a mark.
pub(super) const FIRST: [char; 5] = ['<', '[', '#', '(', '◁'];

/// Maximum length in bytes of a tag with its attributes, and of a channel header.
const LONGEST: usize = 256;

/// Tags of hidden passages, as models and other apps spell them. Thought tags may have a prefix and
/// attributes.
const TAGS: [(&str, ReplyPassage); 7] = [
    ("think", ReplyPassage::Thoughts),
    ("thinking", ReplyPassage::Thoughts),
    ("thought", ReplyPassage::Thoughts),
    ("reasoning", ReplyPassage::Thoughts),
    ("metrics", ReplyPassage::Metrics),
    ("keyframe", ReplyPassage::Keyframe),
    ("reminder", ReplyPassage::Reminder),
];

/// Names of hidden passages in parentheses at the start of a line, as `(Metrics: joy 0.8)`.
const IN_PARENTHESES: [(&str, ReplyPassage); 3] = [
    ("metrics", ReplyPassage::Metrics),
    ("keyframe", ReplyPassage::Keyframe),
    ("reminder", ReplyPassage::Reminder),
];

/// Thought marks that are not tags. `true` means that the opening mark is text in the middle of a
/// line.
const PAIRS: [(&str, &str, bool); 4] = [
    ("<|begin_of_thought|>", "<|end_of_thought|>", false),
    ("<|START_THINKING|>", "<|END_THINKING|>", false),
    ("[THINK]", "[/THINK]", true),
    ("◁think▷", "◁/think▷", false),
];

/// Marks around the visible text.
const AROUND: [&str; 5] = [
    "<|start|>assistant",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
];

/// Gemma's channel: a name, a line break, and the content.
const GEMMA: (&str, &str) = ("<|channel>", "<channel|>");
/// A channel of gpt-oss: a name, [`MESSAGE`], and the content.
const HARMONY: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// Marks between channels.
const BETWEEN: [&str; 4] = ["<|start|>", MESSAGE, "<|end|>", "<|return|>"];
/// Marks that end a channel. The first belongs to it; the others begin the next one.
const CHANNEL_ENDS: [&str; 4] = ["<|end|>", "<|start|>", HARMONY, "<|return|>"];

/// The meaning of a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TagMark {
    Opens(Open),
    /// Closes thoughts.
    Closes,
    /// No effect; the mark is removed.
    Nothing,
    EpisodeEnd,
}

/// The result of matching a mark at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Marked {
    No,
    /// More text is needed to decide.
    Maybe,
    /// A mark with its length in bytes.
    Yes(usize, TagMark),
}

/// An open passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) passage: ReplyPassage,
    /// Marks that close it.
    closing: Vec<String>,
    /// Marks that end it without being part of it.
    until: &'static [&'static str],
    /// For a passage in parentheses: how many are open, and whether its text so far ends with a
    /// line break.
    parentheses: Option<(u32, bool)>,
}

impl Open {
    /// Thoughts, as if `<think>` opened them.
    pub(super) fn thoughts() -> Self {
        Self::tag("", "think", ReplyPassage::Thoughts)
    }

    fn tag(prefix: &str, name: &str, passage: ReplyPassage) -> Self {
        let mut closing = vec![format!("</{prefix}{name}>")];
        if passage == ReplyPassage::Thoughts {
            let others = TAGS
                .iter()
                .filter(|(_, passage)| *passage == ReplyPassage::Thoughts);
            closing.extend(others.map(|(name, _)| format!("</{name}>")));
        }
        Self {
            passage,
            closing,
            until: &[],
            parentheses: None,
        }
    }

    fn pair(closing: &str) -> Self {
        Self {
            passage: ReplyPassage::Thoughts,
            closing: vec![closing.to_owned()],
            until: &[],
            parentheses: None,
        }
    }

    fn channel() -> Self {
        let [end, until @ ..] = &CHANNEL_ENDS;
        Self {
            passage: ReplyPassage::Thoughts,
            closing: vec![(*end).to_owned()],
            until,
            parentheses: None,
        }
    }

    fn parentheses(passage: ReplyPassage) -> Self {
        Self {
            passage,
            closing: Vec::new(),
            until: &[],
            parentheses: Some((1, false)),
        }
    }

    /// The end of a passage in parentheses: its last parenthesis, or an empty line if that is
    /// missing.
    fn last_parenthesis(open: &mut u32, broken: &mut bool, text: &str) -> (usize, Option<usize>) {
        for (at, letter) in text.char_indices() {
            match letter {
                '(' => *open += 1,
                ')' => *open -= 1,
                '\n' if *broken => return (at, Some(0)),
                _ => {}
            }
            if *open == 0 {
                return (at, Some(1));
            }
            *broken = letter == '\n' || (*broken && letter.is_whitespace());
        }
        (text.len(), None)
    }

    /// The offset in `text` at which the passage ends, and the length of its closing mark in bytes.
    /// The length is `None` while the passage is open. `text` must continue the text of the last
    /// call.
    pub(super) fn end(&mut self, text: &str) -> (usize, Option<usize>) {
        if let Some(parentheses) = &mut self.parentheses {
            return Self::last_parenthesis(&mut parentheses.0, &mut parentheses.1, text);
        }
        for (at, _) in text.match_indices(FIRST) {
            let rest = &text[at..];
            if let Some(closing) = self
                .closing
                .iter()
                .find(|closing| starts_with(rest, closing))
            {
                return (at, Some(closing.len()));
            }
            if self.until.iter().any(|mark| starts_with(rest, mark)) {
                return (at, Some(0));
            }
            let mut marks = self
                .closing
                .iter()
                .map(String::as_str)
                .chain(self.until.iter().copied());
            if marks.any(|mark| starts_with(mark, rest)) {
                return (at, None);
            }
        }
        (text.len(), None)
    }
}

/// Matches a mark at the start of `rest`. `starts_line` is true if only blanks precede it.
/// `channels` is true if the reply uses channels.
pub(super) fn look(rest: &str, starts_line: bool, channels: bool) -> Marked {
    if rest.starts_with('#') {
        return fixed(rest, EPISODE_END, || TagMark::EpisodeEnd);
    }
    if rest.starts_with('(') {
        return if starts_line {
            parentheses(rest)
        } else {
            Marked::No
        };
    }
    first_of([
        gemma(rest),
        harmony(rest),
        pairs(rest, starts_line),
        around(rest, channels),
        tag(rest, starts_line),
    ])
}

fn fixed(rest: &str, mark: &str, means: impl FnOnce() -> TagMark) -> Marked {
    if starts_with(rest, mark) {
        Marked::Yes(mark.len(), means())
    } else if starts_with(mark, rest) {
        Marked::Maybe
    } else {
        Marked::No
    }
}

/// The first mark, or `Maybe` if one is still possible.
fn first_of(marked: impl IntoIterator<Item = Marked>) -> Marked {
    let mut maybe = Marked::No;
    for marked in marked {
        match marked {
            Marked::Yes(..) => return marked,
            Marked::Maybe => maybe = Marked::Maybe,
            Marked::No => {}
        }
    }
    maybe
}

fn parentheses(rest: &str) -> Marked {
    let inner = &rest[1..];
    first_of(IN_PARENTHESES.iter().map(|(name, passage)| {
        let opened = || TagMark::Opens(Open::parentheses(*passage));
        match (
            fixed(inner, name, opened),
            inner
                .get(name.len()..)
                .and_then(|after| after.chars().next()),
        ) {
            (Marked::Yes(..), None) => Marked::Maybe,
            (Marked::Yes(..), Some(next)) if next.is_alphanumeric() || next == '_' => Marked::No,
            (Marked::Yes(length, mark), Some(_)) => Marked::Yes(length + 1, mark),
            (other, _) => other,
        }
    }))
}

fn pairs(rest: &str, starts_line: bool) -> Marked {
    first_of(PAIRS.iter().flat_map(|(open, close, in_line)| {
        let opens = if *in_line && !starts_line {
            Marked::No
        } else {
            fixed(rest, open, || TagMark::Opens(Open::pair(close)))
        };
        [opens, fixed(rest, close, || TagMark::Closes)]
    }))
}

fn around(rest: &str, channels: bool) -> Marked {
    let between = BETWEEN.iter().filter(|_| channels);
    first_of(
        AROUND
            .iter()
            .chain(between)
            .map(|mark| fixed(rest, mark, || TagMark::Nothing)),
    )
}

fn gemma(rest: &str) -> Marked {
    let (open, close) = GEMMA;
    if let closed @ (Marked::Yes(..) | Marked::Maybe) = fixed(rest, close, || TagMark::Closes) {
        return closed;
    }
    let opened = fixed(rest, open, || TagMark::Nothing);
    let Marked::Yes(length, _) = opened else {
        return opened;
    };
    let header = &rest[length..];
    let name = header
        .find(|letter: char| !letter.is_ascii_alphabetic())
        .map(|end| &header[..end]);
    let Some(name) = name else {
        return if header.len() < LONGEST {
            Marked::Maybe
        } else {
            Marked::No
        };
    };
    let length = length + name.len() + usize::from(header[name.len()..].starts_with('\n'));
    if is_for_words(name) {
        return Marked::Yes(length, TagMark::Nothing);
    }
    Marked::Yes(length, TagMark::Opens(Open::pair(close)))
}

fn harmony(rest: &str) -> Marked {
    let opened = fixed(rest, HARMONY, || TagMark::Nothing);
    let Marked::Yes(length, _) = opened else {
        return opened;
    };
    let header = &rest[length..rest.floor_char_boundary(length + LONGEST)];
    let Some(end) = header.find(MESSAGE) else {
        let may_come = rest.len() < length + LONGEST && !header.contains('\n');
        return if may_come { Marked::Maybe } else { Marked::No };
    };
    if header[..end].contains('\n') {
        return Marked::No;
    }
    let length = length + end + MESSAGE.len();
    if is_for_words(header[..end].trim()) {
        return Marked::Yes(length, TagMark::Nothing);
    }
    Marked::Yes(length, TagMark::Opens(Open::channel()))
}

/// True if the channel with this name contains visible text.
fn is_for_words(name: &str) -> bool {
    ["final", "response", "answer"]
        .iter()
        .any(|known| starts_with(name, known))
}

fn tag(rest: &str, starts_line: bool) -> Marked {
    let Some(inner) = rest.strip_prefix('<') else {
        return Marked::No;
    };
    let closes = inner.starts_with('/');
    if !closes && !starts_line {
        return Marked::No;
    }
    let named = inner.strip_prefix('/').unwrap_or(inner);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ':' | '_');
    let Some(end) = named.find(|letter: char| !is_name(letter)) else {
        return if named.len() < 40 {
            Marked::Maybe
        } else {
            Marked::No
        };
    };
    let (prefix, name) = named[..end]
        .rfind(':')
        .map_or(("", &named[..end]), |colon| {
            named[..end].split_at(colon + 1)
        });
    let Some((name, passage)) = TAGS.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name)) else {
        return Marked::No;
    };
    let thinks = *passage == ReplyPassage::Thoughts;
    if (!prefix.is_empty() || closes) && !thinks {
        return Marked::No;
    }
    let attributes = &named[end..];
    let Some(stop) = attributes.find(['>', '<']) else {
        return if rest.len() < LONGEST {
            Marked::Maybe
        } else {
            Marked::No
        };
    };
    let inside = attributes[..stop].trim();
    if attributes[stop..].starts_with('<')
        || !(inside.is_empty() || inside == "/" || (thinks && inside.contains('=')))
    {
        return Marked::No;
    }
    let length = rest.len() - attributes.len() + stop + 1;
    let mark = match (closes, inside) {
        (true, _) => TagMark::Closes,
        (false, inside) if inside.ends_with('/') => TagMark::Nothing,
        (false, _) => TagMark::Opens(Open::tag(prefix, name, *passage)),
    };
    Marked::Yes(length, mark)
}

/// True if `text` begins with `start`, ignoring ASCII case. Marks contain no other cased letters.
fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}
