//! Character scanner for the pre-tokenizers.

use super::class::{Classes, SPACE};

/// A text with its character classes. Positions are byte offsets.
pub(super) struct TextScan<'t> {
    pub(super) text: &'t str,
    pub(super) classes: Classes,
}

impl<'t> TextScan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            classes: Classes::get(),
        }
    }

    /// Returns the character at `at` and its classes; `None` at the end.
    pub(super) fn peek(&self, at: usize) -> Option<(char, u16)> {
        let character = self.text.get(at..)?.chars().next()?;
        Some((character, self.classes.of(character)))
    }

    /// Whether the character at `at` satisfies `wanted`.
    pub(super) fn is(&self, at: usize, wanted: impl Fn(char, u16) -> bool) -> bool {
        self.peek(at)
            .is_some_and(|(character, class)| wanted(character, class))
    }

    /// Returns the end of the run of `wanted` characters from `at`, of at most `most` characters.
    pub(super) fn run(&self, at: usize, most: usize, wanted: impl Fn(char, u16) -> bool) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let run = rest
            .chars()
            .take(most)
            .take_while(|character| wanted(*character, self.classes.of(*character)));
        at + run.map(char::len_utf8).sum::<usize>()
    }

    /// Like [`TextScan::run`], without a limit.
    pub(super) fn all(&self, at: usize, wanted: impl Fn(char, u16) -> bool) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let end = rest
            .char_indices()
            .find(|(_, character)| !wanted(*character, self.classes.of(*character)));
        at + end.map_or(rest.len(), |(end, _)| end)
    }

    /// `\s+(?!\S)|\s+`: a run of spaces, without its last one if a word follows and others remain.
    pub(super) fn spaces(&self, at: usize) -> Option<usize> {
        let end = self.all(at, |_, class| class & SPACE != 0);
        let run = &self.text[at..end];
        match run.chars().next_back() {
            Some(last) if end < self.text.len() && run.len() > last.len_utf8() => {
                Some(end - last.len_utf8())
            }
            Some(_) => Some(end),
            None => None,
        }
    }

    /// `\s*[\r\n]+`: a run of spaces up to its last line end.
    pub(super) fn line_ends(&self, at: usize) -> Option<usize> {
        let end = self.all(at, |_, class| class & SPACE != 0);
        self.text[at..end]
            .rfind(['\r', '\n'])
            .map(|last| at + last + 1)
    }
}
