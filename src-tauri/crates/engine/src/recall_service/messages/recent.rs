//! A cache of values that were recently computed from texts.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Maximum number of entries.
const KEPT: usize = 16;

/// The latest entry is last.
#[derive(Debug)]
pub(crate) struct Recent<T>(Mutex<VecDeque<(String, T)>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Recent<T> {
    pub(crate) fn of(&self, text: &str) -> Option<T> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .find(|(of, _)| of == text)
            .map(|(_, made)| made.clone())
    }

    pub(crate) fn put(&self, text: &str, made: T) {
        self.get_or_put(text, |_| false, || made);
    }

    /// The value of `text` if it `is_valid`, else the one that `make` returns, which is kept.
    pub(crate) fn get_or_put(
        &self,
        text: &str,
        is_valid: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let valid = known
            .iter()
            .find(|(of, known)| of == text && is_valid(known));
        if let Some((_, valid)) = valid {
            return valid.clone();
        }
        let made = make();
        known.retain(|(of, _)| of != text);
        if known.len() >= KEPT {
            known.pop_front();
        }
        known.push_back((text.to_owned(), made.clone()));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_an_invalid_entry() {
        let recent = Recent::<i32>::default();
        let even = |made: i32| recent.get_or_put("text", |known| known % 2 == 0, || made);
        assert_eq!([1, 2, 4].map(even), [1, 2, 2]);
        assert_eq!(recent.of("text"), Some(2));
    }

    #[test]
    fn keeps_only_the_latest_entries() {
        let recent = Recent::default();
        for number in 0..=KEPT {
            recent.put(&number.to_string(), number);
        }
        assert_eq!(
            (recent.of("0"), recent.of("1"), recent.of(&KEPT.to_string())),
            (None, Some(1), Some(KEPT))
        );
    }
}
