//! What was said, by its meaning: the vectors of whole chats in memory, as far as they were read (memory.md, section 3, items
//! 2, 4, 5 and 7).

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use context::similarity::Rows;
use domain::ChatId;
use local::Embedding;
use store::{Read, StoreError, StoredVector, Stretch, VectorRevision};

use super::interaction::{InPassage, Nearest, TellingPieces, meet, nearest};
use super::scores::Scores;
use super::sense::Sense;
use super::signals::Place;

/// Chats whose vectors stay in memory: all of a pair's that a turn looks through, and some more, for with one too few each would
/// be read again at each turn. Those of ten thousand messages are 5 MiB.
const CHATS: usize = 64;
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

/// How a question is met in messages.
pub(crate) struct MetIn {
    /// How well each rare enough piece of it is met in one part of each, from 0 to 1.
    pub(crate) pieces: Scores,
    /// How near the nearest sentence of each is, from 0 to 1.
    pub(crate) sentences: Scores,
    /// Where in each it is met best.
    pub(crate) nearest: HashMap<Place, Nearest>,
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

    /// How what is asked is met in the first of `places` that have so many `pieces` together. Of a message that nothing has read
    /// nothing is known.
    pub(crate) fn met(&self, store: &Read<'_>, places: &[Place], pieces: usize) -> Result<MetIn, StoreError> {
        let asked = self.telling_pieces();
        let [mut met, mut sentences] = [(); 2].map(|()| Scores::unknown(self.stretches));
        let mut passages: HashMap<Place, Vec<(i64, f32, f32)>> = HashMap::new();
        if asked.is_empty() {
            return Ok(MetIn { pieces: met, sentences, nearest: HashMap::new() });
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
        for (place, number, InPassage { best, near, fit, at }) in known.into_iter().chain(newly) {
            met.raise(place, asked.score(&best));
            sentences.raise(place, near);
            passages.entry(place).or_default().push((number, fit, at));
        }
        let nearest = passages.into_iter().map(|(place, passages)| (place, nearest(passages))).collect();
        Ok(MetIn { pieces: met.scaled(), sentences: sentences.scaled(), nearest })
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
        let mut telling = TellingPieces {
            mean: mean.clone(),
            dimensions,
            pieces: Vec::new(),
            vectors: Vec::new(),
            weights: Vec::new(),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

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
