//! Older messages of the same chat that are not in the window (S2.15).

use std::collections::{BTreeMap, HashSet};

use context::frame::{BlockKind, Candidate, Source};
use domain::ChatId;
use domain::document::{self, Passage};
use store::{Query, Read, StoreError, TextHit, WindowMessage};

use super::about::About;
use super::terms::words;
use crate::clock::Clock;
use crate::convert::Speakers;
use crate::history::said;

/// Candidates of one source (S2.14).
const CANDIDATES: usize = 15;
/// Messages for which it is looked whose words they are, and of when.
const LOOKED_AT: usize = 60;
/// Messages with some of the words that are weighed at all.
const HITS: u32 = 200;
/// Messages on each side that a message is understood by.
const REACH: i64 = 2;
/// What a neighbour's words count, against a message's own.
const NEIGHBOUR: f64 = 0.5;
/// Of the best score; what fits worse is not about the question.
const FLOOR: f32 = 0.3;

/// Messages that fit the question, best first, each with a score from 0 to 1.
pub(crate) type Ranked = Vec<(WindowMessage, f32)>;

/// How far down the ranking is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What a turn may use.
    Turn,
    /// Whatever was found, for measurements.
    All,
}

/// Looks before `position`, across the scenes of the chat.
pub(crate) fn find(
    store: &Read<'_>,
    chat: ChatId,
    position: i64,
    query: &Query,
    depth: Depth,
) -> Result<Ranked, StoreError> {
    let hits = store.message_texts().search(chat, position, query, HITS)?;
    let mut ranked = rank(&hits, position);
    if depth == Depth::Turn {
        ranked.truncate(LOOKED_AT);
    }
    let places: Vec<i64> = ranked.iter().map(|(place, _)| *place).collect();
    let scores: BTreeMap<i64, f32> = ranked.into_iter().collect();
    let messages = store.messages().at(chat, &places)?;
    let scored = |message: WindowMessage| scores.get(&message.position).map(|score| (message, *score));
    Ok(messages.into_iter().filter_map(scored).collect())
}

/// Places, best first, each with a score from 0 to 1: half for a message's own words, half for those around it. So the
/// answer to a question is found, though only the question has the words (memory.md, section 3, item 1).
fn rank(hits: &[TextHit], before: i64) -> Vec<(i64, f32)> {
    let own: BTreeMap<i64, f64> = hits.iter().map(|hit| (hit.position, hit.score)).collect();
    let best_own = own.values().copied().fold(0.0, f64::max);
    if best_own <= 0.0 {
        return Vec::new();
    }
    let mut around: BTreeMap<i64, f64> = BTreeMap::new();
    for (place, score) in &own {
        for near in place - REACH..=place + REACH {
            if (0..before).contains(&near) {
                *around.entry(near).or_default() += if near == *place { *score } else { NEIGHBOUR * score };
            }
        }
    }
    let best_around = around.values().copied().fold(best_own, f64::max);
    let total = |(place, around): (i64, f64)| {
        let own = own.get(&place).copied().unwrap_or(0.0);
        (place, 0.5 * own / best_own + 0.5 * around / best_around)
    };
    let mut ranked: Vec<(i64, f64)> = around.into_iter().map(total).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    ranked.into_iter().map(|(place, score)| (place, score as f32)).collect()
}

/// Puts first what fits the hints of the question as well.
pub(crate) fn order(ranked: &mut Ranked, about: &About, clock: &Clock) {
    for (message, score) in ranked.iter_mut() {
        *score = about.weigh(*score, message.role, clock.civil(message.created));
    }
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.position.cmp(&a.0.position)));
}

/// Leaves what is good enough for a prompt; `ranked` is in order.
pub(crate) fn leave_out_the_weak<T>(ranked: &mut Vec<(T, f32)>) {
    let floor = ranked.first().map_or(0.0, |best| best.1) * FLOOR;
    ranked.retain(|(_, score)| *score >= floor);
    ranked.truncate(CANDIDATES);
}

/// A message as a line of the context block: whose words, of which day. Of a long one only the passage that has most of the
/// words that are `sought`.
pub(crate) fn candidate(
    message: WindowMessage,
    score: f32,
    sought: &HashSet<String>,
    speakers: &Speakers,
    clock: &Clock,
) -> Option<Candidate> {
    let (id, role) = (message.id, message.role);
    let text = passage(said(role, message.text), sought);
    if text.trim().is_empty() {
        return None;
    }
    let speaker = speakers.of(id, role);
    let day = clock.day(message.created);
    let title = if speaker.is_empty() { day } else { format!("{speaker}, {day}") };
    let source = Source::Message { id, speaker: speaker.to_owned() };
    let excerpt = Candidate::new(BlockKind::Excerpt, source, format!("has words of this turn, {score:.2}"), text);
    Some(excerpt.scored(score).titled(title).about(vec![id]))
}

/// What of a long message is about the question; between others, marked as no beginning and no end.
fn passage(text: String, sought: &HashSet<String>) -> String {
    if text.len() <= document::MAX_PASSAGE {
        return text;
    }
    let passages = document::passages(&text);
    let found =
        |passage: &Passage| words(&passage.text).filter(|word| sought.contains(word)).collect::<HashSet<_>>().len();
    // Of equals the first: a message says in the beginning what it is about.
    let best = passages.iter().enumerate().rev().max_by_key(|(_, passage)| found(passage));
    let Some((at, best)) = best else { return text };
    let before = if at > 0 { "… " } else { "" };
    let behind = if at + 1 < passages.len() { " …" } else { "" };
    format!("{before}{}{behind}", best.text)
}

#[cfg(test)]
mod tests {
    use domain::MessageId;
    use uuid::Uuid;

    use super::*;

    fn ranked(hits: &[(i64, f64)], before: i64) -> Vec<i64> {
        let hit = |&(position, score)| TextHit { message: MessageId(Uuid::nil()), position, score };
        let hits: Vec<_> = hits.iter().map(hit).collect();
        let mut ranked = rank(&hits, before);
        leave_out_the_weak(&mut ranked);
        ranked.into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn the_answer_beside_a_question_is_found() {
        assert_eq!(ranked(&[(10, 4.0)], 100)[0], 10);
        assert!(ranked(&[(10, 4.0), (12, 4.0)], 100)[..3].contains(&11), "it stands between two hits");
        assert!(ranked(&[(10, 4.0)], 11).iter().all(|place| *place < 11), "the window begins there");
    }

    #[test]
    fn of_a_long_message_the_passage_that_was_asked_for_comes_back() {
        let sought: HashSet<String> = ["reef".to_owned()].into();
        let (fog, reef) = ("The fog came in over the quay. ".repeat(24), "Nobody dives at the reef. ".repeat(24));
        let told = passage(format!("{fog}\n\n{reef}\n\n{fog}"), &sought);
        assert!(told.starts_with("… Nobody") && told.ends_with("reef. …"), "{told}");
        assert!(passage(format!("{fog}\n\n{fog}"), &sought).starts_with("The fog"), "found by what stands around it");
        assert_eq!(passage("At the reef.".into(), &sought), "At the reef.");
    }

    #[test]
    fn weak_hits_and_none_at_all_bring_nothing() {
        assert!(ranked(&[], 100).is_empty());
        assert!(ranked(&[(10, 0.0)], 100).is_empty());
        assert!(!ranked(&[(10, 9.0), (50, 0.5)], 100).contains(&50));
        let many: Vec<_> = (0..60).map(|place| (place * 10, 1.0)).collect();
        assert_eq!(ranked(&many, 1_000).len(), CANDIDATES);
    }
}
