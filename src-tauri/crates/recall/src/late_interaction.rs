//! Late interaction (as in ColBERT): each token of the question is compared with each token of a
//! passage, and its best match counts (MaxSim). Pure, apart from the iterator that reads passages.

use std::array;
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use domain::embedding::Embedding;

use crate::signals::MessagePosition;
use crate::similarity::{CORES, best_products};

/// Tokens that are scored together: a short sentence.
const SENTENCE: usize = 12;
/// Number of adjacent sentences within which the tokens must match. In a long text every token
/// matches somewhere, whatever the text is about.
const TOGETHER: usize = 2;
/// Step in tokens between possible beginnings of the best sentence.
const STEP: usize = 4;
/// Number of steps in a sentence.
const STEPS: usize = SENTENCE / STEP;
/// Number of similarities that are summed at the same time. The order of additions decides how a
/// sum is rounded, so each waits for the one before it. The processor adds to other sums meanwhile.
const SUMS: usize = 8;
/// Maximum number of threads that score passages. One of them reads all passages before it scores.
const THREADS: usize = 4;

/// The informative tokens of the question. The weight of a token is higher the fewer passages
/// contain it (IDF).
pub struct QueryTokens {
    /// Vector of the whole question, of length 1.
    pub mean: Vec<f32>,
    pub dimensions: NonZero<usize>,
    /// Their indexes in the question.
    pub pieces: Vec<usize>,
    /// Their vectors, concatenated; see [`best_products`].
    pub vectors: Vec<i16>,
    pub weights: Vec<f32>,
}

impl QueryTokens {
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Scores a passage: MaxSim within adjacent sentences, the cosine similarity of the nearest
    /// sentence, and the position of the best one.
    fn max_sim(&self, passage: &[i8]) -> PassageScore {
        let steps = passage.chunks(STEP * self.dimensions.get());
        let steps: Vec<PartialMatch> = steps.map(|step| self.part(step)).collect();
        let sentences: Vec<PartialMatch> = steps.chunks(STEPS).map(PartialMatch::of).collect();
        let near = self
            .similarities(&sentences)
            .into_iter()
            .fold(-1.0, f32::max);
        let (fit, at) = self.best_sentence(&steps);
        PassageScore {
            best: self.best_group(&sentences),
            near,
            fit,
            at,
        }
    }

    fn part(&self, pieces: &[i8]) -> PartialMatch {
        let mut sum = vec![0_i32; self.dimensions.get()];
        for piece in pieces.chunks_exact(self.dimensions.get()) {
            sum.iter_mut()
                .zip(piece)
                .for_each(|(sum, number)| *sum += i32::from(*number));
        }
        let best = best_products(&self.vectors, pieces, self.dimensions);
        PartialMatch {
            best,
            sum,
            pieces: pieces.len() / self.dimensions,
        }
    }

    /// The score of the best sentence (MaxSim plus cosine similarity) and its middle, 0 to 1 in the
    /// passage. Ties go to the first.
    fn best_sentence(&self, steps: &[PartialMatch]) -> (f32, f32) {
        let sentences: Vec<PartialMatch> = steps
            .windows(STEPS.min(steps.len()).max(1))
            .map(PartialMatch::of)
            .collect();
        let similarities = self.similarities(&sentences);
        let fits =
            sentences
                .iter()
                .zip(similarities)
                .enumerate()
                .map(|(step, (sentence, similarity))| {
                    (
                        self.score(&sentence.best) + similarity,
                        2 * step * STEP + sentence.pieces,
                    )
                });
        let best = fits.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let twice_all: usize = steps.iter().map(|step| 2 * step.pieces).sum();
        best.map_or((f32::MIN, 0.0), |(fit, twice_the_middle)| {
            (fit, twice_the_middle as f32 / twice_all as f32)
        })
    }

    /// Cosine similarity of the whole question and the sum of the token vectors of each part.
    fn similarities(&self, parts: &[PartialMatch]) -> Vec<f32> {
        parts
            .chunks(SUMS)
            .flat_map(|parts| self.similarities_of_few(parts))
            .collect()
    }

