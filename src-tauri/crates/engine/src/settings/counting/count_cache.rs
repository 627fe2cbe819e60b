//! Token counts in memory, because most texts of a prompt appear again in the next turn.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::TextHash;

/// Size of the cache: enough for the entries of any book that fits a context, and for many windows.
const MOST: usize = 50_000;

/// A count, and whether it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CachedCount {
    pub(crate) count: u32,
    pub(crate) stored: bool,
}

/// Counts by tokenizer, each by the hash of its text.
#[derive(Default)]
pub(crate) struct KnownCounts(Mutex<HashMap<String, HashMap<TextHash, CachedCount>>>);

impl KnownCounts {
    pub(crate) fn get(&self, tokenizer: &str, text: TextHash) -> Option<CachedCount> {
        self.known().get(tokenizer)?.get(&text).copied()
    }

    pub(crate) fn keep(
        &self,
        tokenizer: &str,
        counts: impl IntoIterator<Item = (TextHash, CachedCount)>,
    ) {
        let mut counts = counts.into_iter().peekable();
        if counts.peek().is_none() {
            return;
        }
        let mut known = self.known();
        let full = |known: &HashMap<String, HashMap<TextHash, CachedCount>>| {
            known.values().map(HashMap::len).sum::<usize>() >= MOST
        };
        if full(&known) {
            known.retain(|of, _| of == tokenizer);
        }
        if full(&known) {
            known.clear();
        }
        known
            .entry(tokenizer.to_owned())
            .or_default()
            .extend(counts);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, HashMap<TextHash, CachedCount>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(count: u32) -> CachedCount {
        CachedCount {
            count,
            stored: true,
        }
    }

    #[test]
    fn counts_are_separate_per_tokenizer() {
        let counts = KnownCounts::default();
        let [lamp, rain] = ["lamp", "rain"].map(TextHash::of);
        counts.keep("one", [(lamp, known(1))]);
        counts.keep("other", [(lamp, known(2))]);
        assert_eq!(
            (counts.get("one", lamp), counts.get("one", rain)),
            (Some(known(1)), None)
        );
        assert_eq!(
            (counts.get("other", lamp), counts.get("third", lamp)),
            (Some(known(2)), None)
        );
    }

    #[test]
    fn cache_size_is_limited() {
        let counts = KnownCounts::default();
        let first = TextHash::of("0");
        counts.keep(
            "one",
            (0..MOST).map(|number| (TextHash::of(&number.to_string()), known(1))),
        );
        assert_eq!(counts.get("one", first), Some(known(1)));
        counts.keep("other", [(first, known(2))]);
        assert_eq!(
            (counts.get("one", first), counts.get("other", first)),
            (None, Some(known(2)))
        );
    }
}
