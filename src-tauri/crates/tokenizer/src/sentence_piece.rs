//! SentencePiece by scores (`llama`): Llama 2, Mistral 7B, Gemma 1 to 3, Phi 3.
//!
//! It has no list of merges. The pair of neighbours whose token has the best score merges first;
//! ties go to the left-most pair. A character without a token is split into bytes.

use ahash::AHashMap;

use super::Unsupported;
use super::merging::{Merge, NO_TOKEN, Symbol, merge};
use crate::vocabulary::{TokenKind, Vocabulary};

/// Represents a space in the vocabulary.
const SPACE: char = '▁';

pub(super) struct SentencePiece {
    tokens: AHashMap<Box<str>, (u32, f32)>,
    bytes: Vec<u32>,
    space_prefix: bool,
    /// No token crosses the start of a word, so words can be processed one by one.
    by_word: bool,
}

impl SentencePiece {
    pub(super) fn of(vocabulary: &Vocabulary) -> Result<Self, Unsupported> {
        let scores = vocabulary
            .scores
            .iter()
            .copied()
            .chain(std::iter::repeat(0.0));
        let scored = vocabulary.tokens.iter().zip(0..).zip(scores);
        let tokens: AHashMap<Box<str>, (u32, f32)> = scored
            .map(|((text, id), score)| (text.as_str().into(), (id, score)))
            .collect();
        let byte = |byte: u8| {
            let found = tokens.get(format!("<0x{byte:02X}>").as_str());
            found
                .or_else(|| tokens.get(char::from(byte).encode_utf8(&mut [0; 4]) as &str))
                .map(|(id, _)| *id)
        };
        let bytes: Option<Vec<u32>> = (0..=255).map(byte).collect();
        let bytes = bytes.ok_or_else(|| {
            Unsupported::Vocabulary("it has no tokens for single bytes".to_owned())
        })?;
        let mut plain = vocabulary
            .tokens
            .iter()
            .zip(&vocabulary.kinds)
            .filter(|(_, kind)| **kind == TokenKind::Normal);
        let by_word = plain.all(|(text, _)| !text.trim_start_matches(SPACE).contains(SPACE));
        Ok(Self {
            tokens,
            bytes,
            space_prefix: vocabulary.space_prefix.unwrap_or(true),
            by_word,
        })
    }

    pub(super) fn split(&self, text: &str, after_token: bool, each: &mut dyn FnMut(&str)) {
        let prefix = if self.space_prefix && after_token {
            " "
        } else {
            ""
        };
        let text = [prefix, text].concat().replace(' ', "▁");
        let mut rest = text.as_str();
        while self.by_word && !rest.is_empty() {
            let spaces = rest.len() - rest.trim_start_matches(SPACE).len();
            let end = rest[spaces..]
                .find(SPACE)
                .map_or(rest.len(), |end| spaces + end);
            each(&rest[..end]);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            each(rest);
        }
    }

    pub(super) fn word(&self, word: &str, found: &mut Vec<u32>) {
        let token = |start, end| {
            self.tokens
                .get(&word[start..end])
                .map_or(NO_TOKEN, |(id, _)| *id)
        };
        let letters = word
            .char_indices()
            .map(|(start, letter)| (start, start + letter.len_utf8()));
        let mut symbols = letters
            .map(|(start, end)| Symbol {
                start,
                end,
                token: token(start, end),
            })
            .collect();
        merge(&mut symbols, |left, right| {
            let (token, score) = *self.tokens.get(&word[left.start..right.end])?;
            Some(Merge {
                rank: rank(score),
                token,
            })
        });
        for symbol in symbols {
            if symbol.token == NO_TOKEN {
                let bytes = word.as_bytes()[symbol.start..symbol.end].iter();
                found.extend(bytes.map(|byte| self.bytes[usize::from(*byte)]));
            } else {
                found.push(symbol.token);
            }
        }
    }
}

/// Converts a score to an integer of the same order.
fn rank(score: f32) -> u32 {
    let bits = score.to_bits();
    if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
    }
}
