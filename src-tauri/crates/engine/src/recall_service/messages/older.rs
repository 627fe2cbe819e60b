//! Recall of earlier messages that are not in the window: of this chat, and of other chats of the
//! same pair.
//!
//! With embeddings, the score of a message is
//!
//! ```text
//! (similarity + 0.75 c lexical + 0.75 hints + named + max_sim + 0.75 (1 - c) sentence - 0.5 asking)
//!     / (sum of the maxima)
//! ```
//!
//! | term | range | meaning |
//! |---|---|---|
//! | `similarity` | 0 to 1 | cosine similarity of the question and the neighbour-pooled message, min-max scaled |
//! | `lexical` | 0 to 1 | BM25 score of the message and its neighbours as one text, relative to the best |
//! | `c` | 0 to 1 | confidence in the lexical score: 1 if the best message covers 40 % of the question's IDF mass |
//! | `hints` | 0 to 2 | the speaker and the date that the question asks about |
//! | `named` | 0 or 0.25 | the message names the same possession as the question |
//! | `max_sim` | 0 to 1 | late interaction with the informative tokens of the question, min-max scaled |
//! | `sentence` | 0 to 1 | cosine similarity of the nearest sentence, min-max scaled; used as far as `c` is low |
//! | `asking` | 0 to 1 | share of the message that consists of questions |
//!
//! Without embeddings, it is
//!
//! ```text
//! (own + 2 lexical + 0.5 topic + hints + named + 0.5 length - 0.5 asking) / (sum of the maxima)
//! ```
//!
//! `own` is the BM25 score of the message alone, `topic` is that of the ten messages on each side,
//! and `length` is the logarithm of the message's length relative to the longest; each is from 0 to
//! 1.
//!
//! After that, duplicates are merged, repetition is penalized (MMR), and updates of older messages
//! are added.

use std::collections::BTreeMap;

use context::frame::{Candidate, SignalKind};
use domain::chat::MessageRange;
use recall::hints::QueryHints;
use recall::possessions::Possession;
use recall::query_embedding::Understood;
use recall::scores::Scores;
use recall::signals::{Lexical, MessagePosition};
use recall::weights::{lexical, messages, weighted_sum};
use store::{ReadTransaction, StoreError};

use crate::base::clock::Clock;
use crate::recall_service::embeddings::vector_cache::{MaxSimScores, Meaning, VectorCache};
use crate::recall_service::hit::Hit;
use crate::recall_service::messages::duplicates::{self, DuplicateRules};
use crate::recall_service::messages::lexical::LexicalSearch;
use crate::recall_service::messages::message_mmr;

/// Maximum number of recalled messages. Other sources have at most 15 candidates. A chat needs
/// more: its messages are short, and a question may share no word with its answer. The token budget
/// limits them further.
const CANDIDATES: usize = 24;
/// Limit for late interaction: the best messages are compared until they have this many tokens
/// together. Short messages are all compared; long ones must not make a turn wait.
const MAX_TOKENS: usize = 5_000;
/// Bytes of all excerpts and their titles if coverage is low: about 140 tokens.
const LOW_COVERAGE: usize = 500;

/// The parts of a question besides its words.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) about: QueryHints,
    /// The possessions that it names.
    pub(crate) possessions: Vec<Possession>,
    /// See [`DuplicateRules`].
    pub(crate) several: bool,
    /// Its embedding; without it the search is lexical only.
    pub(crate) meaning: Option<Understood>,
}

/// Earlier messages, best first.
#[derive(Debug, Default)]
pub(crate) struct Older {
    pub(crate) hits: Vec<Hit>,
    /// Low coverage: the answer may not exist. Embeddings were available, and at least half of the
    /// question's content words occur in messages, but not all of them.
    pub(crate) lacking: bool,
    pub(crate) talk: DuplicateRules,
}

/// The messages in the ranges that match the question, best first. The header of this module has
/// the formulas. A message that is not embedded yet uses its lexical score instead of the
/// similarities.
pub(crate) fn find(
    store: &ReadTransaction<'_>,
    words: &LexicalSearch,
    question: &Question,
    (cache, clock): (&VectorCache, &Clock),
) -> Result<Older, StoreError> {
    let meaning = question.meaning.as_deref();
    let meaning = meaning
        .map(|asked| Meaning::of(store, cache, &words.stretches, asked))
        .transpose()?;
    let (mut hits, lacking) = match meaning.filter(|meaning| !meaning.is_empty()) {
        Some(meaning) => (
            score_by_meaning(store, words, &meaning, question, clock)?,
            words.lacking,
        ),
        // Without embeddings, the answer may simply use other words.
        None => (score_by_words(words, question, clock), false),
    };
    let talk = DuplicateRules {
        timed: question.about.names_a_date(),
        several: question.several,
    };
    read_texts(store, &words.stretches, &mut hits)?;
    duplicates::say_once(&mut hits, talk);
    message_mmr::vary(&mut hits, CANDIDATES);
    add_updates(store, words, question, &mut hits)?;
    Ok(Older {
        hits,
        lacking,
        talk,
    })
}

