//! Late interaction: how each piece of a question is met in what was said (memory.md, section 3, item 4). Pure, but for who reads.

use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use context::similarity::best_products;
use local::Embedding;
use store::StoreError;

use super::signals::Place;

/// Pieces of a passage that are looked at together: a short sentence.
const SENTENCE: usize = 12;
/// So many of them a question is to be met in together: one sentence, or two. In a long text each piece is met somewhere, whatever
/// it tells of.
const TOGETHER: usize = 2;
/// Pieces after which a sentence may begin, to find the one that the question is about.
const STEP: usize = 4;
/// Steps of a sentence.
const STEPS: usize = SENTENCE / STEP;

/// The pieces that are asked for, and what each counts: more the fewer passages have it.
pub(super) struct TellingPieces {
    /// Of the whole question; its length is 1.
    pub(super) mean: Vec<f32>,
    pub(super) dimensions: NonZero<usize>,
    /// Which of the question's.
    pub(super) pieces: Vec<usize>,
    /// One behind the other.
    pub(super) vectors: Vec<i8>,
    pub(super) weights: Vec<f32>,
}

impl TellingPieces {
    pub(super) fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Late interaction: each piece takes its best match in the passage, near the others.
    fn met_in(&self, passage: &[i8]) -> InPassage {
        let steps = passage.chunks(STEP * self.dimensions.get());
        let steps: Vec<Part> = steps.map(|step| self.part(step)).collect();
        let sentences: Vec<Part> = steps.chunks(STEPS).map(Part::of).collect();
        let near = sentences.iter().map(|sentence| self.nearness(sentence)).fold(-1.0, f32::max);
        let (fit, at) = self.place_in(&steps);
        InPassage { best: self.met_together(&sentences), near, fit, at }
    }

    fn part(&self, pieces: &[i8]) -> Part {
        let mut sum = vec![0_i32; self.dimensions.get()];
        for piece in pieces.chunks_exact(self.dimensions.get()) {
            sum.iter_mut().zip(piece).for_each(|(sum, number)| *sum += i32::from(*number));
        }
        let best = best_products(&self.vectors, pieces, self.dimensions);
        Part { best, sum, pieces: pieces.len() / self.dimensions }
    }

    /// How well the sentence fits that is nearest to the whole question and has most of its pieces, and where its middle is, from
    /// 0 to 1. Of equals the first.
    fn place_in(&self, steps: &[Part]) -> (f32, f32) {
        let sentences = steps.windows(STEPS.min(steps.len()).max(1)).map(Part::of);
        let fits = (0..).zip(sentences).map(|(step, sentence): (usize, Part)| {
            (self.score(&sentence.best) + self.nearness(&sentence), 2 * step * STEP + sentence.pieces)
        });
        let best = fits.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let twice_all: usize = steps.iter().map(|step| 2 * step.pieces).sum();
        best.map_or((f32::MIN, 0.0), |(fit, twice_the_middle)| (fit, twice_the_middle as f32 / twice_all as f32))
    }

    /// The cosine of the whole question and of all pieces of a stretch.
    fn nearness(&self, Part { sum, .. }: &Part) -> f32 {
        let length = sum.iter().map(|number| (*number as f32).powi(2)).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        self.mean.iter().zip(sum).map(|(asked, number)| asked * *number as f32).sum::<f32>() / length
    }

    /// The best matches in that part of a passage where they are best together.
    fn met_together(&self, sentences: &[Part]) -> Vec<i32> {
        let parts = sentences.windows(TOGETHER.min(sentences.len()).max(1)).map(Part::best_of);
        let scored = parts.map(|best| (self.score(&best), best));
        let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or_else(|| vec![0; self.weights.len()], |(_, best)| best)
    }

    pub(super) fn score(&self, best: &[i32]) -> f32 {
        let scale = Embedding::SCALE * Embedding::SCALE;
        let sum: f32 = self.weights.iter().zip(best).map(|(weight, best)| weight * *best as f32 / scale).sum();
        sum / self.weights.iter().sum::<f32>().max(f32::MIN_POSITIVE)
    }
}

/// How a passage met the pieces of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InPassage {
    /// The best product of each.
    pub(super) best: Vec<i32>,
    /// How near the nearest sentence is to the whole question.
    pub(super) near: f32,
    /// How well the sentence fits that the question is about, as far as can be told.
    pub(super) fit: f32,
    /// Where that is, from the passage's beginning at 0 to its end at 1.
    pub(super) at: f32,
}

/// Pieces of a passage that stand beside each other.
struct Part {
    /// The best product of each piece of the question.
    best: Vec<i32>,
    /// Of all their vectors.
    sum: Vec<i32>,
    pieces: usize,
}

impl Part {
    /// All of `parts`, one behind the other; there is one.
    fn of(parts: &[Self]) -> Self {
        let mut sum = parts[0].sum.clone();
        for part in &parts[1..] {
            sum.iter_mut().zip(&part.sum).for_each(|(sum, other)| *sum += other);
        }
        Self { best: Self::best_of(parts), sum, pieces: parts.iter().map(|part| part.pieces).sum() }
    }

    /// The best products in any of `parts`; there is one.
    fn best_of(parts: &[Self]) -> Vec<i32> {
        let mut best = parts[0].best.clone();
        for part in &parts[1..] {
            best.iter_mut().zip(&part.best).for_each(|(best, other)| *best = (*best).max(*other));
        }
        best
    }
}

