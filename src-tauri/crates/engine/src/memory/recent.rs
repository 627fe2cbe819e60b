//! What was worked out of texts lately.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Of so many texts it stays known.
const KEPT: usize = 16;

/// The latest last.
#[derive(Debug)]
pub(super) struct Recent<T>(Mutex<VecDeque<(String, T)>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Recent<T> {
    pub(super) fn of(&self, text: &str) -> Option<T> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(of, _)| of == text).map(|(_, made)| made.clone())
    }

    pub(super) fn put(&self, text: &str, made: T) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn the_latest_are_known_and_no_more_of_them() {
        let recent = Recent::default();
        for number in 0..=KEPT {
            recent.put(&number.to_string(), number);
        }
        assert_eq!((recent.of("0"), recent.of("1"), recent.of(&KEPT.to_string())), (None, Some(1), Some(KEPT)));
    }
}
