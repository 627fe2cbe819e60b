//! Passages of the documents that are attached to the chat (S4.27).

use std::collections::HashSet;

use context::frame::{BlockKind, Candidate, HistoryMessage, SignalKind, Source};
use domain::ChatId;
use domain::document::Passage;
use store::{FoundPassage, Query, Read, StoreError};

use super::older::leave_out_the_weak;

/// Passages of one turn: more than the share of a small context has room for (C12), and few enough that they do not fill the
/// window, in which they stay.
const PASSAGES: u32 = 6;

/// What fits the first of `queries` that finds something, best first; and of a document that the window says nothing of, how it begins, so that
/// the model knows it is there whatever it is asked ("What do you make of this?").
pub(crate) fn find(
    store: &Read<'_>,
    chat: ChatId,
    queries: &[Query],
    told: &HashSet<String>,
) -> Result<Vec<Candidate>, StoreError> {
    let documents = store.documents().of(chat)?;
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for query in queries {
        if found.is_empty() {
            found = store.documents().search(chat, query, PASSAGES)?;
        }
    }
    let mut candidates = ranked(found);
    for document in documents.into_iter().filter(|document| !told.contains(&document.id.to_string())) {
        for passage in store.documents().beginning(document.id, 1)? {
            let source = Source::Document { id: document.id.to_string(), passage: 0, name: document.name.clone() };
            if candidates.iter().all(|found| found.source != source) {
                candidates.push(candidate(source, &document.name, passage, "how it begins".to_owned(), 0.0));
            }
        }
    }
    Ok(candidates)
}

/// The documents that some context block of `history` quotes, by their ids.
pub(crate) fn told(history: &[HistoryMessage]) -> HashSet<String> {
    let blocks = history.iter().filter_map(|message| message.context.as_ref()).flatten();
    let quoted = blocks.filter_map(|block| match &block.source {
        Source::Document { id, .. } => Some(id.clone()),
        _ => None,
    });
    quoted.collect()
}

/// Scores from 0 to 1; what fits much worse than the best is not about the question.
fn ranked(found: Vec<FoundPassage>) -> Vec<Candidate> {
    let best = found.first().map_or(0.0, |best| best.score);
    let scored = |found: FoundPassage| {
        let score = if best > 0.0 { (found.score / best) as f32 } else { 0.0 };
        (found, score)
    };
    let mut ranked: Vec<(FoundPassage, f32)> = found.into_iter().map(scored).collect();
    leave_out_the_weak(&mut ranked, |(_, score)| *score);
    let one = |(found, score): (FoundPassage, f32)| {
        let FoundPassage { document, name, place, passage, .. } = found;
        let source = Source::Document { id: document.to_string(), passage: place, name: name.clone() };
        candidate(source, &name, passage, format!("has words of this turn, {score:.2}"), score)
            .because(vec![SignalKind::Words.is(score)])
    };
    ranked.into_iter().map(one).collect()
}

fn candidate(source: Source, name: &str, passage: Passage, reason: String, score: f32) -> Candidate {
    let title = if passage.heading.is_empty() { name.to_owned() } else { format!("{name}, {}", passage.heading) };
    Candidate::new(BlockKind::Document, source, reason, passage.text).scored(score).titled(title)
}
