//! Byte-pair encoding by a rank list, as in OpenAI's `tiktoken`: the pair of neighbours whose
//! joined bytes have the lowest rank merges first. The rank of a token is also its id.

use std::io::Read;

use ahash::AHashMap;
use flate2::read::DeflateDecoder;

use super::merging::{Merge, Symbol, merge};
use super::split::{self, SplitStage};

pub(super) struct RankList {
    ranks: AHashMap<&'static [u8], u32>,
    /// Bytes of the longest token.
    longest: usize,
    /// Token of each byte.
    bytes: [u32; 256],
    stages: &'static [SplitStage],
}

impl RankList {
    /// Reads a list that [`pack`] wrote. The tokens stay in memory until the program ends.
    ///
    /// # Panics
    /// If the list is damaged, or lacks a token for a single byte.
    pub(super) fn read(packed: &[u8], stages: &'static [SplitStage]) -> Self {
        let tokens = unpack(packed);
        let ranks: AHashMap<&[u8], u32> = tokens.iter().copied().zip(0..).collect();
        let longest = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
        let bytes = std::array::from_fn(|byte| ranks[[byte as u8].as_slice()]);
        Self {
            ranks,
            longest,
            bytes,
            stages,
        }
    }

    pub(super) fn split(&self, text: &str, each: &mut dyn FnMut(&str)) {
        split::split(self.stages, text, each);
    }

    pub(super) fn word(&self, word: &str, found: &mut Vec<u32>) {
        let word = word.as_bytes();
        match self.rank(word) {
            Some(token) => found.push(token),
            None => found.extend(self.merged(word)),
        }
    }

    /// Returns the tokens of `word` by merging, even if the whole word is a token.
    pub(super) fn merged(&self, word: &[u8]) -> Vec<u32> {
        let bytes = word.iter().enumerate();
        let symbol = |(at, byte): (usize, &u8)| Symbol {
            start: at,
            end: at + 1,
            token: self.bytes[usize::from(*byte)],
        };
        let mut symbols = bytes.map(symbol).collect();
        merge(&mut symbols, |left, right| {
            let token = self.rank(&word[left.start..right.end])?;
            Some(Merge {
                rank: u32::MAX - token,
                token,
            })
        });
        symbols.iter().map(|symbol| symbol.token).collect()
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest {
            None
        } else {
            self.ranks.get(bytes).copied()
        }
    }
}

/// Returns the tokens of a packed list in the order of their ranks.
pub(super) fn unpack(packed: &[u8]) -> Vec<&'static [u8]> {
    let mut list = Vec::new();
    DeflateDecoder::new(packed)
        .read_to_end(&mut list)
        .expect("a built-in rank list must unpack");
    let list: &'static [u8] = list.leak();
    let (count, list) = list
        .split_first_chunk()
        .expect("a built-in rank list must state its number of tokens");
    let (lengths, mut rest) = list.split_at(u32::from_le_bytes(*count) as usize);
    let next = |length: &u8| {
        let (token, after) = rest.split_at(usize::from(*length));
        rest = after;
        token
    };
    lengths.iter().map(next).collect()
}

/// Packs `tokens`, which are in the order of their ranks: their number in four bytes, their lengths
/// in one byte each, then their bytes; all compressed by DEFLATE. Lengths and bytes are apart
/// because this compresses better.
#[cfg(test)]
pub(super) fn pack(tokens: &[&[u8]]) -> Vec<u8> {
    let count = u32::try_from(tokens.len()).unwrap().to_le_bytes().to_vec();
    let lengths = tokens
        .iter()
        .map(|token| u8::try_from(token.len()).unwrap())
        .collect();
    let list = [count, lengths, tokens.concat()].concat();
    let mut packed = Vec::new();
    // Level 10 is the best of the pure Rust backend.
    flate2::read::DeflateEncoder::new(list.as_slice(), flate2::Compression::new(10))
        .read_to_end(&mut packed)
        .unwrap();
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_list_returns_the_same_tokens() {
        let tokens: [&[u8]; 4] = [b"a", b"", &[255, 0], &[7; 255]];
        assert_eq!(unpack(&pack(&tokens)), tokens);
        assert!(unpack(&pack(&[])).is_empty());
    }

    #[test]
    fn merges_lowest_rank_first() {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let mut tokens: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        tokens.extend([b"bc".as_slice(), b"ab", b"abcd", b"cd"]);
        let list = RankList::read(&pack(&tokens), split::CL100K);
        let tokens = |word: &str| {
            let mut found = Vec::new();
            list.word(word, &mut found);
            found
        };
        assert_eq!(tokens("abc"), [97, 256], "the pair of the lowest rank");
        assert_eq!(tokens("abcd"), [258], "a word that is a token is not split");
        assert_eq!(
            tokens("abcde"),
            [97, 256, 100, 101],
            "no merges lead to that token"
        );
        assert_eq!(tokens("é"), [0xc3, 0xa9]);
        assert!(tokens("").is_empty());
    }
}
