//! The embedding of a question, and a cache of its late interaction. The same question is searched
//! several times: while the user types it, when it is sent, and for each regenerated reply. The
//! cache avoids comparing a passage twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::embedding::Embedding;

use crate::late_interaction::PassageScore;

/// Maximum number of passages in the cache of one question: enough for a few searches.
const MET: usize = 1_000;

/// A shared [`QueryEmbedding`].
pub type Understood = Arc<QueryEmbedding>;

/// The embedding of a question.
#[derive(Debug)]
pub struct QueryEmbedding {
    pub embedding: Embedding,
    /// The encoder that made it.
    pub model: String,
    met: Mutex<MaxSimCache>,
}

/// Results of late interaction by the number of the passage. A passage never changes: one that is
/// embedded again gets another number.
#[derive(Debug, Default)]
struct MaxSimCache {
    /// Indexes of the question's tokens that were compared.
    pieces: Vec<usize>,
    best: HashMap<i64, PassageScore>,
}

impl QueryEmbedding {
    pub fn new(embedding: Embedding, model: &str) -> Self {
        Self {
            embedding,
            model: model.to_owned(),
            met: Mutex::default(),
        }
    }

    /// The cached result for its tokens `pieces` in a passage.
    pub fn cached(&self, pieces: &[usize], passage: i64) -> Option<PassageScore> {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.best
            .get(&passage)
            .filter(|_| met.pieces == pieces)
            .cloned()
    }

    pub fn store(&self, pieces: &[usize], passages: impl Iterator<Item = (i64, PassageScore)>) {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.pieces != pieces || met.best.len() > MET {
            *met = MaxSimCache {
                pieces: pieces.to_vec(),
                best: HashMap::new(),
            };
        }
        met.best.extend(passages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(best: &[i32]) -> PassageScore {
        PassageScore {
            best: best.to_vec(),
            near: 0.0,
            fit: 0.0,
            at: 0.5,
        }
    }

    #[test]
    fn caches_results_for_the_same_tokens_only() {
        let sense = QueryEmbedding::new(
            Embedding {
                tokens: Vec::new(),
                vectors: Vec::new(),
                mean: Vec::new(),
            },
            "encoder",
        );
        assert_eq!(sense.cached(&[], 7), None);
        sense.store(&[1, 2], [(7, met(&[5, 6]))].into_iter());
        sense.store(&[1, 2], [(8, met(&[0, 1]))].into_iter());
        assert_eq!(
            [7, 8, 9].map(|passage| sense.cached(&[1, 2], passage)),
            [Some(met(&[5, 6])), Some(met(&[0, 1])), None]
        );
        assert_eq!(
            sense.cached(&[1], 7),
            None,
            "other tokens are informative now"
        );
        sense.store(&[1], [(9, met(&[4]))].into_iter());
        assert_eq!(
            [7, 9].map(|passage| sense.cached(&[1], passage)),
            [None, Some(met(&[4]))]
        );
    }

    #[test]
    fn cache_of_one_question_is_bounded() {
        let sense = QueryEmbedding::new(
            Embedding {
                tokens: Vec::new(),
                vectors: Vec::new(),
                mean: Vec::new(),
            },
            "encoder",
        );
        sense.store(&[1], (0..=MET as i64).map(|passage| (passage, met(&[1]))));
        sense.store(&[1], [(-1, met(&[2]))].into_iter());
        assert_eq!(
            (sense.cached(&[1], 0), sense.cached(&[1], -1)),
            (None, Some(met(&[2])))
        );
    }
}
