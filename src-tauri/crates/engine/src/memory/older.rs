//! What was said earlier and is not in the window: in this chat (S2.15), and in others of the same pair (S4.62).

use std::collections::BTreeMap;
use std::sync::Arc;

use context::frame::{BlockKind, Candidate, Signal, SignalKind, Source};
use context::full_text::TextIndex;
use domain::script::is_spaceless;
use store::{NamedMessage, Read, StoreError, Stretch};

use super::about::About;
use super::excerpt::{Sought, excerpt};
use super::news::{News, matter};
use super::scores::Scores;
use super::sense::Understood;
use super::signals::{Lexical, Place};
use super::terms::says_nothing;
use super::texts::{ChatTexts, TextCache};
use super::twins::{self, Talk};
use super::vectors::{Meaning, Nearest, VectorCache};
use crate::clock::Clock;
use crate::convert::Speakers;
use crate::history::said;

/// Candidates of one source (S2.14).
const CANDIDATES: usize = 15;
/// Messages whose words are read: some of the candidates may be told by a memory already.
const TOLD: usize = 2 * CANDIDATES;
/// Messages for which it is looked whose words they are, and of when.
const LOOKED_AT: usize = 120;
/// Of those the first that together have so many pieces: in them each piece of the question is looked for. That is all of them
/// where people talk in short lines, and a turn does not wait the longer where they tell tales.
const PIECES: usize = 5_000;
/// Of the best score; what fits worse is not about the question.
const FLOOR: f32 = 0.3;
/// Bytes of all excerpts, each with its title, where what is asked for may never have been told: a hundred and seventy tokens, about.
const DOUBTFUL: usize = 600;
/// What words say of a message counts three quarters of what it means.
const WORDS: f32 = 0.75;
/// So do who said it, and when.
const HINTS: f32 = 0.75;

/// What is looked for besides words.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) about: About,
    /// See [`Talk`].
    pub(crate) several: bool,
    /// Its vectors, and whose they are; without them words alone decide.
    pub(crate) meaning: Option<Understood>,
}

/// What the words of a question say about messages.
#[derive(Default)]
pub(crate) struct ByWords {
    /// None of them goes beyond the end of its chat.
    stretches: Vec<Stretch>,
    /// Of each stretch.
    chats: Vec<Arc<ChatTexts>>,
    said: Lexical,
    /// See [`Older`].
    lacking: bool,
}

impl ByWords {
    /// Searches `stretches` for `words`.
    pub(crate) fn of(
        store: &Read<'_>,
        texts: &TextCache,
        stretches: &[Stretch],
        words: &[String],
    ) -> Result<Self, StoreError> {
        let chats: Vec<_> = stretches.iter().map(|stretch| texts.of(store, stretch.chat)).collect::<Result<_, _>>()?;
        let within = |(stretch, chat): (&Stretch, &Arc<ChatTexts>)| Stretch {
            before: stretch.before.min(chat.end()),
            chat: stretch.chat,
        };
        let stretches: Vec<Stretch> = stretches.iter().zip(&chats).map(within).collect();
        let indexes: Vec<&TextIndex> = chats.iter().map(|chat| &chat.index).collect();
        let said = Lexical::of(&stretches, &indexes, words);
        let lacking = lacks(words, &said.unknown);
        Ok(Self { stretches, chats, said, lacking })
    }

    /// There is no message before the window, and none in another chat.
    pub(crate) fn has_no_messages(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.before == 0)
    }

    /// The newest message in which the same speaker says since that something has changed of what `hit` is about. It fits as
    /// well as that.
    fn news_since(&self, hit: &Hit) -> Option<Hit> {
        let chats = self.stretches.iter().zip(&self.chats).enumerate();
        let news = chats.flat_map(|(stretch, (of, chat))| chat.news(of.before).map(move |news| (stretch, news)));
        let (since, role) = (hit.message.created, hit.message.role);
        let since = news.filter(|(_, (message, _))| message.role == role && message.created > since);
        let mut about = None;
        let touching = since.filter(|(_, (_, news))| news.touches(about.get_or_insert_with(|| matter(&hit.text))));
        let (stretch, (message, news)) =
            touching.max_by_key(|(stretch, (message, _))| (message.created, *stretch, message.position))?;
        Some(Hit { news: Some(news.clone()), ..Hit::new(message, stretch, hit.score) })
    }

    /// What `hint` says of each message.
    fn hints(&self, hint: impl Fn(&NamedMessage) -> f32) -> Scores {
        let mut hints = Scores::unknown(&self.stretches);
        for (place, (stretch, chat)) in self.stretches.iter().zip(&self.chats).enumerate() {
            chat.messages(stretch.before).for_each(|message| hints.add((place, message.position), hint(&message)));
        }
        hints
    }

    /// The messages at the places that fit best, without their words.
    fn first(&self, scores: &Scores) -> Vec<Hit> {
        let hit = |((stretch, position), score): (Place, f32)| {
            Some(Hit::new(self.chats[stretch].message(position)?, stretch, score))
        };
        scores.first(LOOKED_AT).into_iter().filter_map(hit).collect()
    }
}