    /// [`Self::similarities`] for one to [`SUMS`] parts.
    fn similarities_of_few(&self, parts: &[PartialMatch]) -> impl Iterator<Item = f32> {
        let last = parts.len() - 1;
        let sums: [&[i32]; SUMS] =
            array::from_fn(|place| &parts[place.min(last)].sum[..self.mean.len()]);
        let [mut products, mut squares] = [[0.0_f32; SUMS]; 2];
        for (at, asked) in self.mean.iter().enumerate() {
            for ((sum, product), square) in sums.iter().zip(&mut products).zip(&mut squares) {
                let number = sum[at] as f32;
                *product += asked * number;
                *square += number * number;
            }
        }
        products
            .into_iter()
            .zip(squares)
            .take(parts.len())
            .map(|(product, square)| product / square.sqrt().max(f32::MIN_POSITIVE))
    }

    /// The best products within the group of adjacent sentences that has the highest score.
    fn best_group(&self, sentences: &[PartialMatch]) -> Vec<i32> {
        let parts = sentences
            .windows(TOGETHER.min(sentences.len()).max(1))
            .map(PartialMatch::best_of);
        let scored = parts.map(|best| (self.score(&best), best));
        let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or_else(|| vec![0; self.weights.len()], |(_, best)| best)
    }

    /// The MaxSim score: the mean of the best products, weighted by IDF. It is a mean of cosine
    /// similarities, so it is from -1 to 1.
    pub fn score(&self, best: &[i32]) -> f32 {
        let scale = Embedding::SCALE * Embedding::SCALE;
        let sum: f32 = self
            .weights
            .iter()
            .zip(best)
            .map(|(weight, best)| weight * *best as f32 / scale)
            .sum();
        sum / self.weights.iter().sum::<f32>().max(f32::MIN_POSITIVE)
    }
}

/// How well a passage matches the tokens of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageScore {
    /// The best product of each token.
    pub best: Vec<i32>,
    /// Cosine similarity of the nearest sentence to the whole question.
    pub near: f32,
    /// Score of the best sentence: MaxSim plus cosine similarity.
    pub fit: f32,
    /// The middle of that sentence, from 0 at the beginning of the passage to 1 at its end.
    pub at: f32,
}

/// Adjacent tokens of a passage.
struct PartialMatch {
    /// The best product of each token of the question.
    best: Vec<i32>,
    /// The sum of their vectors.
    sum: Vec<i32>,
    pieces: usize,
}

impl PartialMatch {
    /// All of `parts` joined; there must be at least one.
    fn of(parts: &[Self]) -> Self {
        let mut sum = parts[0].sum.clone();
        for part in &parts[1..] {
            sum.iter_mut()
                .zip(&part.sum)
                .for_each(|(sum, other)| *sum += other);
        }
        Self {
            best: Self::best_of(parts),
            sum,
            pieces: parts.iter().map(|part| part.pieces).sum(),
        }
    }

    /// The best products in any of `parts`; there must be at least one.
    fn best_of(parts: &[Self]) -> Vec<i32> {
        let mut best = parts[0].best.clone();
        for part in &parts[1..] {
            best.iter_mut()
                .zip(&part.best)
                .for_each(|(best, other)| *best = (*best).max(*other));
        }
        best
    }
}

/// The position in a message that matches the question best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Index of the passage in the message.
    pub passage: usize,
    /// See [`PassageScore::at`].
    pub at: f32,
}

impl Nearest {
    /// The byte offset of that position in a text whose passage has the byte range `near`.
    pub fn within(self, near: &Range<usize>) -> usize {
        let into = (self.at * near.len() as f32) as usize;
        near.start + into.min(near.len().saturating_sub(1))
    }
}

/// A message, the number of one of its passages, and how well that matches.
pub type ScoredPassage = (MessagePosition, i64, PassageScore);

/// Scores passages while others are read. One thread reads, and then scores like the others.
pub fn max_sim<E>(
    query: &QueryTokens,
    read: impl Iterator<Item = Result<(MessagePosition, i64, Vec<i8>), E>>,
) -> Result<Vec<ScoredPassage>, E> {
    let mut read = read.peekable();
    if read.peek().is_none() {
        return Ok(Vec::new());
    }
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    let next = || {
        receive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
            .ok()
    };
    let max_sim = || {
        let scored = std::iter::from_fn(next).map(|(place, number, vectors): (_, _, Vec<i8>)| {
            (place, number, query.max_sim(&vectors))
        });
        scored.collect::<Vec<ScoredPassage>>()
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..CORES.clamp(2, THREADS))
            .map(|_| scope.spawn(max_sim))
            .collect();
        for passage in read {
            // The receiver outlives all threads, so sending cannot fail.
            let _received = send.send(passage?);
        }
        drop(send);
        let mut scored = max_sim();
        for other in others {
            scored.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        Ok(scored)
    })
}

