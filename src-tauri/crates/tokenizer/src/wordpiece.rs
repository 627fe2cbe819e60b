//! WordPiece (`bert`): matches the longest tokens from the left, word by word.

use ahash::AHashMap;
use unicode_normalization::char::decompose_canonical;

use super::class::{CONTROL, Classes, MARK, PUNCTUATION, SPACE, SYMBOL};
use crate::vocabulary::Vocabulary;

/// Usual id of `[UNK]`.
const UNKNOWN: u32 = 100;

pub(super) struct WordPieces {
    tokens: AHashMap<Box<str>, u32>,
    /// Bytes of the longest token.
    longest: usize,
    unknown: u32,
    lowercase: bool,
    strip_accents: bool,
}

impl WordPieces {
    pub(super) fn of(vocabulary: &Vocabulary) -> Self {
        let lowercase = vocabulary.lowercase.unwrap_or(true);
        Self {
            tokens: vocabulary
                .tokens
                .iter()
                .map(|text| text.as_str().into())
                .zip(0..)
                .collect(),
            longest: vocabulary.tokens.iter().map(String::len).max().unwrap_or(0),
            unknown: vocabulary.unknown.unwrap_or(UNKNOWN),
            lowercase,
            strip_accents: vocabulary.strip_accents.unwrap_or(lowercase),
        }
    }

    /// Splits `text` into normalised words, each with the word-start marker.
    pub(super) fn split(&self, text: &str, each: &mut dyn FnMut(&str)) {
        let classes = Classes::get();
        let mut word = String::new();
        let mut end = |word: &mut String| {
            if word.len() > START.len() {
                each(word);
            }
            word.clear();
            word.push_str(START);
        };
        end(&mut word);
        for character in text.chars() {
            let base = if self.strip_accents {
                base(character)
            } else {
                character
            };
            let class = classes.of(base);
            if class & SPACE != 0 {
                end(&mut word);
                continue;
            }
            if matches!(base, '\0' | '\u{fffd}')
                || class & CONTROL != 0
                || self.strip_accents && class & MARK != 0
            {
                continue;
            }
            let folded = if self.lowercase {
                base.to_lowercase().next().unwrap_or(base)
            } else {
                base
            };
            if class & PUNCTUATION != 0 || base.is_ascii() && class & SYMBOL != 0 || is_han(base) {
                end(&mut word);
                word.push(folded);
                end(&mut word);
            } else {
                word.push(folded);
            }
        }
        end(&mut word);
    }

    pub(super) fn word(&self, word: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        let mut at = 0;
        while at < word.len() {
            let furthest = word.len().min(at + self.longest);
            let longest = (at + 1..=furthest).rev().find_map(|end| {
                let token = self.tokens.get(word.get(at..end)?)?;
                Some((*token, end))
            });
            let Some((token, end)) = longest else {
                tokens.truncate(before);
                return tokens.push(self.unknown);
            };
            tokens.push(token);
            at = end;
        }
    }
}

/// Marker before a word's first token.
const START: &str = "▁";

/// Returns the base letter without accents: the first character of the canonical decomposition.
fn base(character: char) -> char {
    let mut base = None;
    decompose_canonical(character, |part| base = base.or(Some(part)));
    base.unwrap_or(character)
}

/// Han characters, each of which is a separate word. The gap below U+2B920 matches the reference.
fn is_han(character: char) -> bool {
    matches!(character,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}'
        | '\u{2b920}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}')
}
