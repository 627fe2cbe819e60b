//! What was said, by its meaning: the vectors of whole chats in memory, as far as they were read (memory.md, section 3, items
//! 2, 4, 5 and 7).

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use context::similarity::{Rows, best_products};
use domain::ChatId;
use local::Embedding;
use store::{Read, StoreError, StoredVector, Stretch, VectorRevision};

use super::scores::Scores;
use super::sense::Sense;
use super::signals::Place;

/// Chats whose vectors stay in memory: all of a pair's that a turn looks through, and some more, for with one too few each would
/// be read again at each turn. Those of ten thousand messages are 5 MiB.
const CHATS: usize = 64;
/// Pieces of a passage that are looked at together, to find the place that the question is about: a short sentence.
const SENTENCE: usize = 12;
/// So many of them a question is to be met in together: some fifty pieces, a message of everyday talk. In a long one each piece
/// is met somewhere, whatever it tells of.
const TOGETHER: usize = 4;
/// A piece that more passages have tells them apart too little (memory.md, section 3, item 4).
const COMMON: f64 = 0.3;

/// The vectors of one chat, as of one revision: of each passage a row.
#[derive(Debug, Default)]
struct ChatVectors {
    revision: VectorRevision,
    numbers: Vec<i64>,
    positions: Vec<i64>,
    /// Of passages among their neighbours.
    rows: Rows,
    /// Each once.
    pieces: Vec<Vec<u16>>,
    /// In how many passages a piece stands.
    having: HashMap<u16, u32>,
}

impl ChatVectors {
    /// What was read again takes the place of what was known of it.
    fn renew(&mut self, rows: Vec<StoredVector>, revision: VectorRevision) {
        let renewed: HashSet<i64> = rows.iter().map(|row| row.position).collect();
        for row in (0..self.positions.len()).rev() {
            if renewed.contains(&self.positions[row]) {
                self.swap_remove(row);
            }
        }
        rows.into_iter().for_each(|row| self.push(row));
        self.revision = revision;
    }

    fn push(&mut self, row: StoredVector) {
        self.numbers.push(row.number);
        self.positions.push(row.position);
        self.rows.push(&row.vector, row.scale);
        let mut pieces = row.pieces;
        pieces.sort_unstable();
        pieces.dedup();
        for piece in &pieces {
            *self.having.entry(*piece).or_default() += 1;
        }
        self.pieces.push(pieces);
    }

    fn swap_remove(&mut self, row: usize) {
        self.numbers.swap_remove(row);
        self.positions.swap_remove(row);
        self.rows.swap_remove(row);
        for piece in self.pieces.swap_remove(row) {
            self.having.entry(piece).and_modify(|having| *having -= 1);
        }
    }
}

/// Vectors that were looked at lately, the latest last.
#[derive(Default)]
pub(crate) struct VectorCache {
    chats: Mutex<Vec<(ChatId, Arc<ChatVectors>)>>,
}

impl VectorCache {
    /// The vectors of `chat` as they are in the store.
    fn of(&self, store: &Read<'_>, chat: ChatId, model: &str) -> Result<Arc<ChatVectors>, StoreError> {
        let known = self.take(chat);
        let revision = store.vectors().revision(chat)?;
        let vectors = match known {
            Some(known) if known.revision == revision => known,
            known => Arc::new(renewed(store, chat, model, known, revision)?),
        };
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        if chats.len() >= CHATS {
            chats.remove(0);
        }
        chats.push((chat, Arc::clone(&vectors)));
        Ok(vectors)
    }

    fn take(&self, chat: ChatId) -> Option<Arc<ChatVectors>> {
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        let place = chats.iter().position(|(known, _)| *known == chat)?;
        Some(chats.remove(place).1)
    }
}

/// Reads what is new; everything, if something is gone as well.
fn renewed(
    store: &Read<'_>,
    chat: ChatId,
    model: &str,
    known: Option<Arc<ChatVectors>>,
    revision: VectorRevision,
) -> Result<ChatVectors, StoreError> {
    let mut vectors = known.and_then(Arc::into_inner).unwrap_or_default();
    let added = store.vectors().of_chat(chat, model, vectors.revision.last)?;
    vectors.renew(added, revision);
    if vectors.numbers.len() != revision.passages as usize {
        vectors = ChatVectors::default();
        vectors.renew(store.vectors().of_chat(chat, model, 0)?, revision);
    }
    Ok(vectors)
}

/// The chats that are searched, by meaning.
pub(crate) struct Meaning<'a> {
    asked: &'a Sense,
    stretches: &'a [Stretch],
    /// Of each stretch.
    chats: Vec<Arc<ChatVectors>>,
}

