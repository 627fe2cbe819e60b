//! Caches the tokens of words, because most words of a text repeat.

use ahash::AHashMap;

/// Maximum bytes of a cached word. Longer words are rare and would fill the cache.
const LONGEST: usize = 96;
/// Maximum number of cached words, about 8 MB; then the cache is cleared.
const WORDS: usize = 1 << 16;

/// Cache of tokens by word.
#[derive(Default)]
pub(super) struct WordCache {
    ranges: AHashMap<Box<str>, (u32, u32)>,
    tokens: Vec<u32>,
    /// Tokens of the last word that was too long to cache.
    long: Vec<u32>,
}

impl WordCache {
    /// Returns the tokens of `word`; `make` computes them if the word is not cached.
    pub(super) fn get(&mut self, word: &str, make: impl FnOnce(&mut Vec<u32>)) -> &[u32] {
        if word.len() > LONGEST {
            self.long.clear();
            make(&mut self.long);
            return &self.long;
        }
        if let Some((at, count)) = self.ranges.get(word) {
            return &self.tokens[*at as usize..][..*count as usize];
        }
        if self.ranges.len() >= WORDS {
            *self = Self::default();
        }
        let at = self.tokens.len();
        make(&mut self.tokens);
        // At most one token per byte: 96 times 65,536.
        self.ranges
            .insert(word.into(), (at as u32, (self.tokens.len() - at) as u32));
        &self.tokens[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_each_word_within_its_limit() {
        let mut cache = WordCache::default();
        let mut made = 0;
        for word in ["lamp", "quay", "lamp", ""] {
            let tokens = cache.get(word, |tokens| {
                made += 1;
                tokens.extend(word.bytes().map(u32::from));
            });
            assert!(
                tokens.iter().map(|token| *token as u8).eq(word.bytes()),
                "{word}"
            );
        }
        assert_eq!(made, 3);
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(cache.get(&long, |tokens| tokens.push(1)), [1]);
        (0..2 * WORDS).for_each(|word| {
            cache.get(&word.to_string(), |tokens| tokens.push(word as u32));
        });
        assert!(cache.ranges.len() <= WORDS);
        assert_eq!(cache.get("7", |tokens| tokens.push(7)), [7]);
    }
}
