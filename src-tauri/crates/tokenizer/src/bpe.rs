//! Byte-pair encoding by a list of merges (`gpt2`): GPT-2, Llama 3, Qwen, SmolLM and most others.

use ahash::AHashMap;

use super::Unsupported;
use super::merging::{Merge, NO_TOKEN, Symbol, merge};
use super::split::{self, Pre};
use crate::vocabulary::Vocabulary;

pub(super) struct BytePairs {
    pre: Pre,
    tokens: AHashMap<Box<str>, u32>,
    /// Result of merging two tokens, by both ids.
    merges: AHashMap<u64, Merge>,
    /// Token of each byte, or [`NO_TOKEN`].
    bytes: [u32; 256],
    /// Letter that represents each byte.
    letters: [char; 256],
}

impl BytePairs {
    pub(super) fn of(vocabulary: &Vocabulary) -> Result<Self, Unsupported> {
        let name = if vocabulary.model == "gemma4" {
            "gemma4"
        } else {
            vocabulary.pre.as_deref().unwrap_or_default()
        };
        let pre =
            split::pre(name).ok_or_else(|| Unsupported::Rule(name.chars().take(60).collect()))?;
        let tokens: AHashMap<Box<str>, u32> = vocabulary
            .tokens
            .iter()
            .map(|text| text.as_str().into())
            .zip(0..)
            .collect();
        let letters = byte_letters();
        let bytes = std::array::from_fn(|byte| {
            let text = if pre.byte_letters {
                letters[byte].to_string()
            } else {
                format!("<0x{byte:02X}>")
            };
            tokens.get(text.as_str()).copied().unwrap_or(NO_TOKEN)
        });
        Ok(Self {
            merges: merges(vocabulary, &tokens)?,
            pre,
            tokens,
            bytes,
            letters,
        })
    }

    pub(super) fn split(&self, text: &str, each: &mut dyn FnMut(&str)) {
        if self.pre.byte_letters {
            split::split(self.pre.stages, text, each);
        } else {
            split::split(self.pre.stages, &text.replace(' ', "▁"), each);
        }
    }

    pub(super) fn word(&self, word: &str, found: &mut Vec<u32>) {
        if let Some(token) = self.whole(word) {
            return found.push(token);
        }
        let mut symbols = if self.pre.byte_letters {
            self.by_byte(word)
        } else {
            self.by_letter(word)
        };
        merge(&mut symbols, |left, right| {
            self.merges.get(&pair(left.token, right.token)).copied()
        });
        for symbol in symbols {
            if symbol.token != NO_TOKEN {
                found.push(symbol.token);
            } else if !self.pre.byte_letters {
                let bytes = word.as_bytes()[symbol.start..symbol.end].iter();
                found.extend(
                    bytes
                        .map(|byte| self.bytes[usize::from(*byte)])
                        .filter(|token| *token != NO_TOKEN),
                );
            }
        }
    }

    /// Returns the token of a word that is not split further.
    fn whole(&self, word: &str) -> Option<u32> {
        if self.pre.whole_words {
            let letters: String = word
                .bytes()
                .map(|byte| self.letters[usize::from(byte)])
                .collect();
            return self.tokens.get(letters.as_str()).copied();
        }
        let line_ends = !self.pre.byte_letters && word.bytes().all(|byte| byte == b'\n');
        if line_ends {
            self.tokens.get(word).copied()
        } else {
            None
        }
    }

    fn by_byte(&self, word: &str) -> Vec<Symbol> {
        let bytes = word.bytes().enumerate();
        bytes
            .map(|(at, byte)| Symbol {
                start: at,
                end: at + 1,
                token: self.bytes[usize::from(byte)],
            })
            .collect()
    }

    fn by_letter(&self, word: &str) -> Vec<Symbol> {
        let letters = word
            .char_indices()
            .map(|(start, letter)| (start, start + letter.len_utf8()));
        let token = |start, end| {
            self.tokens
                .get(&word[start..end])
                .copied()
                .unwrap_or(NO_TOKEN)
        };
        letters
            .map(|(start, end)| Symbol {
                start,
                end,
                token: token(start, end),
            })
            .collect()
    }
}

fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

fn merges(
    vocabulary: &Vocabulary,
    tokens: &AHashMap<Box<str>, u32>,
) -> Result<AHashMap<u64, Merge>, Unsupported> {
    let mut merges = AHashMap::with_capacity(vocabulary.merges.len());
    for (merge, rank) in vocabulary.merges.iter().zip((0..u32::MAX).rev()) {
        let Some((left, right)) = sides(merge) else {
            continue;
        };
        let token = |text: &str| {
            let missing =
                || Unsupported::Vocabulary(format!("the merge result {text:.40?} is not a token"));
            tokens.get(text).copied().ok_or_else(missing)
        };
        let joined = Merge {
            rank,
            token: token(&[left, right].concat())?,
        };
        // The first of two equal merges applies.
        merges
            .entry(pair(token(left)?, token(right)?))
            .or_insert(joined);
    }
    Ok(merges)
}

/// Splits a merge into its two sides. The first may begin with a space.
fn sides(merge: &str) -> Option<(&str, &str)> {
    let first = merge.chars().next()?.len_utf8();
    let at = first + merge[first..].find(' ')?;
    Some((&merge[..at], &merge[at + 1..]))
}

/// GPT-2's byte alphabet: printable Latin-1 maps to itself, the other bytes to letters from U+0100
/// on.
fn byte_letters() -> [char; 256] {
    let mut others = '\u{100}'..;
    std::array::from_fn(|byte| match byte as u8 {
        byte @ (b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff) => byte.into(),
        _ => others.next().unwrap_or_default(),
    })
}
