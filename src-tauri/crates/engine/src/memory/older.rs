//! What was said earlier and is not in the window: in this chat (S2.15), and in others of the same pair (S4.62).

use std::collections::BTreeMap;

use context::frame::{Candidate, SignalKind};
use store::{Read, StoreError, Stretch};

use super::about::About;
use super::by_words::{ByWords, NAMED};
use super::hit::Hit;
use super::scores::Scores;
use super::sense::Understood;
use super::signals::{Lexical, Place};
use super::things::Thing;
use super::twins::{self, Talk};
use super::variety;
use super::vectors::{Meaning, MetIn, VectorCache};
use crate::clock::Clock;

/// Messages that are told at the most. S2.14 leaves 15 to each source; a talk is one source of many short lines, and which of them
/// answers a question that shares no word with it is known by half only. The budget bounds them.
const CANDIDATES: usize = 24;
/// Of the likely messages the first that together have so many pieces: in them each piece of the question is looked for. That is all of them
/// where people talk in short lines, and a turn does not wait the longer where they tell tales.
const PIECES: usize = 5_000;
/// Of the best score; what fits worse is not about the question.
const FLOOR: f32 = 0.3;
/// Bytes of all excerpts, each with its title, where what is asked for may never have been told: a hundred and forty tokens, about.
const DOUBTFUL: usize = 500;
/// What words say of a message counts three quarters of what it means; where they say little, its nearest sentence says the rest.
const WORDS: f32 = 0.75;
/// So do who said it, and when.
const HINTS: f32 = 0.75;
/// What asks, and does not tell, counts less by a half.
const ASKING: f32 = 0.5;
/// Words count fully where some message says two fifths of what is asked for. Where none does, they were others.
const COVERED: f32 = 0.4;

/// What is looked for besides words.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) about: About,
    /// What it names.
    pub(crate) things: Vec<Thing>,
    /// See [`Talk`].
    pub(crate) several: bool,
    /// Its vectors, and whose they are; without them words alone decide.
    pub(crate) meaning: Option<Understood>,
}

/// What was said before, best first.
#[derive(Debug, Default)]
pub(crate) struct Older {
    pub(crate) hits: Vec<Hit>,
    /// What is asked for may never have been told: half of its words, or more, were said, one was not, and where meanings were
    /// known it can't have been told in others.
    pub(crate) lacking: bool,
    pub(crate) talk: Talk,
}

/// Messages in the stretches that fit the question, best first. Where meanings are known, signals are added (memory.md,
/// section 3, item 7): nearness and how its pieces are met, from 0 to 1 each, and three quarters each for words, for who said it,
/// and for when, and a quarter for naming what is asked about; what of it asks takes away a half. Of a message whose meaning is
/// not known, its words stand for that too.
pub(crate) fn find(
    store: &Read<'_>,
    words: &ByWords,
    question: &Question,
    (cache, clock): (&VectorCache, &Clock),
) -> Result<Older, StoreError> {
    let meaning = question.meaning.as_deref();
    let meaning = meaning.map(|asked| Meaning::of(store, cache, &words.stretches, asked)).transpose()?;
    let (mut hits, lacking) = match meaning.filter(|meaning| !meaning.is_empty()) {
        Some(meaning) => (judged_by_meaning(store, words, &meaning, question, clock)?, words.lacking),
        // Without meanings it may have been told in other words.
        None => (judged_by_words(words, question, clock), false),
    };
    let talk = Talk { timed: question.about.names_a_date(), several: question.several };
    read_texts(store, &words.stretches, &mut hits)?;
    twins::say_once(&mut hits, talk);
    variety::vary(&mut hits, CANDIDATES);
    with_what_came_since(store, words, question, &mut hits)?;
    Ok(Older { hits, lacking, talk })
}

/// What was said before something changed is not told without what changed: that stands right before it. Nor is it told without
/// what was said last of what is asked about: nobody says each time that something has changed.
fn with_what_came_since(
    store: &Read<'_>,
    words: &ByWords,
    Question { things, several, .. }: &Question,
    hits: &mut Vec<Hit>,
) -> Result<(), StoreError> {
    let told = &hits[..hits.len().min(CANDIDATES)];
    // Of several that it is news to, the first fits best.
    let mut since: BTreeMap<Place, Hit> = BTreeMap::new();
    let last_words = things.iter().filter_map(|thing| words.last_word(told, thing, *several));
    for news in told.iter().filter_map(|hit| words.news_since(hit)).chain(last_words) {
        since.entry(news.place()).or_insert(news);
    }
    let mut since: Vec<Hit> = since.into_values().collect();
    read_texts(store, &words.stretches, &mut since)?;
    for news in since {
        match hits.iter_mut().find(|hit| hit.place() == news.place()) {
            // It is told for itself, and before what it is news to.
            Some(known) => (known.score, known.since) = (known.score.max(news.score), news.since),
            None => hits.push(news),
        }
    }
    best_first(hits);
    Ok(())
}