/// The best position among the passages of one message, given as (number, fit, position).
pub fn nearest(mut passages: Vec<(i64, f32, f32)>) -> Nearest {
    passages.sort_unstable_by_key(|(number, ..)| *number);
    let numbered = passages.into_iter().enumerate();
    let best = numbered.max_by(|(_, (_, a, _)), (_, (_, b, _))| a.total_cmp(b));
    best.map_or(
        Nearest {
            passage: 0,
            at: 0.0,
        },
        |(passage, (.., at))| Nearest { passage, at },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(vectors: &[[i8; 2]]) -> QueryTokens {
        let dimensions = NonZero::new(2).unwrap();
        let (pieces, weights) = ((0..vectors.len()).collect(), vec![1.0; vectors.len()]);
        let numbers = vectors.iter().flatten();
        QueryTokens {
            mean: vec![0.6, 0.8],
            dimensions,
            pieces,
            vectors: numbers.map(|number| i16::from(*number)).collect(),
            weights,
        }
    }

    #[test]
    fn locates_match_in_long_passage() {
        let asked = asked(&[[100, 0], [0, 100]]);
        let mut passage = vec![[1, 1]; 10 * SENTENCE];
        passage[7 * SENTENCE - 1] = [90, 0];
        passage[7 * SENTENCE] = [0, 90];
        let met = asked.max_sim(&passage.concat());
        assert_eq!(
            (met.best, (met.at * 100.0).round()),
            (vec![9_000, 9_000], 68.0)
        );
        let PassageScore { best, near, at, .. } = asked.max_sim(&[90, 0]);
        assert_eq!((best, near, at), (vec![9_000, 0], 0.6, 0.5));
        let PassageScore { best, near, at, .. } = asked.max_sim(&[]);
        assert_eq!((best, near, at), (vec![0, 0], -1.0, 0.0));
    }

    #[test]
    fn picks_passage_nearest_whole_query() {
        let asked = asked(&[[100, 0]]);
        let mut passage = vec![[-50, 10]; 10 * SENTENCE];
        passage[5] = [90, 0];
        passage[98..98 + SENTENCE].fill([60, 80]);
        passage[100] = [90, 0];
        let at = asked.max_sim(&passage.concat()).at;
        assert!((0.82..0.92).contains(&at), "{at}");
    }

    #[test]
    fn sentence_similarity_sums_its_tokens() {
        let asked = asked(&[[100, 0]]);
        let mut passage = [[-50, 0]; 3 * SENTENCE];
        passage[SENTENCE..2 * SENTENCE].fill([60, 80]);
        assert!((asked.max_sim(&passage.concat()).near - 1.0).abs() < 1e-6);
        passage[SENTENCE] = [-127, -127];
        assert!((0.9..1.0).contains(&asked.max_sim(&passage.concat()).near));
    }

    #[test]
    fn similarities_of_many_parts_equal_those_of_one() {
        let asked = asked(&[[100, 0]]);
        let part = |at: i32| PartialMatch {
            best: Vec::new(),
            sum: vec![7 * at - 30, 13 - at],
            pieces: 1,
        };
        let parts: Vec<PartialMatch> = (0..11).map(part).collect();
        let alone = |part: &PartialMatch| {
            let [x, y] = [part.sum[0] as f32, part.sum[1] as f32];
            (0.6 * x + 0.8 * y) / (x * x + y * y).sqrt()
        };
        let each: Vec<f32> = parts.iter().map(alone).collect();
        assert_eq!(asked.similarities(&parts), each);
        assert!(asked.similarities(&[]).is_empty());
    }

    #[test]
    fn scattered_matches_score_below_adjacent_ones() {
        let asked = asked(&[[100, 0], [0, 100]]);
        let mut passage = vec![[1, 1]; 10 * SENTENCE];
        (passage[0], passage[10 * SENTENCE - 1]) = ([90, 0], [0, 90]);
        assert_eq!(asked.max_sim(&passage.concat()).best, [100, 9_000]);
        passage.truncate(TOGETHER * SENTENCE);
        passage[TOGETHER * SENTENCE - 1] = [0, 90];
        assert_eq!(
            asked.max_sim(&passage.concat()).best,
            [9_000, 9_000],
            "a usual message is one group"
        );
    }

    #[test]
    fn picks_best_of_several_passages() {
        assert_eq!(
            nearest(vec![(9, 0.4, 0.1), (7, 0.2, 0.2), (8, 0.9, 0.3)]),
            Nearest {
                passage: 1,
                at: 0.3
            }
        );
    }
}