/// Adds updates, so that no outdated message is recalled alone. An update that says something has
/// changed ranks right before the older message. The newest message about a possession in the
/// question ranks right after it, because people often do not say that something has changed.
fn add_updates(
    store: &ReadTransaction<'_>,
    words: &LexicalSearch,
    Question {
        possessions,
        several,
        ..
    }: &Question,
    hits: &mut Vec<Hit>,
) -> Result<(), StoreError> {
    let told = &hits[..hits.len().min(CANDIDATES)];
    // If a message updates several hits, the first of them has the best score.
    let mut since: BTreeMap<MessagePosition, Hit> = BTreeMap::new();
    let last_words = possessions
        .iter()
        .filter_map(|thing| words.last_word(told, thing, *several));
    for news in told
        .iter()
        .filter_map(|hit| words.news_since(hit))
        .chain(last_words)
    {
        since.entry(news.place()).or_insert(news);
    }
    let mut since: Vec<Hit> = since.into_values().collect();
    read_texts(store, &words.stretches, &mut since)?;
    for news in since {
        match hits.iter_mut().find(|hit| hit.place() == news.place()) {
            // The update is a hit itself. It gets the better score, so it ranks before the message
            // that it updates.
            Some(known) => (known.score, known.since) = (known.score.max(news.score), news.since),
            None => hits.push(news),
        }
    }
    best_first(hits);
    Ok(())
}

fn score_by_meaning(
    store: &ReadTransaction<'_>,
    words: &LexicalSearch,
    meaning: &Meaning<'_>,
    Question {
        about,
        possessions,
        several,
        ..
    }: &Question,
    clock: &Clock,
) -> Result<Vec<Hit>, StoreError> {
    let near = meaning.near();
    let around = &words.said.around;
    let mut similarity = near.clone();
    // A message that is not embedded yet is scored by its words instead.
    similarity.fill_in(around);
    let coverage = (words.said.covered / messages::FULL_COVERAGE).min(1.0);
    let hints = words.hints(about, clock);
    let named = words.named(possessions, *several);
    let mut hits = words.first(&Scores::weighted_sum(&[
        (&similarity, messages::SIMILARITY),
        (around, messages::LEXICAL * coverage),
        (&hints, messages::HINT),
        (&named, messages::NAMED),
    ]));
    let places: Vec<MessagePosition> = hits.iter().map(Hit::place).collect();
    let MaxSimScores {
        pieces,
        sentences,
        nearest,
    } = meaning.met(store, &places, MAX_TOKENS)?;
    let most = messages::SIMILARITY
        + messages::MAX_SIM
        + messages::LEXICAL
        + messages::HINT * about.given()
        + max_named(possessions);
    for hit in &mut hits {
        let place = hit.place();
        let [met, sentence] = [&pieces, &sentences].map(|met| {
            if near.knows(place) {
                met.of(place)
            } else {
                around.of(place)
            }
        });
        let asking = words.asking(place);
        let passage = weighted_sum(&[
            (met, messages::MAX_SIM),
            (sentence, messages::LEXICAL * (1.0 - coverage)),
        ]);
        hit.score = weighted_sum(&[
            (hit.score, 1.0),
            (passage, 1.0),
            (asking, -messages::QUESTION),
        ]) / most;
        hit.nearest = nearest.get(&place).copied();
        hit.signals = vec![
            SignalKind::Words.is(around.of(place)),
            SignalKind::Nearness.is(near.of(place)),
            SignalKind::Pieces.is(pieces.of(place)),
            SignalKind::Sentence.is(sentences.of(place)),
            SignalKind::Telling.is(1.0 - asking),
        ];
        hit.hinted(about, clock);
        hit.names(possessions, &named);
    }
    best_first(&mut hits);
    Ok(hits)
}

/// The maximum score for naming one of `things`.
fn max_named(possessions: &[Possession]) -> f32 {
    if possessions.is_empty() {
        0.0
    } else {
        messages::NAMED
    }
}

fn read_texts(
    store: &ReadTransaction<'_>,
    stretches: &[MessageRange],
    hits: &mut [Hit],
) -> Result<(), StoreError> {
    for (number, stretch) in stretches.iter().enumerate() {
        let mut in_it: Vec<&mut Hit> = hits
            .iter_mut()
            .filter(|hit| hit.stretch == number)
            .collect();
        let positions = in_it.iter().map(|hit| hit.message.position);
        let mut texts = store.message_texts().at(stretch.chat, positions)?;
        for hit in &mut in_it {
            hit.text = texts.remove(&hit.message.position).unwrap_or_default();
        }
    }
    Ok(())
}

