//! Passages of the documents that apply in the chat.

use std::collections::HashSet;

use context::frame::{BlockKind, Candidate, HistoryMessage, SignalKind, Source};
use context::reason::{BlockReason, two_decimals};
use domain::document::{DocumentOwner, Passage};
use store::{FoundPassage, Query, ReadTransaction, StoreError};

use crate::recall_service::messages::older::leave_out_the_weak;

/// Maximum number of passages in a turn: more than their share of a small context holds, and few
/// enough not to fill the window, where they stay.
pub(crate) const PASSAGES: usize = 6;

/// A matching passage with its lexical score and its cosine similarity, each from 0 to 1.
struct Fitting {
    passage: FoundPassage,
    words: f32,
    nearness: f32,
}

impl Fitting {
    fn score(&self) -> f32 {
        (self.words + self.nearness).min(1.0)
    }
}

/// The passages that match, best first: those of the first of `queries` that finds any, and those
/// in `near` (numbers of passages with their cosine similarity). A document of the chat itself also
/// adds its beginning, unless the window quotes it. The model then knows of the document even if
/// the question shares no word with it ("What do you make of this?"). Documents of a character or a
/// world are only searched.
pub(crate) fn find(
    store: &ReadTransaction<'_>,
    owners: &[DocumentOwner],
    queries: &[Query],
    near: &[(i64, f32)],
    told: &HashSet<String>,
) -> Result<Vec<Candidate>, StoreError> {
    let mut found = Vec::new();
    for query in queries {
        if found.is_empty() {
            found = store.documents().search(owners, query, PASSAGES as u32)?;
        }
    }
    let mut fitting = by_words(found);
    for (number, nearness) in near.iter().take(PASSAGES) {
        let Some(passage) = store.documents().numbered(owners, *number)? else {
            continue;
        };
        let same = |known: &&mut Fitting| {
            (known.passage.document, known.passage.place) == (passage.document, passage.place)
        };
        match fitting.iter_mut().find(same) {
            Some(known) => known.nearness = *nearness,
            None => fitting.push(Fitting {
                passage,
                words: 0.0,
                nearness: *nearness,
            }),
        }
    }
    let mut candidates = ranked(fitting);
    let mut own = Vec::new();
    for owner in owners
        .iter()
        .filter(|owner| matches!(owner, DocumentOwner::Chat(_)))
    {
        own.extend(store.documents().of(*owner)?);
    }
    for document in own
        .into_iter()
        .filter(|document| !told.contains(&document.id.to_string()))
    {
        for passage in store.documents().beginning(document.id, 1)? {
            let source = Source::Document {
                id: document.id.to_string(),
                passage: 0,
                name: document.name.clone(),
            };
            if candidates.iter().all(|found| found.source != source) {
                candidates.push(candidate(
                    source,
                    &document.name,
                    passage,
                    BlockReason::StartOfDocument,
                    0.0,
                ));
            }
        }
    }
    Ok(candidates)
}

/// The ids of the documents that a context block of `history` quotes.
pub(crate) fn told(history: &[HistoryMessage]) -> HashSet<String> {
    let blocks = history
        .iter()
        .filter_map(|message| message.context.as_ref())
        .flatten();
    let quoted = blocks.filter_map(|block| match &block.source {
        Source::Document { id, .. } => Some(id.clone()),
        _ => None,
    });
    quoted.collect()
}

/// Scales the lexical scores so that the best passage has 1.
fn by_words(found: Vec<FoundPassage>) -> Vec<Fitting> {
    let best = found.first().map_or(0.0, |best| best.score);
    let share = |score: f64| {
        if best > 0.0 {
            (score / best) as f32
        } else {
            0.0
        }
    };
    found
        .into_iter()
        .map(|passage| Fitting {
            words: share(passage.score),
            passage,
            nearness: 0.0,
        })
        .collect()
}

/// Candidates without the passages that match much worse than the best one.
fn ranked(mut fitting: Vec<Fitting>) -> Vec<Candidate> {
    fitting.sort_by(|a, b| b.score().total_cmp(&a.score()));
    fitting.truncate(PASSAGES);
    leave_out_the_weak(&mut fitting, Fitting::score);
    let one = |fitting: Fitting| {
        let score = fitting.score();
        let Fitting {
            passage: found,
            words,
            nearness,
        } = fitting;
        let FoundPassage {
            document,
            name,
            place,
            passage,
            ..
        } = found;
        let source = Source::Document {
            id: document.to_string(),
            passage: place,
            name: name.clone(),
        };
        let reason = if words > 0.0 {
            BlockReason::WordsOfThisTurn {
                score: two_decimals(score),
            }
        } else {
            BlockReason::ByMeaning {
                similarity: two_decimals(nearness),
            }
        };
        candidate(source, &name, passage, reason, score).with_signals(vec![
            SignalKind::Words.is(words),
            SignalKind::Nearness.is(nearness),
        ])
    };
    fitting.into_iter().map(one).collect()
}

fn candidate(
    source: Source,
    name: &str,
    passage: Passage,
    reason: BlockReason,
    score: f32,
) -> Candidate {
    let title = if passage.heading.is_empty() {
        name.to_owned()
    } else {
        format!("{name}, {}", passage.heading)
    };
    Candidate::new(BlockKind::Document, source, reason, passage.text)
        .with_score(score)
        .with_title(title)
}