/// Where in a message the question is met best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    /// Which of its passages.
    pub(crate) passage: usize,
    /// See [`InPassage::at`].
    pub(crate) at: f32,
}

impl Nearest {
    /// The byte where that is in a text in which its passage has the bytes `near`.
    pub(super) fn within(self, near: &Range<usize>) -> usize {
        let into = (self.at * near.len() as f32) as usize;
        near.start + into.min(near.len().saturating_sub(1))
    }
}

/// A passage, and how it met each piece.
pub(super) type Met = (Place, i64, InPassage);

/// Meets what is read while more is: reading takes a third of the time, and two threads share the rest.
pub(super) fn meet(
    asked: &TellingPieces,
    read: impl Iterator<Item = Result<(Place, i64, Vec<i8>), StoreError>>,
) -> Result<Vec<Met>, StoreError> {
    let mut read = read.peekable();
    if read.peek().is_none() {
        return Ok(Vec::new());
    }
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    let next = || receive.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
    let meet = || {
        let met = |(place, number, vectors): (Place, i64, Vec<i8>)| (place, number, asked.met_in(&vectors));
        std::iter::from_fn(next).map(met).collect::<Vec<Met>>()
    };
    thread::scope(|scope| {
        let beside = scope.spawn(meet);
        for passage in read {
            // Somebody receives for as long as somebody sends.
            let _received = send.send(passage?);
        }
        drop(send);
        let mut met = meet();
        met.extend(beside.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(met)
    })
}

/// The best among the passages of one message, which have their numbers in their order.
pub(super) fn nearest(mut passages: Vec<(i64, f32, f32)>) -> Nearest {
    passages.sort_unstable_by_key(|(number, ..)| *number);
    let numbered = passages.into_iter().enumerate();
    let best = numbered.max_by(|(_, (_, a, _)), (_, (_, b, _))| a.total_cmp(b));
    best.map_or(Nearest { passage: 0, at: 0.0 }, |(passage, (.., at))| Nearest { passage, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(vectors: &[[i8; 2]]) -> TellingPieces {
        let dimensions = NonZero::new(2).unwrap();
        let (pieces, weights) = ((0..vectors.len()).collect(), vec![1.0; vectors.len()]);
        TellingPieces { mean: vec![0.6, 0.8], dimensions, pieces, vectors: vectors.concat(), weights }
    }

    #[test]
    fn the_place_of_what_is_asked_for_is_known_in_a_long_passage() {
        let asked = asked(&[[100, 0], [0, 100]]);
        let mut passage = vec![[1, 1]; 10 * SENTENCE];
        passage[7 * SENTENCE - 1] = [90, 0];
        passage[7 * SENTENCE] = [0, 90];
        let met = asked.met_in(&passage.concat());
        assert_eq!((met.best, (met.at * 100.0).round()), (vec![9_000, 9_000], 68.0));
        let InPassage { best, near, at, .. } = asked.met_in(&[90, 0]);
        assert_eq!((best, near, at), (vec![9_000, 0], 0.6, 0.5));
        let InPassage { best, near, at, .. } = asked.met_in(&[]);
        assert_eq!((best, near, at), (vec![0, 0], -1.0, 0.0));
    }

    #[test]
    fn of_two_places_that_have_what_is_asked_for_the_one_that_is_nearer_to_all_of_it_is_told() {
        let asked = asked(&[[100, 0]]);
        let mut passage = vec![[-50, 10]; 10 * SENTENCE];
        passage[5] = [90, 0];
        passage[98..98 + SENTENCE].fill([60, 80]);
        passage[100] = [90, 0];
        let at = asked.met_in(&passage.concat()).at;
        assert!((0.82..0.92).contains(&at), "{at}");
    }

    #[test]
    fn the_nearest_sentence_is_as_near_as_all_of_its_pieces_together() {
        let asked = asked(&[[100, 0]]);
        let mut passage = [[-50, 0]; 3 * SENTENCE];
        passage[SENTENCE..2 * SENTENCE].fill([60, 80]);
        assert!((asked.met_in(&passage.concat()).near - 1.0).abs() < 1e-6);
        passage[SENTENCE] = [-127, -127];
        assert!((0.9..1.0).contains(&asked.met_in(&passage.concat()).near));
    }

    #[test]
    fn what_is_met_all_over_a_long_passage_is_met_less_than_in_one_place() {
        let asked = asked(&[[100, 0], [0, 100]]);
        let mut passage = vec![[1, 1]; 10 * SENTENCE];
        (passage[0], passage[10 * SENTENCE - 1]) = ([90, 0], [0, 90]);
        assert_eq!(asked.met_in(&passage.concat()).best, [100, 9_000]);
        passage.truncate(TOGETHER * SENTENCE);
        passage[TOGETHER * SENTENCE - 1] = [0, 90];
        assert_eq!(asked.met_in(&passage.concat()).best, [9_000, 9_000], "an everyday message is one place");
    }

    #[test]
    fn of_several_passages_the_best_is_the_nearest() {
        assert_eq!(nearest(vec![(9, 0.4, 0.1), (7, 0.2, 0.2), (8, 0.9, 0.3)]), Nearest { passage: 1, at: 0.3 });
    }
}