/// The lexical score without embeddings.
fn by_words(words: &Lexical) -> Scores {
    Scores::weighted_sum(&[
        (&words.own, lexical::OWN),
        (&words.around, lexical::NEIGHBOURS),
        (&words.matter(), lexical::TOPIC),
    ])
}

/// Scores without embeddings. Longer messages score higher, because they say more; questions score
/// lower.
fn score_by_words(
    words: &LexicalSearch,
    Question {
        about,
        possessions,
        several,
        ..
    }: &Question,
    clock: &Clock,
) -> Vec<Hit> {
    let mut likely = by_words(&words.said);
    let named = words.named(possessions, *several);
    likely.add_to_known(&named, messages::NAMED);
    let hints = words.hints(about, clock);
    likely.add_to_known(&hints, lexical::HINT);
    let mut hits = words.first(&likely);
    let length = |hit: &Hit| {
        (words.chats[hit.stretch]
            .index
            .length_at(hit.message.position) as f32)
            .ln_1p()
    };
    let longest = hits.iter().map(length).fold(1.0, f32::max);
    let most =
        lexical::WORDS + lexical::LENGTH + lexical::HINT * about.given() + max_named(possessions);
    for hit in &mut hits {
        let place = hit.place();
        let hinted = weighted_sum(&[
            (hints.of(place), lexical::HINT),
            (named.of(place), messages::NAMED),
        ]);
        let asking = words.asking(hit.place());
        hit.signals = vec![
            SignalKind::Words.is((hit.score - hinted) / lexical::WORDS),
            SignalKind::Telling.is(1.0 - asking),
        ];
        let length = length(hit) / longest;
        hit.score = weighted_sum(&[
            (hit.score, 1.0),
            (length, lexical::LENGTH),
            (asking, -messages::QUESTION),
        ]) / most;
        hit.hinted(about, clock);
        hit.names(possessions, &named);
    }
    best_first(&mut hits);
    hits
}

fn best_first(hits: &mut [Hit]) {
    let newest = |a: &Hit, b: &Hit| {
        b.message
            .created
            .cmp(&a.message.created)
            .then(b.message.position.cmp(&a.message.position))
    };
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| newest(a, b)));
}

/// Keeps what scores at least [`messages::FLOOR`] times the best; `ranked` is in order.
pub(crate) fn leave_out_the_weak<T>(ranked: &mut Vec<T>, score: impl Fn(&T) -> f32) {
    let best = ranked.first().map_or(0.0, &score);
    let floor = best.min(best * messages::FLOOR);
    ranked.retain(|one| score(one) >= floor);
}

/// [`leave_out_the_weak`], and no more than [`CANDIDATES`] messages.
pub(crate) fn leave_the_best(hits: &mut Vec<Hit>) {
    leave_out_the_weak(hits, |hit| hit.score);
    hits.truncate(CANDIDATES);
}

/// Keeps the excerpts, best first, that fit into [`LOW_COVERAGE`] bytes, and at least one. An
/// excerpt that is too long is skipped, and the next one is tried.
pub(crate) fn only_a_few(excerpts: &mut Vec<Candidate>) {
    let mut room = LOW_COVERAGE;
    let mut first = true;
    excerpts.retain(|excerpt| {
        let left = room.checked_sub(excerpt.title.len() + excerpt.text.len());
        room = left.unwrap_or(room);
        std::mem::take(&mut first) || left.is_some()
    });
}

#[cfg(test)]
mod tests {
    use context::frame::{BlockKind, Source};

    use super::*;

    #[test]
    fn low_coverage_keeps_a_few_short_excerpts() {
        let left = |lengths: &[usize]| {
            let line = |length: &usize| {
                Candidate::new(
                    BlockKind::Excerpt,
                    Source::Note,
                    context::Reasons::default(),
                    "x".repeat(*length),
                )
            };
            let mut lines: Vec<Candidate> = lengths.iter().map(line).collect();
            only_a_few(&mut lines);
            lines.iter().map(|line| line.text.len()).collect::<Vec<_>>()
        };
        assert_eq!(left(&[250, 400, 150, 100, 1]), [250, 150, 100]);
        assert_eq!(left(&[LOW_COVERAGE + 1, 100]), [LOW_COVERAGE + 1, 100]);
        assert!(left(&[]).is_empty());
    }

    #[test]
    fn drops_scores_far_below_the_best() {
        let left = |scores: &[f32]| {
            let mut scores = scores.to_vec();
            leave_out_the_weak(&mut scores, |score| *score);
            scores
        };
        assert_eq!(left(&[0.9, 0.5, 0.1]), [0.9, 0.5]);
        assert_eq!(left(&[-0.1, -0.2]), [-0.1]);
        assert_eq!(left(&[]), [0.0; 0]);
    }
}
