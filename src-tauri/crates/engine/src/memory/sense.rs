//! What a question means, and how it was met: a search that is made again, as the words are typed, sent and answered anew, looks
//! into no passage twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use local::Embedding;

use super::interaction::InPassage;

/// Passages of which it stays known how they met one question: those of a few searches.
const MET: usize = 1_000;

/// [`Sense`], shared.
pub(crate) type Understood = Arc<Sense>;

/// A question as an encoder understands it.
#[derive(Debug)]
pub(crate) struct Sense {
    pub(crate) embedding: Embedding,
    /// Which encoder that is.
    pub(crate) model: String,
    met: Mutex<Met>,
}

/// How pieces of a question were met in passages, by the numbers of these. A passage never changes: what is read anew gets
/// another number.
#[derive(Debug, Default)]
struct Met {
    /// Which of its pieces.
    pieces: Vec<usize>,
    best: HashMap<i64, InPassage>,
}

impl Sense {
    pub(crate) fn new(embedding: Embedding, model: &str) -> Self {
        Self { embedding, model: model.to_owned(), met: Mutex::default() }
    }

    /// How its `pieces` were met in a passage.
    pub(super) fn met(&self, pieces: &[usize], passage: i64) -> Option<InPassage> {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.best.get(&passage).filter(|_| met.pieces == pieces).cloned()
    }

    pub(super) fn keep(&self, pieces: &[usize], passages: impl Iterator<Item = (i64, InPassage)>) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.pieces != pieces || met.best.len() > MET {
            *met = Met { pieces: pieces.to_vec(), best: HashMap::new() };
        }
        met.best.extend(passages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(best: &[i32]) -> InPassage {
        InPassage { best: best.to_vec(), near: 0.0, fit: 0.0, at: 0.5 }
    }

    #[test]
    fn what_is_known_is_known_of_the_same_pieces_only() {
        let sense = Sense::new(Embedding { tokens: Vec::new(), vectors: Vec::new(), mean: Vec::new() }, "encoder");
        assert_eq!(sense.met(&[], 7), None);
        sense.keep(&[1, 2], [(7, met(&[5, 6]))].into_iter());
        sense.keep(&[1, 2], [(8, met(&[0, 1]))].into_iter());
        assert_eq!(
            [7, 8, 9].map(|passage| sense.met(&[1, 2], passage)),
            [Some(met(&[5, 6])), Some(met(&[0, 1])), None]
        );
        assert_eq!(sense.met(&[1], 7), None, "a piece has become too common to count");
        sense.keep(&[1], [(9, met(&[4]))].into_iter());
        assert_eq!([7, 9].map(|passage| sense.met(&[1], passage)), [None, Some(met(&[4]))]);
    }

    #[test]
    fn a_question_that_is_asked_for_ever_takes_no_more_room() {
        let sense = Sense::new(Embedding { tokens: Vec::new(), vectors: Vec::new(), mean: Vec::new() }, "encoder");
        sense.keep(&[1], (0..=MET as i64).map(|passage| (passage, met(&[1]))));
        sense.keep(&[1], [(-1, met(&[2]))].into_iter());
        assert_eq!((sense.met(&[1], 0), sense.met(&[1], -1)), (None, Some(met(&[2]))));
    }
}