/// Whether what is asked for may never have been told: words of it are `unknown`. Where more are others than those of the
/// telling, what they mean decides; and who went camping need not have said "go".
fn lacks(words: &[String], unknown: &[String]) -> bool {
    let telling = |words: &[String]| words.iter().filter(|word| !is_spaceless(word) && !says_nothing(word)).count();
    let unknown = telling(unknown);
    unknown > 0 && 2 * unknown <= telling(words)
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

/// A message that fits.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) message: NamedMessage,
    /// Its words; empty where others fit so much better that they are not needed.
    pub(super) text: String,
    /// Which of the stretches it stands in.
    pub(crate) stretch: usize,
    /// From 0 to 1.
    pub(crate) score: f32,
    /// What it is made of.
    pub(crate) signals: Vec<Signal>,
    /// Where in it the question is met best.
    pub(crate) nearest: Option<Nearest>,
    /// Others that have the same words.
    pub(super) twins: usize,
    /// What it says has changed, where one that fits is from before that.
    news: Option<News>,
}

impl Hit {
    pub(super) fn new(message: NamedMessage, stretch: usize, score: f32) -> Self {
        Self { message, text: String::new(), stretch, score, signals: Vec::new(), nearest: None, twins: 0, news: None }
    }

    /// What was said again is told as it was said last; `timed`: as it fits best.
    pub(super) fn has_twin(&mut self, twin: Self, timed: bool) {
        self.twins += 1;
        if !timed && twin.message.created > self.message.created {
            (self.message, self.stretch) = (twin.message, twin.stretch);
        }
    }

    fn place(&self) -> Place {
        (self.stretch, self.message.position)
    }

    fn hinted(&mut self, about: &About, clock: &Clock) {
        self.signals.extend(about.hints(self.message.role, clock.civil(self.message.created)));
    }
}

/// Messages in the stretches that fit the question, best first. Where meanings are known, five signals are added (memory.md,
/// section 3, item 7): nearness and how its pieces are met, from 0 to 1 each, and three quarters each for words, for who said it,
/// and for when. Of a message whose meaning is not, its words stand for that too.
pub(crate) fn find(
    store: &Read<'_>,
    words: &ByWords,
    question: &Question,
    (cache, clock): (&VectorCache, &Clock),
) -> Result<Older, StoreError> {
    let meaning = question.meaning.as_deref();
    let meaning = meaning.map(|asked| Meaning::of(store, cache, &words.stretches, asked)).transpose()?;
    let (mut hits, lacking) = match meaning.filter(|meaning| !meaning.is_empty()) {
        Some(meaning) => (judged_by_meaning(store, words, &meaning, &question.about, clock)?, words.lacking),
        // Without meanings it may have been told in other words.
        None => (judged_by_words(words, &question.about, clock), false),
    };
    let talk = Talk { timed: question.about.names_a_date(), several: question.several };
    twins::say_once(&mut hits, talk, TOLD, |hit| text_of(store, &words.stretches, hit))?;
    with_news(store, words, &mut hits)?;
    Ok(Older { hits, lacking, talk })
}

