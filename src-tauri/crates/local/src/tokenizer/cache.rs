//! Words that were met before: most of any text.

use ahash::AHashMap;

/// Longer words are rare, and would fill the cache.
const LONGEST: usize = 96;
/// Words to remember; then it begins anew. About 8 MB of ordinary words.
const WORDS: usize = 1 << 16;

/// Tokens of words.
#[derive(Default)]
pub(super) struct Cache {
    places: AHashMap<Box<str>, (u32, u32)>,
    tokens: Vec<u32>,
    /// Of the last long word.
    long: Vec<u32>,
}

impl Cache {
    /// The tokens of `word`, which `make` finds out where the word is new.
    pub(super) fn get(&mut self, word: &str, make: impl FnOnce(&mut Vec<u32>)) -> &[u32] {
        if word.len() > LONGEST {
            self.long.clear();
            make(&mut self.long);
            return &self.long;
        }
        if let Some((at, count)) = self.places.get(word) {
            return &self.tokens[*at as usize..][..*count as usize];
        }
        if self.places.len() >= WORDS {
            *self = Self::default();
        }
        let at = self.tokens.len();
        make(&mut self.tokens);
        // At most as many tokens as bytes: 96 times 65,536.
        self.places.insert(word.into(), (at as u32, (self.tokens.len() - at) as u32));
        &self.tokens[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_cut_once_and_the_cache_stays_small() {
        let mut cache = Cache::default();
        let mut made = 0;
        for word in ["lamp", "quay", "lamp", ""] {
            let tokens = cache.get(word, |tokens| {
                made += 1;
                tokens.extend(word.bytes().map(u32::from));
            });
            assert!(tokens.iter().map(|token| *token as u8).eq(word.bytes()), "{word}");
        }
        assert_eq!(made, 3);
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(cache.get(&long, |tokens| tokens.push(1)), [1]);
        (0..2 * WORDS).for_each(|word| {
            cache.get(&word.to_string(), |tokens| tokens.push(word as u32));
        });
        assert!(cache.places.len() <= WORDS);
        assert_eq!(cache.get("7", |tokens| tokens.push(7)), [7]);
    }
}
