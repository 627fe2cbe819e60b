//! Word rules of the pre-tokenizers, one function per family of models. Each returns the end of the
//! word that begins at a position, or `None` if no word of its rule begins there.
//!
//! The rules follow `unicode.cpp` of the llama.cpp version that the worker links, which is the
//! reference. Only [`Rules::CL100K`] and [`Rules::O200K`] follow the patterns that OpenAI
//! published.

use super::class::{LETTER, LOWER, MARK, NUMBER, PUNCTUATION, SPACE, SYMBOL, UPPER};
use super::scan::TextScan;

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
pub(super) fn gpt2(scan: &TextScan<'_>, at: usize) -> Option<usize> {
    let (first, class) = scan.peek(at)?;
    if first == '\''
        && let Some(end) = contraction(scan.text, at, Folding::None)
    {
        return Some(end);
    }
    let (start, class) = match first {
        ' ' => (at + 1, scan.peek(at + 1).map_or(SPACE, |(_, class)| class)),
        _ => (at, class),
    };
    match class & (LETTER | NUMBER | SPACE) {
        LETTER => Some(scan.all(start, |_, class| class & LETTER != 0)),
        NUMBER => Some(scan.all(start, |_, class| class & NUMBER != 0)),
        0 => Some(scan.all(start, |_, class| class & (LETTER | NUMBER | SPACE) == 0)),
        _ => scan.spaces(at),
    }
}

/// Differences between the word rules of newer models, which all derive from cl100k.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// `'s` and similar endings are words, compared with this folding.
    pub(super) contractions: Option<Folding>,
    /// Maximum digits per word.
    pub(super) digits: usize,
    pub(super) letters: Letters,
    /// Characters that stay with the punctuation before them.
    pub(super) tail: &'static [char],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Plain,
    /// Combining marks belong to the word.
    Marks,
    /// A word ends where lower case changes to upper case. Letters outside ASCII match both.
    AsciiCase {
        /// `'s` and similar endings stay with their word.
        contractions: bool,
    },
    /// Like [`Letters::AsciiCase`], with the case of every script. Letters without case and
    /// combining marks match both.
    UnicodeCase,
}

/// Case folding of `'s` and similar endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folding {
    None,
    Ascii,
    /// `ſ` matches too, the only letter outside ASCII that folds to a letter of an ending.
    Unicode,
}

impl Rules {
    pub(super) const LLAMA3: Self = Self {
        contractions: Some(Folding::Ascii),
        digits: 3,
        letters: Letters::Plain,
        tail: &['\r', '\n'],
    };
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
    /// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    pub(super) const CL100K: Self = Self {
        contractions: Some(Folding::Unicode),
        ..Self::LLAMA3
    };
    /// The words of [`unicode_cased`], then
    /// `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    pub(super) const O200K: Self = Self {
        contractions: None,
        digits: 3,
        letters: Letters::UnicodeCase,
        tail: &['\r', '\n', '/'],
    };

    pub(super) fn word(&self, scan: &TextScan<'_>, at: usize) -> Option<usize> {
        let (first, class) = scan.peek(at)?;
        if let Some(folding) = self.contractions
            && first == '\''
            && let Some(end) = contraction(scan.text, at, folding)
        {
            return Some(end);
        }
        if let Some(end) = self.letters(scan, at, first, class) {
            return Some(end);
        }
        if class & NUMBER != 0 {
            return Some(scan.run(at, self.digits, |_, class| class & NUMBER != 0));
        }
        self.punctuation(scan, at, first)
            .or_else(|| scan.line_ends(at))
            .or_else(|| scan.spaces(at))
    }

    /// `[^\r\n\p{L}\p{N}]?` and letters.
    fn letters(&self, scan: &TextScan<'_>, at: usize, first: char, class: u16) -> Option<usize> {
        if self.letters == Letters::UnicodeCase {
            let end = unicode_cased(scan, at, first, class)?;
            return Some(contraction(scan.text, end, Folding::Unicode).unwrap_or(end));
        }
        let letter = if self.letters == Letters::Marks {
            LETTER | MARK
        } else {
            LETTER
        };
        let leads = class & (LETTER | NUMBER) == 0 && !matches!(first, '\r' | '\n');
        let start = if leads && scan.is(at + first.len_utf8(), |_, class| class & letter != 0) {
            at + first.len_utf8()
        } else if class & letter != 0 {
            at
        } else {
            return None;
        };
        match self.letters {
            Letters::AsciiCase { contractions } => {
                let end = ascii_cased(scan, start);
                Some(if contractions {
                    contraction(scan.text, end, Folding::Ascii).unwrap_or(end)
                } else {
                    end
                })
            }
            _ => Some(scan.all(start, |_, class| class & letter != 0)),
        }
    }

    /// ` ?[^\s\p{L}\p{N}]+[\r\n]*`
    fn punctuation(&self, scan: &TextScan<'_>, at: usize, first: char) -> Option<usize> {
        let words = if self.letters == Letters::Marks {
            LETTER | NUMBER | SPACE | MARK
        } else {
            LETTER | NUMBER | SPACE
        };
        let start = at + usize::from(first == ' ');
        let end = scan.all(start, |_, class| class & words == 0);
        (end > start).then(|| scan.all(end, |character, _| self.tail.contains(&character)))
    }
}

