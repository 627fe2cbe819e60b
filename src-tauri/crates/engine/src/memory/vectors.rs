//! What was said, by its meaning: the vectors of whole chats in memory, as far as they were read (memory.md, section 3, items
//! 2, 4, 5 and 7).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use context::similarity::{Rows, dot};
use domain::ChatId;
use local::Embedding;
use store::{Read, StoreError, StoredVector, Stretch, VectorRevision};

use super::signals::Place;

/// Chats whose vectors stay in memory: those of ten thousand messages are 5 MiB.
const CHATS: usize = 16;
/// What a neighbour says about a message, against itself.
const NEIGHBOUR: f32 = 0.5;
/// A piece that more passages have tells them apart too little (memory.md, section 3, item 4).
const COMMON: f64 = 0.3;

/// The vectors of one chat, as of one revision.
#[derive(Debug, Default)]
struct ChatVectors {
    revision: VectorRevision,
    numbers: Vec<i64>,
    positions: Vec<i64>,
    rows: Rows,
    /// In how many passages a piece stands.
    having: HashMap<u16, u32>,
}

impl ChatVectors {
    fn add(&mut self, rows: Vec<StoredVector>, revision: VectorRevision) {
        for row in rows {
            self.numbers.push(row.number);
            self.positions.push(row.position);
            self.rows.push(&row.vector, row.scale);
            for piece in row.pieces.into_iter().collect::<HashSet<u16>>() {
                *self.having.entry(piece).or_default() += 1;
            }
        }
        self.revision = revision;
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
    let known = known.and_then(Arc::into_inner).unwrap_or_default();
    let added = store.vectors().of_chat(chat, model, known.revision.last)?;
    let grown = known.numbers.len() + added.len() == revision.passages as usize;
    let (mut vectors, rows) = match grown {
        true => (known, added),
        false => (ChatVectors::default(), store.vectors().of_chat(chat, model, 0)?),
    };
    vectors.add(rows, revision);
    Ok(vectors)
}

/// The chats that are searched, by meaning.
pub(crate) struct Meaning<'a> {
    asked: &'a Embedding,
    chats: Vec<Arc<ChatVectors>>,
    /// Where each passage of a message is, in which chat and row.
    rows: HashMap<Place, Vec<(usize, usize)>>,
}

impl<'a> Meaning<'a> {
    pub(crate) fn of(
        store: &Read<'_>,
        cache: &VectorCache,
        model: &str,
        stretches: &[Stretch],
        asked: &'a Embedding,
    ) -> Result<Self, StoreError> {
        let load = |stretch: &Stretch| cache.of(store, stretch.chat, model);
        let chats = stretches.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        let mut rows: HashMap<Place, Vec<(usize, usize)>> = HashMap::new();
        for (stretch, chat) in chats.iter().enumerate() {
            for (row, position) in chat.positions.iter().enumerate() {
                if *position < stretches[stretch].before {
                    rows.entry((stretch, *position)).or_default().push((stretch, row));
                }
            }
        }
        Ok(Self { asked, chats, rows })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How near each message and its neighbours are to what is asked, from 0 to 1 over all that were read.
    pub(crate) fn near(&self) -> HashMap<Place, f32> {
        let cosines: Vec<Vec<f32>> = self.chats.iter().map(|chat| chat.rows.products(&self.asked.mean)).collect();
        let best = |rows: &Vec<(usize, usize)>| {
            let cosine = |(chat, row): &(usize, usize)| cosines[*chat].get(*row).copied().unwrap_or(0.0);
            rows.iter().map(cosine).fold(f32::NEG_INFINITY, f32::max)
        };
        let own: HashMap<Place, f32> = self.rows.iter().map(|(place, rows)| (*place, best(rows))).collect();
        let with_neighbours = |(&(stretch, position), own_cosine): (&Place, &f32)| {
            let near = [position - 1, position + 1].map(|near| own.get(&(stretch, near)).copied().unwrap_or(0.0));
            ((stretch, position), own_cosine + NEIGHBOUR * (near[0] + near[1]))
        };
        scaled(own.iter().map(with_neighbours).collect())
    }

    /// How well each rare enough piece of what is asked is met somewhere in a message, from 0 to 1 over `places`. A message
    /// that nothing has read is not among the answers.
    pub(crate) fn met(&self, store: &Read<'_>, places: &[Place]) -> Result<HashMap<Place, f32>, StoreError> {
        let pieces = self.telling_pieces();
        if pieces.is_empty() {
            return Ok(HashMap::new());
        }
        let mut met = HashMap::new();
        for place in places {
            let mut best: Option<f32> = None;
            for (chat, row) in self.rows.get(place).into_iter().flatten() {
                let Some(vectors) = store.vectors().pieces(self.chats[*chat].numbers[*row])? else { continue };
                let score = self.late(&pieces, &vectors);
                best = Some(best.map_or(score, |best| best.max(score)));
            }
            met.extend(best.map(|best| (*place, best)));
        }
        Ok(scaled(met))
    }

    /// Places of the pieces that are asked for, and what each counts: more the fewer passages have it.
    fn telling_pieces(&self) -> Vec<(usize, f32)> {
        let passages: f64 = self.chats.iter().map(|chat| chat.numbers.len() as f64).sum();
        let inner = 1..self.asked.tokens.len().saturating_sub(1);
        let telling = |place: usize| {
            let piece = u16::try_from(self.asked.tokens[place]).ok()?;
            let having: u32 = self.chats.iter().filter_map(|chat| chat.having.get(&piece)).sum();
            let having = f64::from(having);
            (having < COMMON * passages).then(|| (place, ((passages + 1.0) / (having + 0.5)).ln() as f32))
        };
        inner.filter_map(telling).collect()
    }

    /// Late interaction: each piece takes its best match in the passage.
    fn late(&self, pieces: &[(usize, f32)], passage: &[i8]) -> f32 {
        let dimensions = self.asked.mean.len().max(1);
        let best = |place: usize| {
            let asked = &self.asked.vectors[place * dimensions..][..dimensions];
            passage.chunks_exact(dimensions).map(|met| dot(asked, met)).max().unwrap_or(0)
        };
        let scale = Embedding::SCALE * Embedding::SCALE;
        let sum: f32 = pieces.iter().map(|(place, weight)| weight * best(*place) as f32 / scale).sum();
        sum / pieces.iter().map(|(_, weight)| weight).sum::<f32>().max(f32::MIN_POSITIVE)
    }
}

/// From 0 to 1.
fn scaled(mut scores: HashMap<Place, f32>) -> HashMap<Place, f32> {
    let (least, most) = scores
        .values()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), score| (least.min(*score), most.max(*score)));
    let span = (most - least).max(f32::MIN_POSITIVE);
    scores.values_mut().for_each(|score| *score = (*score - least) / span);
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_put_between_0_and_1() {
        let scores: HashMap<Place, f32> = [((0, 1), 0.2), ((0, 2), 0.6), ((1, 1), 0.4)].into();
        let scaled = scaled(scores);
        assert_eq!((scaled[&(0, 1)], scaled[&(0, 2)]), (0.0, 1.0));
        assert!((scaled[&(1, 1)] - 0.5).abs() < 1e-6);
    }
}
