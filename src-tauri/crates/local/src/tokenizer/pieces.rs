//! SentencePiece by scores (`llama`): Llama 2, Mistral 7B, Gemma 1 to 3, Phi 3.
//!
//! There is no list of merges: of all neighbours that make a token together, those with the best score are joined first,
//! the left-most first among equals. What is no token goes down to bytes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use ahash::AHashMap;

use super::Unsupported;
use crate::gguf::{TokenKind, Vocabulary};

/// What stands for a space.
const SPACE: char = '▁';

pub(super) struct Pieces {
    tokens: AHashMap<Box<str>, (u32, f32)>,
    bytes: Vec<u32>,
    space_prefix: bool,
    /// No token goes on over the beginning of a word, so that words can be looked at one by one.
    by_word: bool,
}

impl Pieces {
    pub(super) fn of(vocabulary: &Vocabulary) -> Result<Self, Unsupported> {
        let scores = vocabulary.scores.iter().copied().chain(std::iter::repeat(0.0));
        let scored = vocabulary.tokens.iter().zip(0..).zip(scores);
        let tokens: AHashMap<Box<str>, (u32, f32)> =
            scored.map(|((text, id), score)| (text.as_str().into(), (id, score))).collect();
        let byte = |byte: u8| {
            let found = tokens.get(format!("<0x{byte:02X}>").as_str());
            found.or_else(|| tokens.get(char::from(byte).encode_utf8(&mut [0; 4]) as &str)).map(|(id, _)| *id)
        };
        let bytes: Option<Vec<u32>> = (0..=255).map(byte).collect();
        let bytes = bytes.ok_or_else(|| Unsupported::Vocabulary("it has no tokens for single bytes".to_owned()))?;
        let mut plain = vocabulary.tokens.iter().zip(&vocabulary.kinds).filter(|(_, kind)| **kind == TokenKind::Normal);
        let by_word = plain.all(|(text, _)| !text.trim_start_matches(SPACE).contains(SPACE));
        Ok(Self { tokens, bytes, space_prefix: vocabulary.space_prefix.unwrap_or(true), by_word })
    }

    pub(super) fn split(&self, text: &str, after_token: bool, each: &mut dyn FnMut(&str)) {
        let prefix = if self.space_prefix && after_token { " " } else { "" };
        let text = [prefix, text].concat().replace(' ', "▁");
        let mut rest = text.as_str();
        while self.by_word && !rest.is_empty() {
            let spaces = rest.len() - rest.trim_start_matches(SPACE).len();
            let end = rest[spaces..].find(SPACE).map_or(rest.len(), |end| spaces + end);
            each(&rest[..end]);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            each(rest);
        }
    }

    pub(super) fn word(&self, word: &str, tokens: &mut Vec<u32>) {
        let mut joining = Joining::of(self, word);
        while let Some(pair) = joining.queue.pop() {
            joining.join(self, &pair);
        }
        for symbol in joining.symbols.iter().filter(|symbol| symbol.end > symbol.start) {
            match self.tokens.get(&word[symbol.start..symbol.end]) {
                Some((id, _)) => tokens.push(*id),
                None => {
                    let bytes = word[symbol.start..symbol.end].bytes();
                    tokens.extend(bytes.map(|byte| self.bytes[usize::from(byte)]));
                }
            }
        }
    }
}

const NONE: usize = usize::MAX;

/// A piece of the word; joined into its left neighbour it is empty.
struct Symbol {
    start: usize,
    end: usize,
    left: usize,
    right: usize,
}

/// Two neighbours that make a token together.
struct Pair {
    score: f32,
    left: usize,
    right: usize,
    length: usize,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.left.cmp(&self.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

struct Joining<'w> {
    word: &'w str,
    symbols: Vec<Symbol>,
    queue: BinaryHeap<Pair>,
}

impl<'w> Joining<'w> {
    fn of(pieces: &Pieces, word: &'w str) -> Self {
        let mut symbols: Vec<Symbol> = word
            .char_indices()
            .enumerate()
            .map(|(at, (start, letter))| Symbol {
                start,
                end: start + letter.len_utf8(),
                left: at.wrapping_sub(1),
                right: at + 1,
            })
            .collect();
        if let Some(last) = symbols.last_mut() {
            last.right = NONE;
        }
        let mut joining = Self { word, queue: BinaryHeap::with_capacity(symbols.len()), symbols };
        for right in 1..joining.symbols.len() {
            joining.consider(pieces, right - 1, right);
        }
        joining
    }

    fn consider(&mut self, pieces: &Pieces, left: usize, right: usize) {
        if left == NONE || right == NONE {
            return;
        }
        let text = &self.word[self.symbols[left].start..self.symbols[right].end];
        if let Some((_, score)) = pieces.tokens.get(text) {
            self.queue.push(Pair { score: *score, left, right, length: text.len() });
        }
    }

    fn join(&mut self, pieces: &Pieces, pair: &Pair) {
        let (left, right) = (&self.symbols[pair.left], &self.symbols[pair.right]);
        let gone = left.start == left.end || right.start == right.end;
        // Either side may have grown since.
        if gone || right.end - left.start != pair.length {
            return;
        }
        let (before, end, after) = (left.left, right.end, right.right);
        self.symbols[pair.left].end = end;
        self.symbols[pair.left].right = after;
        self.symbols[pair.right].end = self.symbols[pair.right].start;
        if after != NONE {
            self.symbols[after].left = pair.left;
        }
        self.consider(pieces, before, pair.left);
        self.consider(pieces, pair.left, after);
    }
}