/// Upper-case letters, then lower-case ones; letters outside ASCII match both.
fn ascii_cased(scan: &TextScan<'_>, start: usize) -> usize {
    let lower =
        |character: char, class: u16| class & LETTER != 0 && !character.is_ascii_uppercase();
    let upper = scan.all(start, |character, class| {
        class & LETTER != 0 && !character.is_ascii_lowercase()
    });
    let end = scan.all(upper, lower);
    if end > upper {
        return end;
    }
    // Lower case needs at least one letter, so the rule gives back upper-case letters up to the
    // last one that matches both.
    let both = scan.text[start..upper]
        .char_indices()
        .rev()
        .find(|(_, character)| !character.is_ascii());
    both.map_or(upper, |(at, character)| start + at + character.len_utf8())
}

fn may_be_upper(_: char, class: u16) -> bool {
    class & (LETTER | MARK) != 0 && class & LOWER == 0
}

fn may_be_lower(_: char, class: u16) -> bool {
    class & (LETTER | MARK) != 0 && class & UPPER == 0
}

/// `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` or
/// `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`
fn unicode_cased(scan: &TextScan<'_>, at: usize, first: char, class: u16) -> Option<usize> {
    let leads = class & (LETTER | NUMBER) == 0 && !matches!(first, '\r' | '\n');
    let start = if leads { at + first.len_utf8() } else { at };
    let middle = scan.all(start, may_be_upper);
    let end = scan.all(middle, may_be_lower);
    if end > middle {
        return Some(end);
    }
    // The first pattern gives back letters of upper case until its second half matches.
    let both = |(_, character): &(usize, char)| scan.classes.of(*character) & (UPPER | LOWER) == 0;
    if let Some((last, character)) = scan.text[start..middle].char_indices().rev().find(both) {
        return Some(start + last + character.len_utf8());
    }
    // A leading mark also matches the second half, so the first pattern matches it alone.
    if leads && class & MARK != 0 {
        return Some(start);
    }
    (middle > start).then_some(middle)
}

/// DeepSeek V3: punctuation before Latin letters, words with marks, punctuation with symbols.
pub(super) fn deepseek(scan: &TextScan<'_>, at: usize) -> Option<usize> {
    let (first, class) = scan.peek(at)?;
    let after = at + first.len_utf8();
    let in_word = |_: char, class: u16| class & (LETTER | MARK) != 0;
    let sign = |_: char, class: u16| class & (PUNCTUATION | SYMBOL) != 0;
    if first.is_ascii_punctuation() && scan.is(after, |next, _| next.is_ascii_alphabetic()) {
        return Some(scan.all(after, |character, _| character.is_ascii_alphabetic()));
    }
    let leads = class & (LETTER | PUNCTUATION | SYMBOL) == 0 && !matches!(first, '\r' | '\n');
    if leads && scan.is(after, in_word) || in_word(first, class) {
        return Some(scan.all(after, in_word));
    }
    let start = at + usize::from(first == ' ');
    let end = scan.all(start, sign);
    if end > start {
        return Some(scan.all(end, |character, _| matches!(character, '\r' | '\n')));
    }
    scan.line_ends(at).or_else(|| scan.spaces(at))
}

/// Returns the end of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` at `at`.
fn contraction(text: &str, at: usize, folding: Folding) -> Option<usize> {
    let folded = |byte: &u8| {
        if folding == Folding::None {
            *byte
        } else {
            byte.to_ascii_lowercase()
        }
    };
    let rest = text.as_bytes().get(at..)?;
    let &[b'\'', ref rest @ ..] = rest else {
        return None;
    };
    let first = rest.first().map(folded)?;
    let second = rest.get(1).map(folded);
    match (first, second) {
        _ if folding == Folding::Unicode && rest.starts_with("ſ".as_bytes()) => {
            Some(at + 1 + 'ſ'.len_utf8())
        }
        (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
        (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(at + 3),
        _ => None,
    }
}
