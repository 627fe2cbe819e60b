//! What was said earlier and is not in the window: in this chat (S2.15), and in others of the same pair (S4.62).

use std::collections::{HashMap, HashSet};

use context::frame::{BlockKind, Candidate, Source};
use domain::document::{self, Passage};
use local::Embedding;
use store::{Query, Read, StoreError, Stretch, WindowMessage};

use super::about::About;
use super::signals::{Lexical, Place, lexical};
use super::terms::words;
use super::vectors::{Meaning, VectorCache};
use crate::clock::Clock;
use crate::convert::Speakers;
use crate::history::said;

/// Candidates of one source (S2.14).
const CANDIDATES: usize = 15;
/// Messages for which it is looked whose words they are, and of when.
const LOOKED_AT: usize = 120;
/// Of those the first, in which each piece of the question is looked for: it costs a read of 12 KB each, and what comes behind
/// gains nothing among the first ten (memory.md, section 3, item 4).
const LOOKED_INTO: usize = 50;
/// Of the best score; what fits worse is not about the question.
const FLOOR: f32 = 0.3;
/// What is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) words: Query,
    pub(crate) about: About,
    /// Its vectors, and whose they are; without them words alone decide.
    pub(crate) meaning: Option<(Embedding, String)>,
}

/// A message that fits.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) message: WindowMessage,
    /// Which of the stretches it stands in.
    pub(crate) stretch: usize,
    /// From 0 to 1.
    pub(crate) score: f32,
}

impl Hit {
    fn place(&self) -> Place {
        (self.stretch, self.message.position)
    }
}

/// Messages in `stretches` that fit the question, best first. Where meanings are known, five signals are added, each from 0 to
/// 1, and none is weighted (memory.md, section 3, item 7): words, nearness, how its pieces are met, who said it, and when.
pub(crate) fn find(
    store: &Read<'_>,
    stretches: &[Stretch],
    question: &Question,
    (cache, clock): (&VectorCache, &Clock),
) -> Result<Vec<Hit>, StoreError> {
    let stretches = within(store, stretches)?;
    let words = lexical(&store.message_texts().search(&stretches, &question.words)?, &stretches);
    let meaning = question.meaning.as_ref();
    let meaning = meaning.map(|(asked, model)| Meaning::of(store, cache, model, &stretches, asked)).transpose()?;
    let Some(meaning) = meaning.filter(|meaning| !meaning.is_empty()) else {
        let hits = load(store, &stretches, first(&words, |said| by_words(*said)))?;
        return Ok(judged_by_words(hits, &words, &question.about, clock));
    };
    let mut near: HashMap<Place, f32> = meaning.near();
    for (place, said) in &words {
        *near.entry(*place).or_default() += said.around;
    }
    let mut hits = load(store, &stretches, first(&near, |score| *score))?;
    for hit in &mut hits {
        hit.score += question.about.fitting(hit.message.role, clock.civil(hit.message.created));
    }
    best_first(&mut hits);
    let places: Vec<Place> = hits.iter().take(LOOKED_INTO).map(Hit::place).collect();
    let met = meaning.met(store, &places)?;
    for hit in &mut hits {
        hit.score += met.get(&hit.place()).copied().unwrap_or(0.0);
        hit.score /= 3.0 + question.about.given();
    }
    best_first(&mut hits);
    Ok(hits)
}

/// The stretches, none of which goes beyond the end of its chat.
fn within(store: &Read<'_>, stretches: &[Stretch]) -> Result<Vec<Stretch>, StoreError> {
    let end = |stretch: &Stretch| {
        let before = stretch.before.min(store.message_texts().end(stretch.chat)?);
        Ok(Stretch { chat: stretch.chat, before })
    };
    stretches.iter().map(end).collect()
}

/// The best of `scores`; of equals the newest, and those of the first stretch before others.
fn first<T>(scores: &HashMap<Place, T>, score: impl Fn(&T) -> f32) -> Vec<(Place, f32)> {
    let mut first: Vec<(Place, f32)> = scores.iter().map(|(place, scored)| (*place, score(scored))).collect();
    first.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.0.cmp(&b.0.0)).then(b.0.1.cmp(&a.0.1)));
    first.truncate(LOOKED_AT);
    first
}

fn load(store: &Read<'_>, stretches: &[Stretch], first: Vec<(Place, f32)>) -> Result<Vec<Hit>, StoreError> {
    let mut hits = Vec::with_capacity(first.len());
    for ((stretch, position), score) in first {
        let found = store.messages().at(stretches[stretch].chat, &[position])?;
        hits.extend(found.into_iter().map(|message| Hit { message, stretch, score }));
    }
    Ok(hits)
}

/// Its own words count one, those around it two, what is talked of there a half: round numbers, measured on no chat but that
/// of memory.md, section 2.
fn by_words(Lexical { own, around, matter }: Lexical) -> f32 {
    own + 2.0 * around + 0.5 * matter
}

/// The most that words, and the length of a message, count.
const BY_WORDS: f32 = 4.0;

/// Without meanings a hint counts as much as a message's own words. A longer message says more.
fn judged_by_words(mut hits: Vec<Hit>, words: &HashMap<Place, Lexical>, about: &About, clock: &Clock) -> Vec<Hit> {
    let length = |hit: &Hit| (hit.message.text.split_whitespace().count() as f32).ln_1p();
    let longest = hits.iter().map(length).fold(1.0, f32::max);
    for hit in &mut hits {
        let said = words.get(&hit.place()).copied().unwrap_or_default();
        let hints = about.fitting(hit.message.role, clock.civil(hit.message.created));
        hit.score = (by_words(said) + 0.5 * length(hit) / longest + hints) / (BY_WORDS + about.given());
    }
    best_first(&mut hits);
    hits
}

fn best_first(hits: &mut [Hit]) {
    let newest =
        |a: &Hit, b: &Hit| b.message.created.cmp(&a.message.created).then(b.message.position.cmp(&a.message.position));
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| newest(a, b)));
}

/// Leaves what is good enough for a prompt; `ranked` is in order.
pub(crate) fn leave_out_the_weak<T>(ranked: &mut Vec<T>, score: impl Fn(&T) -> f32) {
    let floor = ranked.first().map_or(0.0, &score) * FLOOR;
    ranked.retain(|one| score(one) >= floor);
    ranked.truncate(CANDIDATES);
}

/// A message as a line of the context block: whose words, of which day. Of a long one only the passage that has most of the
/// words that are `sought`.
pub(crate) fn candidate(
    Hit { message, score, .. }: Hit,
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
    let excerpt = Candidate::new(BlockKind::Excerpt, source, format!("about this turn, {score:.2}"), text);
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
    use super::*;

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
    fn what_fits_much_worse_than_the_best_is_left_out() {
        let left = |scores: &[f32]| {
            let mut scores = scores.to_vec();
            leave_out_the_weak(&mut scores, |score| *score);
            scores
        };
        assert_eq!(left(&[0.9, 0.5, 0.1]), [0.9, 0.5]);
        assert_eq!(left(&[]), [0.0; 0]);
        assert_eq!(left(&[1.0; 60]).len(), CANDIDATES);
    }

    #[test]
    fn of_what_fits_as_well_the_newest_of_this_chat_comes_first() {
        let scores: HashMap<Place, f32> = [((1, 9), 0.5), ((0, 3), 0.5), ((0, 7), 0.5), ((1, 2), 0.9)].into();
        let places: Vec<Place> = first(&scores, |score| *score).into_iter().map(|(place, _)| place).collect();
        assert_eq!(places, [(1, 2), (0, 7), (0, 3), (1, 9)]);
    }
}