impl<'a> Meaning<'a> {
    pub(crate) fn of(
        store: &Read<'_>,
        cache: &VectorCache,
        stretches: &'a [Stretch],
        asked: &'a Sense,
    ) -> Result<Self, StoreError> {
        let load = |stretch: &Stretch| cache.of(store, stretch.chat, &asked.model);
        Ok(Self { asked, stretches, chats: stretches.iter().map(load).collect::<Result<_, _>>()? })
    }

    /// Nothing in the stretches was read.
    pub(crate) fn is_empty(&self) -> bool {
        let mut chats = self.stretches.iter().zip(&self.chats);
        chats.all(|(stretch, chat)| chat.positions.iter().all(|position| *position >= stretch.before))
    }

    /// How near each message is to what is asked, from 0 to 1: of several passages the nearest.
    pub(crate) fn near(&self) -> Scores {
        let mut near = Scores::unknown(self.stretches);
        for (stretch, chat) in self.chats.iter().enumerate() {
            let cosines = chat.rows.products(&self.asked.embedding.mean);
            for (position, cosine) in chat.positions.iter().zip(cosines) {
                near.raise((stretch, *position), cosine);
            }
        }
        near.scaled()
    }

    /// How well each rare enough piece of what is asked is met in one part of a message, from 0 to 1 over the first of `places`
    /// that have so many `pieces` together, and where in it. Of a message that nothing has read nothing is known.
    pub(crate) fn met(
        &self,
        store: &Read<'_>,
        places: &[Place],
        pieces: usize,
    ) -> Result<(Scores, HashMap<Place, Nearest>), StoreError> {
        let asked = self.telling_pieces();
        let mut met = Scores::unknown(self.stretches);
        let mut passages: HashMap<Place, Vec<(i64, f32, f32)>> = HashMap::new();
        if asked.is_empty() {
            return Ok((met, HashMap::new()));
        }
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for (place, number) in self.first_of(places, pieces) {
            match self.asked.met(&asked.pieces, number) {
                Some(in_passage) => known.push((place, number, in_passage)),
                None => unknown.push((place, number)),
            }
        }
        let read = |(place, number): &(Place, i64)| {
            let vectors = store.vectors().pieces(*number).transpose()?;
            Some(vectors.map(|vectors| (*place, *number, vectors)))
        };
        let newly = meet(&asked, unknown.iter().filter_map(read))?;
        self.asked.keep(&asked.pieces, newly.iter().map(|(_, number, in_passage)| (*number, in_passage.clone())));
        for (place, number, InPassage { best, at }) in known.into_iter().chain(newly) {
            let score = asked.score(&best);
            met.raise(place, score);
            passages.entry(place).or_default().push((number, score, at));
        }
        Ok((met.scaled(), passages.into_iter().map(|(place, passages)| (place, nearest(passages))).collect()))
    }

    /// The passages of the first of `places` that have so many `pieces` together.
    fn first_of(&self, places: &[Place], pieces: usize) -> Vec<(Place, i64)> {
        let (rows, mut left) = (self.rows_at(places), pieces);
        let mut passages = Vec::new();
        for place in places {
            if left == 0 {
                break;
            }
            let chat = &self.chats[place.0];
            for row in rows.get(place).into_iter().flatten() {
                left = left.saturating_sub(chat.pieces[*row].len());
                passages.push((*place, chat.numbers[*row]));
            }
        }
        passages
    }

    /// The rows of the passages of each of `places`.
    fn rows_at(&self, places: &[Place]) -> HashMap<Place, Vec<usize>> {
        let mut rows: HashMap<Place, Vec<usize>> = places.iter().map(|place| (*place, Vec::new())).collect();
        for (stretch, chat) in self.chats.iter().enumerate() {
            // Few are wanted of many: a table tells sooner than a hash which.
            let mut wanted = vec![false; usize::try_from(self.stretches[stretch].before).unwrap_or(0)];
            let of_chat = places.iter().filter(|(of, _)| *of == stretch);
            of_chat.for_each(|(_, position)| wanted[*position as usize] = true);
            for (row, position) in chat.positions.iter().enumerate() {
                if wanted.get(*position as usize) == Some(&true)
                    && let Some(of_place) = rows.get_mut(&(stretch, *position))
                {
                    of_place.push(row);
                }
            }
        }
        rows
    }

    fn telling_pieces(&self) -> TellingPieces {
        let passages: f64 = self.chats.iter().map(|chat| chat.numbers.len() as f64).sum();
        let Embedding { mean, tokens, vectors } = &self.asked.embedding;
        let dimensions = NonZero::new(mean.len()).unwrap_or(NonZero::<usize>::MIN);
        let mut telling = TellingPieces { dimensions, pieces: Vec::new(), vectors: Vec::new(), weights: Vec::new() };
        let pieces = tokens.iter().zip(vectors.chunks_exact(dimensions.get())).enumerate();
        // The first and the last piece are marks of the encoder's own.
        for (place, (piece, vector)) in pieces.take(tokens.len().saturating_sub(1)).skip(1) {
            let Ok(piece) = u16::try_from(*piece) else { continue };
            let having: u32 = self.chats.iter().filter_map(|chat| chat.having.get(&piece)).sum();
            let having = f64::from(having);
            if having < COMMON * passages {
                telling.pieces.push(place);
                telling.vectors.extend_from_slice(vector);
                telling.weights.push(((passages + 1.0) / (having + 0.5)).ln() as f32);
            }
        }
        telling
    }
}

