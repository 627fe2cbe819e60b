//! Embedding search in messages: the vectors of whole chats in memory, as far as the chats are
//! embedded.

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ChatId;
use domain::chat::MessageRange;
use domain::embedding::Embedding;
use recall::late_interaction::{Nearest, PassageScore, QueryTokens, max_sim, nearest};
use recall::query_embedding::QueryEmbedding;
use recall::scores::Scores;
use recall::signals::MessagePosition;
use recall::similarity::VectorRows;
use recall::weights::embeddings;
use store::{ReadTransaction, StoreError, StoredVector, VectorRevision};

/// Number of chats whose vectors stay in memory: all that a turn searches, and some more. With one
/// too few, every turn would read each of them again. Ten thousand messages take 5 MiB.
const CHATS: usize = 64;

/// The vectors of one chat at one revision, with one row for each passage.
#[derive(Debug, Default)]
pub(crate) struct ChatVectors {
    revision: VectorRevision,
    /// The encoder that made them.
    model: String,
    numbers: Vec<i64>,
    positions: Vec<i64>,
    /// The neighbour-pooled vectors.
    rows: VectorRows,
    /// The tokens of each passage, each once.
    pieces: Vec<Vec<u16>>,
    /// The number of passages that contain a token (document frequency).
    having: HashMap<u16, u32>,
}