/// What was said before something changed is not told without what changed: that stands right before it.
fn with_news(store: &Read<'_>, words: &ByWords, hits: &mut Vec<Hit>) -> Result<(), StoreError> {
    // Of several that it is news to, the first fits best.
    let mut newest: BTreeMap<Place, Hit> = BTreeMap::new();
    for news in hits.iter().take(CANDIDATES).filter_map(|hit| words.news_since(hit)) {
        newest.entry(news.place()).or_insert(news);
    }
    let newest: Vec<Hit> = newest.into_values().collect();
    for mut news in newest {
        news.text = text_of(store, &words.stretches, &news)?;
        match hits.iter_mut().find(|hit| hit.place() == news.place()) {
            // It is told for itself, before what it is news to.
            Some(known) if known.score >= news.score => {}
            Some(known) => *known = Hit { signals: std::mem::take(&mut known.signals), ..news },
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
    about: &About,
    clock: &Clock,
) -> Result<Vec<Hit>, StoreError> {
    let (near, around) = (meaning.near(), &words.said.around);
    let mut likely = near.clone();
    // What is not read yet, or is in a language that the encoder does not know, is judged by its words instead.
    likely.fill_in(around);
    likely.add_all(around, WORDS);
    if about.given() > 0.0 {
        likely.add_all(&words.hints(|message| about.fitting(message.role, || clock.civil(message.created))), HINTS);
    }
    let mut hits = words.first(&likely);
    let places: Vec<Place> = hits.iter().map(Hit::place).collect();
    let (met, nearest) = meaning.met(store, &places, PIECES)?;
    for hit in &mut hits {
        let place = hit.place();
        let read = if near.knows(place) { &met } else { around };
        hit.score = (hit.score + read.of(place)) / (2.0 + WORDS + HINTS * about.given());
        hit.nearest = nearest.get(&place).copied();
        hit.signals = vec![
            SignalKind::Words.is(around.of(place)),
            SignalKind::Nearness.is(near.of(place)),
            SignalKind::Pieces.is(met.of(place)),
        ];
        hit.hinted(about, clock);
    }
    best_first(&mut hits);
    Ok(hits)
}

fn text_of(store: &Read<'_>, stretches: &[Stretch], hit: &Hit) -> Result<String, StoreError> {
    let found = store.messages().at(stretches[hit.stretch].chat, &[hit.message.position])?;
    Ok(found.into_iter().map(|message| message.text).collect())
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

/// Without meanings a hint counts as much as a message's own words. A longer message says more.
fn judged_by_words(words: &ByWords, about: &About, clock: &Clock) -> Vec<Hit> {
    let mut likely = by_words(&words.said);
    if about.given() > 0.0 {
        likely.add_to_known(&words.hints(|message| about.fitting(message.role, || clock.civil(message.created))));
    }
    let mut hits = words.first(&likely);
    let length = |hit: &Hit| (words.chats[hit.stretch].index.length_at(hit.message.position) as f32).ln_1p();
    let longest = hits.iter().map(length).fold(1.0, f32::max);
    for hit in &mut hits {
        let hints = about.fitting(hit.message.role, || clock.civil(hit.message.created));
        hit.signals = vec![SignalKind::Words.is((hit.score - hints) / ALL_WORDS)];
        hit.score = (hit.score + 0.5 * length(hit) / longest) / (BY_WORDS + about.given());
        hit.hinted(about, clock);
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

/// A message as a line of the context block: whose words, of which day. Of a long one only what is about the question.
pub(crate) fn candidate(hit: Hit, sought: &Sought, speakers: &Speakers, clock: &Clock) -> Option<Candidate> {
    let Hit { message, text, score, signals, nearest, twins, news, .. } = hit;
    let (id, role) = (message.id, message.role);
    let own = news.as_ref().map(News::sought);
    let text = excerpt(&said(role, text), own.as_ref().unwrap_or(sought), nearest);
    if text.is_empty() {
        return None;
    }
    let speaker = speakers.of(id, role);
    let day = clock.day(message.created);
    let title = if speaker.is_empty() { day } else { format!("{speaker}, {day}") };
    let source = Source::Message { id, speaker: speaker.to_owned() };
    let reason = if news.is_some() { "says what has changed since" } else { "about this turn" };
    let reason = match twins {
        0 => format!("{reason}, {score:.2}"),
        _ => format!("{reason}, {score:.2}; the same words were said {} times", twins + 1),
    };
    let excerpt = Candidate::new(BlockKind::Excerpt, source, reason, text);
    Some(excerpt.scored(score).because(signals).titled(title).about(vec![id]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_may_never_have_been_told_a_few_short_lines_are_enough() {
        let left = |lengths: &[usize]| {
            let line = |length: &usize| Candidate::new(BlockKind::Excerpt, Source::Note, "", "x".repeat(*length));
            let mut lines: Vec<Candidate> = lengths.iter().map(line).collect();
            only_a_few(&mut lines);
            lines.iter().map(|line| line.text.len()).collect::<Vec<_>>()
        };
        assert_eq!(left(&[300, 400, 200, 100, 1]), [300, 200, 100]);
        assert_eq!(left(&[DOUBTFUL + 1, 100]), [DOUBTFUL + 1, 100]);
        assert!(left(&[]).is_empty());
    }

    #[test]
    fn what_was_never_told_has_a_word_that_nobody_said_and_that_is_no_verb_of_every_day() {
        let lacking = |words: &str, unknown: &str| {
            let [words, unknown] =
                [words, unknown].map(|of| of.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            lacks(&words, &unknown)
        };
        assert!(lacking("sister parrot called", "parrot"));
        assert!(!lacking("sister parrot called", ""));
        assert!(!lacking("sister parrot called", "sister parrot"), "it may have been told in other words");
        assert!(!lacking("go camping", "go"));
        assert!(!lacking("go camping", "camping"), "all that tells is unknown");
        assert!(!lacking("妹妹 鹦鹉", "鹦鹉"));
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
}