fn judged_by_meaning(
    store: &Read<'_>,
    words: &ByWords,
    meaning: &Meaning<'_>,
    Question { about, things, several, .. }: &Question,
    clock: &Clock,
) -> Result<Vec<Hit>, StoreError> {
    let (near, around) = (meaning.near(), &words.said.around);
    let mut likely = near.clone();
    // What is not read yet, or is in a language that the encoder does not know, is judged by its words instead.
    likely.fill_in(around);
    let in_words = (words.said.covered / COVERED).min(1.0);
    likely.add_all(around, WORDS * in_words);
    if about.given() > 0.0 {
        likely.add_all(&words.hints(|message| about.fitting(message.role, || clock.civil(message.created))), HINTS);
    }
    let named = words.named(things, *several);
    likely.add_all(&named, 1.0);
    let mut hits = words.first(&likely);
    let places: Vec<Place> = hits.iter().map(Hit::place).collect();
    let MetIn { pieces, sentences, nearest } = meaning.met(store, &places, PIECES)?;
    let most = 2.0 + WORDS + HINTS * about.given() + most_named(things);
    for hit in &mut hits {
        let place = hit.place();
        let [met, sentence] =
            [&pieces, &sentences].map(|met| if near.knows(place) { met.of(place) } else { around.of(place) });
        let asking = words.asking(place);
        let met_in_all = met + WORDS * (1.0 - in_words) * sentence;
        hit.score = (hit.score + met_in_all - ASKING * asking) / most;
        hit.nearest = nearest.get(&place).copied();
        hit.signals = vec![
            SignalKind::Words.is(around.of(place)),
            SignalKind::Nearness.is(near.of(place)),
            SignalKind::Pieces.is(pieces.of(place)),
            SignalKind::Sentence.is(sentences.of(place)),
            SignalKind::Telling.is(1.0 - asking),
        ];
        hit.hinted(about, clock);
        hit.names(things, &named);
    }
    best_first(&mut hits);
    Ok(hits)
}

/// The most that it counts to name one of them.
fn most_named(things: &[Thing]) -> f32 {
    if things.is_empty() { 0.0 } else { NAMED }
}

fn read_texts(store: &Read<'_>, stretches: &[Stretch], hits: &mut [Hit]) -> Result<(), StoreError> {
    for (number, stretch) in stretches.iter().enumerate() {
        let mut in_it: Vec<&mut Hit> = hits.iter_mut().filter(|hit| hit.stretch == number).collect();
        let positions = in_it.iter().map(|hit| hit.message.position);
        let mut texts = store.message_texts().at(stretch.chat, positions)?;
        for hit in &mut in_it {
            hit.text = texts.remove(&hit.message.position).unwrap_or_default();
        }
    }
    Ok(())
}

/// Its own words count one, those around it two, what is talked of there a half: round numbers, measured on no chat but that
/// of memory.md, section 2.
fn by_words(words: &Lexical) -> Scores {
    let mut found = words.own.clone();
    found.add_all(&words.around, 2.0);
    found.add_all(&words.matter(), 0.5);
    found
}

/// The most that words count.
const ALL_WORDS: f32 = 3.5;
/// The most that words, and the length of a message, count.
const BY_WORDS: f32 = 4.0;

/// Without meanings a hint counts as much as a message's own words. A longer message says more, and one that asks less.
fn judged_by_words(words: &ByWords, Question { about, things, several, .. }: &Question, clock: &Clock) -> Vec<Hit> {
    let mut likely = by_words(&words.said);
    let named = words.named(things, *several);
    likely.add_to_known(&named);
    if about.given() > 0.0 {
        likely.add_to_known(&words.hints(|message| about.fitting(message.role, || clock.civil(message.created))));
    }
    let mut hits = words.first(&likely);
    let length = |hit: &Hit| (words.chats[hit.stretch].index.length_at(hit.message.position) as f32).ln_1p();
    let longest = hits.iter().map(length).fold(1.0, f32::max);
    let most = BY_WORDS + about.given() + most_named(things);
    for hit in &mut hits {
        let hints = about.fitting(hit.message.role, || clock.civil(hit.message.created)) + named.of(hit.place());
        let asking = words.asking(hit.place());
        hit.signals = vec![SignalKind::Words.is((hit.score - hints) / ALL_WORDS), SignalKind::Telling.is(1.0 - asking)];
        hit.score = (hit.score + 0.5 * length(hit) / longest - ASKING * asking) / most;
        hit.hinted(about, clock);
        hit.names(things, &named);
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
    let best = ranked.first().map_or(0.0, &score);
    let floor = best.min(best * FLOOR);
    ranked.retain(|one| score(one) >= floor);
}

/// [`leave_out_the_weak`], and what is more than messages are told.
pub(super) fn leave_the_best(hits: &mut Vec<Hit>) {
    leave_out_the_weak(hits, |hit| hit.score);
    hits.truncate(CANDIDATES);
}

/// Of excerpts, best first, as many as have room where what is asked for may never have been told; one at the least. What is too
/// long gives way to what comes after it (C28).
pub(crate) fn only_a_few(excerpts: &mut Vec<Candidate>) {
    let mut room = DOUBTFUL;
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
    fn where_it_may_never_have_been_told_a_few_short_lines_are_enough() {
        let left = |lengths: &[usize]| {
            let line = |length: &usize| Candidate::new(BlockKind::Excerpt, Source::Note, "", "x".repeat(*length));
            let mut lines: Vec<Candidate> = lengths.iter().map(line).collect();
            only_a_few(&mut lines);
            lines.iter().map(|line| line.text.len()).collect::<Vec<_>>()
        };
        assert_eq!(left(&[250, 400, 150, 100, 1]), [250, 150, 100]);
        assert_eq!(left(&[DOUBTFUL + 1, 100]), [DOUBTFUL + 1, 100]);
        assert!(left(&[]).is_empty());
    }

    #[test]
    fn what_fits_much_worse_than_the_best_is_left_out() {
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
