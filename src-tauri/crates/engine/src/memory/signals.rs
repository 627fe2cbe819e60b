//! What the words of a question say about messages (memory.md, section 3, items 1 and 7). Pure: places and scores.

use std::collections::HashMap;

use store::{Stretch, TextHit};

/// Messages on each side that a message is understood by: the answer to a question is found, though only the question has
/// the words.
const REACH: i64 = 2;
/// Messages on each side that talk of one matter.
const MATTER: i64 = 10;
/// How soon more of the same word stops counting; BM25's own.
const SATURATION: f64 = 1.2;

/// A message by where it stands: in which of the stretches that are searched, and at which position.
pub(crate) type Place = (usize, i64);

/// What the words say about one message, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Lexical {
    /// Its own words.
    pub(crate) own: f32,
    /// Its words and its neighbours', as if they were one text.
    pub(crate) around: f32,
    /// What is talked of there.
    pub(crate) matter: f32,
}

/// Every message that has some of the words, or stands near one that has.
pub(crate) fn lexical(words: &[Vec<TextHit>], stretches: &[Stretch]) -> HashMap<Place, Lexical> {
    let mut own = Sums::of(stretches);
    for hit in words.iter().flatten() {
        own.add((hit.stretch, hit.position), hit.score);
    }
    let messages: f64 = stretches.iter().map(|stretch| stretch.before as f64).sum();
    let (mut around, mut often) = (Sums::of(stretches), Sums::of(stretches));
    for hits in words {
        of_word(hits, messages, &mut often, &mut around);
    }
    let mut matter = Sums::of(stretches);
    own.places().for_each(|(place, score)| matter.spread(place, score, MATTER));
    let [most_own, most_around, most_matter] = [&own, &around, &matter].map(Sums::most);
    let share = |of: f64, most: f64| if most > 0.0 { (of / most) as f32 } else { 0.0 };
    let said = |(place, of): (Place, f64)| {
        let lexical = Lexical {
            own: share(own.at(place), most_own),
            around: share(around.at(place), most_around),
            matter: share(of, most_matter),
        };
        (place, lexical)
    };
    matter.places().map(said).collect()
}

/// Adds the BM25 of one word in messages that are read with their neighbours. How often it stands in one is told by its score
/// there, against the mean of all that have it: so a short message that says nothing else counts for more.
fn of_word(hits: &[TextHit], messages: f64, often: &mut Sums, around: &mut Sums) {
    let mean = hits.iter().map(|hit| hit.score).sum::<f64>() / hits.len().max(1) as f64;
    if mean <= 0.0 {
        return;
    }
    often.clear();
    for hit in hits {
        often.spread((hit.stretch, hit.position), hit.score / mean, REACH);
    }
    let having = often.touched.len() as f64;
    let rare = ((messages - having + 0.5).max(0.0) / (having + 0.5)).ln().max(1e-6);
    for (place, often) in often.places() {
        around.add(place, rare * often * (SATURATION + 1.0) / (often + SATURATION));
    }
}

/// A sum for each message, by stretch and position: a place in a table is found sooner than a name.
struct Sums {
    of: Vec<Vec<f64>>,
    /// Those that something was added to, each once.
    touched: Vec<Place>,
}

impl Sums {
    fn of(stretches: &[Stretch]) -> Self {
        let length = |stretch: &Stretch| usize::try_from(stretch.before).unwrap_or(0);
        Self { of: stretches.iter().map(|stretch| vec![f64::NAN; length(stretch)]).collect(), touched: Vec::new() }
    }

    fn clear(&mut self) {
        for (stretch, position) in self.touched.drain(..) {
            self.of[stretch][position as usize] = f64::NAN;
        }
    }

    /// What lies outside of the stretches counts nothing.
    fn add(&mut self, (stretch, position): Place, score: f64) {
        let Some(sum) = usize::try_from(position).ok().and_then(|at| self.of.get_mut(stretch)?.get_mut(at)) else {
            return;
        };
        if sum.is_nan() {
            *sum = 0.0;
            self.touched.push((stretch, position));
        }
        *sum += score;
    }

    /// Gives each of `reach` messages on both sides what a message has.
    fn spread(&mut self, (stretch, position): Place, score: f64, reach: i64) {
        (position - reach..=position + reach).for_each(|near| self.add((stretch, near), score));
    }

    fn at(&self, (stretch, position): Place) -> f64 {
        let sum = usize::try_from(position).ok().and_then(|at| self.of.get(stretch)?.get(at));
        sum.copied().filter(|sum| !sum.is_nan()).unwrap_or(0.0)
    }

    fn places(&self) -> impl Iterator<Item = (Place, f64)> {
        self.touched.iter().map(|place| (*place, self.at(*place)))
    }

    fn most(&self) -> f64 {
        self.places().map(|(_, sum)| sum).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use domain::ChatId;
    use uuid::Uuid;

    use super::*;

    fn stretches(before: &[i64]) -> Vec<Stretch> {
        before.iter().map(|before| Stretch { chat: ChatId(Uuid::nil()), before: *before }).collect()
    }

    fn word(hits: &[(usize, i64, f64)]) -> Vec<TextHit> {
        hits.iter().map(|&(stretch, position, score)| TextHit { stretch, position, score }).collect()
    }

    #[test]
    fn the_answer_beside_a_question_is_found() {
        let found = lexical(&[word(&[(0, 10, 4.0)]), word(&[(0, 12, 4.0)])], &stretches(&[100]));
        assert_eq!(found[&(0, 10)].own, 1.0);
        assert_eq!(found[&(0, 11)], Lexical { own: 0.0, around: 1.0, matter: 1.0 }, "it stands between two hits");
        assert!(found[&(0, 8)].around < 1.0, "it is near one of them only");
    }

    #[test]
    fn nothing_is_near_across_the_end_of_a_stretch() {
        let found = lexical(&[word(&[(0, 0, 4.0), (1, 9, 1.0)])], &stretches(&[1, 10]));
        assert!(found.keys().all(|(stretch, place)| *place < [1, 10][*stretch] && *place >= 0));
        assert_eq!(found.keys().filter(|(stretch, _)| *stretch == 0).count(), 1);
    }

    #[test]
    fn a_rare_word_says_more_than_a_common_one() {
        let common: Vec<(usize, i64, f64)> = (0..60).map(|place| (0, place, 0.4)).collect();
        let found = lexical(&[word(&common), word(&[(0, 90, 3.0)])], &stretches(&[100]));
        assert!(found[&(0, 91)].around > 4.0 * found[&(0, 30)].around);
    }

    #[test]
    fn no_words_say_nothing() {
        assert!(lexical(&[], &stretches(&[9])).is_empty());
        assert!(lexical(&[word(&[])], &stretches(&[9])).is_empty());
        assert_eq!(lexical(&[word(&[(0, 3, 0.0)])], &stretches(&[9]))[&(0, 3)], Lexical::default());
    }
}
