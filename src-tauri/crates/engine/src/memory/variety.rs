//! What two messages say, a third one in the same words need not say: phrases of every evening fit many a question a little, and
//! there are hundreds of them (C11). Pure.

use std::collections::HashMap;

use context::frame::SignalKind;
use context::full_text::words;

use super::excerpt::met_best;
use super::hit::Hit;

/// Of the words of two sentences, the part that is common to sentences that have nothing to do with each other.
const COMMON: f32 = 0.4;
/// What repeats goes behind what fits worse by so much (MMR): most that is worth telling fits no worse, and it is not left out for
/// that.
const REPEATED: f32 = 0.3;
/// So many may say the same: what is told again may be told otherwise this time.
const TOLD: usize = 2;

/// A hit, and what of it is about the question.
struct Phrase {
    hit: Hit,
    /// Of the sentence that fits best, by number, each once and in order.
    words: Vec<usize>,
    /// How much of it those before it say that say the most, from 0 to 1.
    said: [f32; TOLD],
}

impl Phrase {
    fn repeats(&self) -> f32 {
        self.said[TOLD - 1]
    }

    fn score(&self) -> f32 {
        self.hit.score - REPEATED * self.repeats()
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

/// Puts the first `count` of `hits`, best first, into the order in which each is worth most behind those before it; what is
/// behind them is in no order. Of a hit in which nobody knows where the question is met, nothing is known.
pub(super) fn vary(hits: &mut Vec<Hit>, count: usize) {
    let mut numbers = Numbers::default();
    let mut left = hits.drain(..).peekable();
    let (mut varied, mut phrases) = (Vec::<Phrase>::new(), Vec::<Phrase>::new());
    while varied.len() < count {
        let best = first_of_the_best(&phrases);
        // What repeats nothing may still fit worse than what does: only then nobody needs to know what it says.
        let fits = |next: &Hit| best.is_none_or(|best| next.score > phrases[best].score());
        if let Some(hit) = left.next_if(fits) {
            let mut phrase = Phrase { words: numbers.of(&hit), hit, said: [0.0; TOLD] };
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
    hits.extend(varied.into_iter().chain(phrases).map(Phrase::scored).chain(rest));
}

/// A number for each word.
#[derive(Default)]
struct Numbers(HashMap<String, usize>);

impl Numbers {
    /// Of the words of what of a hit is about the question, each once and in order.
    fn of(&mut self, hit: &Hit) -> Vec<usize> {
        let phrase = hit.nearest.map_or("", |nearest| met_best(&hit.text, nearest));
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

/// Of equals the first.
fn first_of_the_best(phrases: &[Phrase]) -> Option<usize> {
    (0..phrases.len()).rev().max_by(|one, other| phrases[*one].score().total_cmp(&phrases[*other].score()))
}

/// Of the words of both, which are in order, the part that both have, beyond what is [`COMMON`]; 1 if they have the same.
fn likeness(one: &[usize], other: &[usize]) -> f32 {
    let (mut left, mut common) = (other, 0);
    for word in one {
        let before = left.iter().take_while(|other| *other < word).count();
        left = &left[before..];
        common += usize::from(left.first() == Some(word));
    }
    let part = common as f32 / (one.len() + other.len() - common).max(1) as f32;
    ((part - COMMON) / (1.0 - COMMON)).max(0.0)
}

#[cfg(test)]
mod tests {
    use domain::chat::Role;
    use domain::{MessageId, Timestamp};
    use store::NamedMessage;
    use uuid::Uuid;

    use super::*;
    use crate::memory::interaction::Nearest;

    fn hits(texts: &[&str], known: bool) -> Vec<Hit> {
        let hit = |(at, text): (i64, &&str)| {
            let id = MessageId(Uuid::from_u128(at as u128));
            let message = NamedMessage { id, position: at, role: Role::User, created: Timestamp(at), undated: false };
            let mut hit = Hit::new(message, 0, 0.9 - at as f32 / 100.0);
            hit.text = (*text).to_owned();
            hit.nearest = known.then_some(Nearest { passage: 0, at: 0.0 });
            hit
        };
        (0..).zip(texts).map(hit).collect()
    }

    fn varied(texts: &[&str], known: bool) -> Vec<(i64, i32)> {
        let mut hits = hits(texts, known);
        vary(&mut hits, texts.len());
        hits.iter().map(|hit| (hit.message.position, (hit.score * 100.0).round() as i32)).collect()
    }

    const EVENING: [&str; 4] = [
        "Somebody left a novel at the mill. *waves*",
        "Somebody left a novel at the quay.",
        "Somebody left a novel at the mill. It rained.",
        "My parrot is called Zebulon.",
    ];

    #[test]
    fn a_third_message_that_says_the_same_goes_behind_what_is_new() {
        assert_eq!(varied(&EVENING, true), [(0, 90), (1, 89), (3, 87), (2, 78)]);
    }

    #[test]
    fn what_has_no_room_is_worth_no_more_than_what_has() {
        let mut hits = hits(&[EVENING[0], EVENING[1], EVENING[2], EVENING[3], "It rained."], true);
        vary(&mut hits, 3);
        let told: Vec<i64> = hits.iter().map(|hit| hit.message.position).collect();
        assert_eq!(told[..3], [0, 1, 3]);
        assert!(hits[3..].iter().all(|hit| hit.score <= hits[2].score));
    }

    #[test]
    fn what_is_told_twice_may_be_told_otherwise() {
        assert_eq!(varied(&["I live in Elm Lane.", "I live in Oak Lane."], true), [(0, 90), (1, 89)]);
    }

    #[test]
    fn where_the_encoder_does_not_know_what_fits_nothing_changes() {
        assert_eq!(varied(&EVENING, false), [(0, 90), (1, 89), (2, 88), (3, 87)]);
        assert_eq!(varied(&[], true), []);
    }
}
