//! Maximal marginal relevance (MMR) for recalled messages. Everyday phrases match many questions
//! weakly, and a long chat has hundreds of them. Two messages may say the same; the third one is
//! penalized. Pure.

use std::collections::HashMap;

use context::frame::SignalKind;
use recall::excerpt::best_sentence_of;
use recall::full_text::words;
use recall::weights::mmr;

use crate::recall_service::hit::Hit;

/// Number of messages that may say the same without a penalty: the second one may say it
/// differently.
const ALLOWED: usize = 2;

/// A hit, and its sentence that matches the question best.
struct Phrase {
    hit: Hit,
    /// Ids of the words of that sentence, sorted and unique.
    words: Vec<usize>,
    /// The highest similarities to messages ordered before it, each 0 to 1, highest first.
    said: [f32; ALLOWED],
}

impl Phrase {
    fn repeats(&self) -> f32 {
        self.said[ALLOWED - 1]
    }

    fn score(&self) -> f32 {
        self.hit.score - mmr::MESSAGE_PENALTY * self.repeats()
    }

    fn hear(&mut self, before: &[usize]) {
        let mut likeness = likeness(&self.words, before);
        for said in &mut self.said {
            if likeness > *said {
                std::mem::swap(said, &mut likeness);
            }
        }
    }

    fn scored(mut self) -> Hit {
        let repeats = self.repeats();
        self.hit.score = self.score();
        if repeats > 0.0 {
            self.hit.signals.push(SignalKind::Novelty.is(1.0 - repeats));
        }
        self.hit
    }
}

/// Puts the first `count` of `hits`, which are in order, into MMR order; the rest is in no order. A
/// hit without a best position gets no penalty.
pub(crate) fn vary(hits: &mut Vec<Hit>, count: usize) {
    let mut numbers = WordIds::default();
    let mut left = hits.drain(..).peekable();
    let mut varied = Vec::<Phrase>::new();
    let mut phrases = Vec::<Phrase>::new();
    while varied.len() < count {
        let best = best_index(&phrases);
        // A hit is compared with the others only once its score without a penalty beats the best
        // one with its penalty.
        let fits = |next: &Hit| best.is_none_or(|best| next.score > phrases[best].score());
        if let Some(hit) = left.next_if(fits) {
            let mut phrase = Phrase {
                words: numbers.of(&hit),
                hit,
                said: [0.0; ALLOWED],
            };
            varied.iter().for_each(|before| phrase.hear(&before.words));
            phrases.push(phrase);
        } else if let Some(best) = best {
            let next = phrases.remove(best);
            phrases.iter_mut().for_each(|other| other.hear(&next.words));
            varied.push(next);
        } else {
            break;
        }
    }
    let rest: Vec<Hit> = left.collect();
    hits.extend(
        varied
            .into_iter()
            .chain(phrases)
            .map(Phrase::scored)
            .chain(rest),
    );
}

/// An id for each word.
#[derive(Default)]
struct WordIds(HashMap<String, usize>);

impl WordIds {
    /// Ids of the words in the best sentence of a hit, sorted and unique.
    fn of(&mut self, hit: &Hit) -> Vec<usize> {
        let phrase = hit
            .nearest
            .map_or("", |nearest| best_sentence_of(&hit.text, nearest));
        let number = |word: String| {
            let next = self.0.len();
            *self.0.entry(word).or_insert(next)
        };
        let mut words: Vec<usize> = words(phrase).map(number).collect();
        words.sort_unstable();
        words.dedup();
        words
    }
}

/// Ties go to the first.
fn best_index(phrases: &[Phrase]) -> Option<usize> {
    (0..phrases.len())
        .rev()
        .max_by(|one, other| phrases[*one].score().total_cmp(&phrases[*other].score()))
}

/// Jaccard similarity of two sorted lists, rescaled so that [`mmr::UNRELATED`] becomes 0 and equal
/// lists stay at 1.
fn likeness(one: &[usize], other: &[usize]) -> f32 {
    let mut left = other;
    let mut common = 0;
    for word in one {
        let before = left.iter().take_while(|other| *other < word).count();
        left = &left[before..];
        common += usize::from(left.first() == Some(word));
    }
    let part = common as f32 / (one.len() + other.len() - common).max(1) as f32;
    ((part - mmr::UNRELATED) / (1.0 - mmr::UNRELATED)).max(0.0)
}

#[cfg(test)]
mod tests {
    use domain::chat::Role;
    use domain::{MessageId, Timestamp};
    use recall::late_interaction::Nearest;
    use store::MessageKey;
    use uuid::Uuid;

    use super::*;

    fn hits(texts: &[&str], known: bool) -> Vec<Hit> {
        let hit = |(at, text): (i64, &&str)| {
            let id = MessageId(Uuid::from_u128(at as u128));
            let message = MessageKey {
                id,
                position: at,
                role: Role::User,
                created: Timestamp(at),
                undated: false,
            };
            let mut hit = Hit::new(message, 0, 0.9 - at as f32 / 100.0);
            hit.text = (*text).to_owned();
            hit.nearest = known.then_some(Nearest {
                passage: 0,
                at: 0.0,
            });
            hit
        };
        (0..).zip(texts).map(hit).collect()
    }

    fn varied(texts: &[&str], known: bool) -> Vec<(i64, i32)> {
        let mut hits = hits(texts, known);
        vary(&mut hits, texts.len());
        hits.iter()
            .map(|hit| (hit.message.position, (hit.score * 100.0).round() as i32))
            .collect()
    }

    const EVENING: [&str; 4] = [
        "Somebody left a novel at the mill. *waves*",
        "Somebody left a novel at the quay.",
        "Somebody left a novel at the mill. It rained.",
        "My parrot is called Zebulon.",
    ];

    #[test]
    fn third_repetition_ranks_behind_novelty() {
        assert_eq!(varied(&EVENING, true), [(0, 90), (1, 89), (3, 87), (2, 78)]);
    }

    #[test]
    fn rest_scores_no_higher_than_selected() {
        let mut hits = hits(
            &[EVENING[0], EVENING[1], EVENING[2], EVENING[3], "It rained."],
            true,
        );
        vary(&mut hits, 3);
        let told: Vec<i64> = hits.iter().map(|hit| hit.message.position).collect();
        assert_eq!(told[..3], [0, 1, 3]);
        assert!(hits[3..].iter().all(|hit| hit.score <= hits[2].score));
    }

    #[test]
    fn two_similar_messages_get_no_penalty() {
        assert_eq!(
            varied(&["I live in Elm Lane.", "I live in Oak Lane."], true),
            [(0, 90), (1, 89)]
        );
    }

    #[test]
    fn unknown_best_sentence_gets_no_penalty() {
        assert_eq!(
            varied(&EVENING, false),
            [(0, 90), (1, 89), (2, 88), (3, 87)]
        );
        assert_eq!(varied(&[], true), []);
    }
}