impl ChatVectors {
    /// Adds rows. They replace the rows of the same messages.
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
        let mut pieces = row.token_ids;
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

/// Recently searched vectors, the latest last.
#[derive(Default)]
pub(crate) struct VectorCache {
    chats: Mutex<Vec<(ChatId, Arc<ChatVectors>)>>,
}

impl VectorCache {
    /// The vectors of `chat` as they are in the store.
    fn of(
        &self,
        store: &ReadTransaction<'_>,
        chat: ChatId,
        model: &str,
    ) -> Result<Arc<ChatVectors>, StoreError> {
        let known = self.take(chat).filter(|known| known.model == model);
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

    /// The vectors of the chat of each range. Those that are not in memory are read.
    pub(crate) fn load(
        &self,
        store: &ReadTransaction<'_>,
        stretches: &[MessageRange],
        model: &str,
    ) -> Result<Vec<Arc<ChatVectors>>, StoreError> {
        let load = |stretch: &MessageRange| self.of(store, stretch.chat, model);
        stretches.iter().map(load).collect()
    }

    /// Cosine similarity of each embedded message of a chat to the question, by position; the best
    /// of its passages. Reads the vectors of a chat that is not in memory, and does not keep them:
    /// a search looks at all chats, and must not displace those of the turns.
    pub(crate) fn similarities(
        &self,
        store: &ReadTransaction<'_>,
        chat: ChatId,
        asked: &QueryEmbedding,
    ) -> Result<HashMap<i64, f32>, StoreError> {
        let revision = store.vectors().revision(chat)?;
        let known = {
            let chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
            chats
                .iter()
                .find(|(known, vectors)| {
                    *known == chat && vectors.revision == revision && vectors.model == asked.model
                })
                .cloned()
        };
        let vectors = match known {
            Some((_, vectors)) => vectors,
            None => Arc::new(renewed(store, chat, &asked.model, None, revision)?),
        };
        let mut best = HashMap::new();
        for (position, similarity) in vectors
            .positions
            .iter()
            .zip(vectors.rows.products(&asked.embedding.mean))
        {
            best.entry(*position)
                .and_modify(|known: &mut f32| *known = known.max(similarity))
                .or_insert(similarity);
        }
        Ok(best)
    }

    fn take(&self, chat: ChatId) -> Option<Arc<ChatVectors>> {
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        let place = chats.iter().position(|(known, _)| *known == chat)?;
        Some(chats.remove(place).1)
    }
}

/// Reads the new rows, or all of them if some were removed.
fn renewed(
    store: &ReadTransaction<'_>,
    chat: ChatId,
    model: &str,
    known: Option<Arc<ChatVectors>>,
    revision: VectorRevision,
) -> Result<ChatVectors, StoreError> {
    let mut vectors = known.and_then(Arc::into_inner).unwrap_or_default();
    let added = store
        .vectors()
        .of_chat(chat, model, vectors.revision.last)?;
    vectors.renew(added, revision);
    model.clone_into(&mut vectors.model);
    if vectors.numbers.len() != revision.passages as usize {
        vectors = ChatVectors {
            model: model.to_owned(),
            ..ChatVectors::default()
        };
        vectors.renew(store.vectors().of_chat(chat, model, 0)?, revision);
    }
    Ok(vectors)
}

/// How well messages match a question by late interaction.
pub(crate) struct MaxSimScores {
    /// MaxSim scores of the question's informative tokens, min-max scaled to 0 to 1.
    pub(crate) pieces: Scores,
    /// Cosine similarities of the nearest sentences, min-max scaled to 0 to 1.
    pub(crate) sentences: Scores,
    /// The best position in each message.
    pub(crate) nearest: HashMap<MessagePosition, Nearest>,
}

/// The vectors of the searched chats, and the question.
pub(crate) struct Meaning<'a> {
    asked: &'a QueryEmbedding,
    stretches: &'a [MessageRange],
    /// The vectors of each range's chat.
    chats: Vec<Arc<ChatVectors>>,
}

impl<'a> Meaning<'a> {
    pub(crate) fn of(
        store: &ReadTransaction<'_>,
        cache: &VectorCache,
        stretches: &'a [MessageRange],
        asked: &'a QueryEmbedding,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            asked,
            stretches,
            chats: cache.load(store, stretches, &asked.model)?,
        })
    }

    /// Whether no message in the ranges is embedded.
    pub(crate) fn is_empty(&self) -> bool {
        let mut chats = self.stretches.iter().zip(&self.chats);
        chats.all(|(stretch, chat)| {
            chat.positions
                .iter()
                .all(|position| *position >= stretch.before)
        })
    }

    /// Cosine similarity of each message to the question, min-max scaled to 0 to 1. A message with
    /// several passages has that of the nearest one.
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

    /// Compares the question with the first of `places` that have `pieces` tokens together. A
    /// message that is not embedded gets no score.
    pub(crate) fn met(
        &self,
        store: &ReadTransaction<'_>,
        places: &[MessagePosition],
        pieces: usize,
    ) -> Result<MaxSimScores, StoreError> {
        let asked = self.telling_pieces();
        let [mut met, mut sentences] = [(); 2].map(|()| Scores::unknown(self.stretches));
        let mut passages: HashMap<MessagePosition, Vec<(i64, f32, f32)>> = HashMap::new();
        if asked.is_empty() {
            return Ok(MaxSimScores {
                pieces: met,
                sentences,
                nearest: HashMap::new(),
            });
        }
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for (place, number) in self.first_of(places, pieces) {
            match self.asked.cached(&asked.pieces, number) {
                Some(in_passage) => known.push((place, number, in_passage)),
                None => unknown.push((place, number)),
            }
        }
        let read = |(place, number): &(MessagePosition, i64)| {
            let vectors = store.vectors().pieces(*number).transpose()?;
            Some(vectors.map(|vectors| (*place, *number, vectors)))
        };
        let newly = max_sim(&asked, unknown.iter().filter_map(read))?;
        self.asked.store(
            &asked.pieces,
            newly
                .iter()
                .map(|(_, number, in_passage)| (*number, in_passage.clone())),
        );
        for (
            place,
            number,
            PassageScore {
                best,
                near,
                fit,
                at,
            },
        ) in known.into_iter().chain(newly)
        {
            met.raise(place, asked.score(&best));
            sentences.raise(place, near);
            passages.entry(place).or_default().push((number, fit, at));
        }
        let nearest = passages
            .into_iter()
            .map(|(place, passages)| (place, nearest(passages)))
            .collect();
        Ok(MaxSimScores {
            pieces: met.scaled(),
            sentences: sentences.scaled(),
            nearest,
        })
    }

    /// The passages of the first of `places` that have `pieces` tokens together.
    fn first_of(&self, places: &[MessagePosition], pieces: usize) -> Vec<(MessagePosition, i64)> {
        let rows = self.rows_at(places);
        let mut left = pieces;
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

    /// The rows of the passages at each of `places`.
    fn rows_at(&self, places: &[MessagePosition]) -> HashMap<MessagePosition, Vec<usize>> {
        let mut rows: HashMap<MessagePosition, Vec<usize>> =
            places.iter().map(|place| (*place, Vec::new())).collect();
        for (stretch, chat) in self.chats.iter().enumerate() {
            // Few of many positions are wanted, and a table lookup is faster than a hash lookup.
            let mut wanted =
                vec![false; usize::try_from(self.stretches[stretch].before).unwrap_or(0)];
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

    /// The question's tokens without common ones. The weight of a token is its IDF over passages:
    /// `ln((passages + 1) / (with the token + 0.5))`.
    fn telling_pieces(&self) -> QueryTokens {
        let passages: f64 = self
            .chats
            .iter()
            .map(|chat| chat.numbers.len() as f64)
            .sum();
        let Embedding {
            mean,
            tokens,
            vectors,
        } = &self.asked.embedding;
        let dimensions = NonZero::new(mean.len()).unwrap_or(NonZero::<usize>::MIN);
        let mut telling = QueryTokens {
            mean: mean.clone(),
            dimensions,
            pieces: Vec::new(),
            vectors: Vec::new(),
            weights: Vec::new(),
        };
        let pieces = tokens
            .iter()
            .zip(vectors.chunks_exact(dimensions.get()))
            .enumerate();
        // The first and the last token are special tokens of the tokenizer.
        for (place, (piece, vector)) in pieces.take(tokens.len().saturating_sub(1)).skip(1) {
            let Ok(piece) = u16::try_from(*piece) else {
                continue;
            };
            let having: u32 = self
                .chats
                .iter()
                .filter_map(|chat| chat.having.get(&piece))
                .sum();
            let having = f64::from(having);
            if having < embeddings::COMMON_TOKEN * passages {
                telling.pieces.push(place);
                let numbers = vector.iter().map(|number| i16::from(*number));
                telling.vectors.extend(numbers);
                telling
                    .weights
                    .push(((passages + 1.0) / (having + 0.5)).ln() as f32);
            }
        }
        telling
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: i64, position: i64, pieces: &[u16]) -> StoredVector {
        StoredVector {
            number,
            position,
            vector: vec![number as i8, 1],
            scale: 1.0,
            token_ids: pieces.to_vec(),
        }
    }

    #[test]
    fn new_rows_replace_those_of_the_same_message() {
        let mut chat = ChatVectors::default();
        chat.renew(
            vec![row(1, 0, &[7, 8]), row(2, 1, &[7, 7]), row(3, 1, &[9])],
            VectorRevision::default(),
        );
        chat.renew(
            vec![row(4, 1, &[9]), row(5, 2, &[9])],
            VectorRevision {
                passages: 3,
                last: 5,
            },
        );
        assert_eq!(
            (&chat.numbers[..], &chat.positions[..]),
            (&[1, 4, 5][..], &[0, 1, 2][..])
        );
        assert_eq!(chat.rows.products(&[1.0, 0.0]), [1.0, 4.0, 5.0]);
        assert_eq!([7, 8, 9].map(|piece| chat.having[&piece]), [1, 1, 2]);
    }
}
