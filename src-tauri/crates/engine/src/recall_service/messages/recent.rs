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
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, _)| of != text);
        if known.len() >= KEPT {
            known.pop_front();
        }
        known.push_back((text.to_owned(), made));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