/// The pieces that are asked for, and what each counts: more the fewer passages have it.
struct TellingPieces {
    dimensions: NonZero<usize>,
    /// Which of the question's.
    pieces: Vec<usize>,
    /// One behind the other.
    vectors: Vec<i8>,
    weights: Vec<f32>,
}

impl TellingPieces {
    fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Late interaction: each piece takes its best match in the passage, near the others.
    fn met_in(&self, passage: &[i8]) -> InPassage {
        let length = SENTENCE * self.dimensions.get();
        let sentences: Vec<Vec<i32>> =
            passage.chunks(length).map(|sentence| best_products(&self.vectors, sentence, self.dimensions)).collect();
        let best = self.met_together(&sentences);
        let end = |sentence: usize| (sentence * length).min(passage.len());
        // What is looked for may stand on both sides of a border.
        let two = (1..).zip(sentences.windows(2)).map(|(at, two)| (2 * end(at), self.score(&larger(&two[0], &two[1]))));
        let one = (0..).zip(&sentences).map(|(at, one)| (end(at) + end(at + 1), self.score(one)));
        let twice_the_middle = two.chain(one).max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(at, _)| at);
        InPassage { best, at: twice_the_middle as f32 / (2 * passage.len().max(1)) as f32 }
    }

    /// The best matches in that part of a passage where they are best together.
    fn met_together(&self, sentences: &[Vec<i32>]) -> Vec<i32> {
        let together = |some: &[Vec<i32>]| some.iter().skip(1).fold(some[0].clone(), |best, one| larger(&best, one));
        let parts = sentences.windows(TOGETHER.min(sentences.len()).max(1)).map(together);
        let scored = parts.map(|best| (self.score(&best), best));
        let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map_or_else(|| vec![0; self.weights.len()], |(_, best)| best)
    }

    fn score(&self, best: &[i32]) -> f32 {
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
    /// Where in it they are met best, from its beginning at 0 to its end at 1.
    pub(super) at: f32,
}

/// Where in a message the question is met best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    /// Which of its passages.
    pub(crate) passage: usize,
    /// See [`InPassage::at`].
    pub(crate) at: f32,
}

fn larger(one: &[i32], other: &[i32]) -> Vec<i32> {
    one.iter().zip(other).map(|(one, other)| *one.max(other)).collect()
}

/// A passage, and how it met each piece.
type Met = (Place, i64, InPassage);

/// Meets what is read while more is: reading takes a third of the time, and two threads share the rest.
fn meet(
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
fn nearest(mut passages: Vec<(i64, f32, f32)>) -> Nearest {
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
        TellingPieces { dimensions, pieces, vectors: vectors.concat(), weights }
    }

    #[test]
    fn the_place_of_what_is_asked_for_is_known_in_a_long_passage() {
        let asked = asked(&[[100, 0], [0, 100]]);
        let mut passage = vec![[1, 1]; 10 * SENTENCE];
        passage[7 * SENTENCE - 1] = [90, 0];
        passage[7 * SENTENCE] = [0, 90];
        let met = asked.met_in(&passage.concat());
        assert_eq!((met.best, met.at), (vec![9_000, 9_000], 0.7));
        assert_eq!(asked.met_in(&[90, 0]), InPassage { best: vec![9_000, 0], at: 0.5 });
        assert_eq!(asked.met_in(&[]), InPassage { best: vec![0, 0], at: 0.0 });
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

    fn row(number: i64, position: i64, pieces: &[u16]) -> StoredVector {
        StoredVector { number, position, vector: vec![number as i8, 1], scale: 1.0, pieces: pieces.to_vec() }
    }

    #[test]
    fn what_was_read_again_takes_the_place_of_what_was_known() {
        let mut chat = ChatVectors::default();
        chat.renew(vec![row(1, 0, &[7, 8]), row(2, 1, &[7, 7]), row(3, 1, &[9])], VectorRevision::default());
        chat.renew(vec![row(4, 1, &[9]), row(5, 2, &[9])], VectorRevision { passages: 3, last: 5 });
        assert_eq!((&chat.numbers[..], &chat.positions[..]), (&[1, 4, 5][..], &[0, 1, 2][..]));
        assert_eq!(chat.rows.products(&[1.0, 0.0]), [1.0, 4.0, 5.0]);
        assert_eq!([7, 8, 9].map(|piece| chat.having[&piece]), [1, 1, 2]);
    }
}
