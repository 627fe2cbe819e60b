//! What the words of a question say about messages (memory.md, section 3, items 1 and 7). Pure: places and scores.

use context::full_text::{Fits, TextIndex, search};
use store::Stretch;

use super::scores::Scores;

/// Messages on each side that talk of one matter.
const MATTER: usize = 10;

/// A message by where it stands: in which of the stretches that are searched, and at which position.
pub(crate) type Place = (usize, i64);

/// What the words say about messages, from 0 to 1 each; of a message that has none of them nothing is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexical {
    /// By their own words.
    pub(crate) own: Scores,
    /// By their words and their neighbours', as if they were one text.
    pub(crate) around: Scores,
    /// Words that no message has.
    pub(crate) unknown: Vec<String>,
    /// See [`Searched::covered`](context::full_text::Searched::covered).
    pub(crate) covered: f32,
}

impl Lexical {
    /// Of `words` in the stretches, each of which has its index.
    pub(crate) fn of(stretches: &[Stretch], indexes: &[&TextIndex], words: &[String]) -> Self {
        let searched: Vec<(&TextIndex, i64)> =
            indexes.iter().copied().zip(stretches.iter().map(|stretch| stretch.before)).collect();
        let found = search(&searched, words.iter().map(String::as_str));
        let scores = |fits: &Fits| {
            let most = fits.iter().flatten().copied().fold(0.0, f64::max);
            let mut scores = Scores::unknown(stretches);
            for (stretch, (index, fits)) in indexes.iter().zip(fits).enumerate() {
                for (place, fit) in index.places().zip(fits).filter(|(_, fit)| **fit > 0.0) {
                    scores.add((stretch, place), (fit / most) as f32);
                }
            }
            scores
        };
        let (own, around) = (scores(&found.own), scores(&found.around));
        Self { own, around, unknown: found.unknown, covered: found.covered as f32 }
    }

    /// What is talked of around each message, from 0 to 1.
    pub(crate) fn matter(&self) -> Scores {
        self.own.spread(MATTER).of_most()
    }
}

#[cfg(test)]
mod tests {
    use context::full_text::Text;
    use domain::ChatId;
    use uuid::Uuid;

    use super::*;

    fn index(texts: &[&str]) -> TextIndex {
        let mut index = TextIndex::default();
        let texts = (0..).zip(texts).map(|(place, text)| Text { place, stamp: place, said: 0, text });
        index.renew(texts, None);
        index
    }

    #[test]
    fn what_the_words_say_is_told_of_each_stretch_and_of_nothing_beyond_it() {
        let rain = ["It rained."; 12];
        let parrot = [&rain[..], &["My parrot is called Zebulon.", "What a parrot!"]].concat();
        let stretches = [13, 1].map(|before| Stretch { chat: ChatId(Uuid::nil()), before });
        let words = ["parrot", "zebulon", "lamp"].map(str::to_owned);
        let found = Lexical::of(&stretches, &[&index(&parrot), &index(&["A parrot.", "A parrot."])], &words);
        assert_eq!((found.own.of((0, 12)), found.own.of((0, 13)), found.own.of((1, 1))), (1.0, 0.0, 0.0));
        assert!((0.0..1.0).contains(&found.own.of((1, 0))) && found.own.of((1, 0)) > 0.0);
        assert!(found.around.of((0, 10)) > 0.0 && found.around.of((0, 9)) == 0.0);
        let matter = found.matter();
        assert_eq!((matter.of((0, 12)), matter.of((0, 2)), matter.of((0, 1))), (1.0, 1.0, 0.0));
        assert_eq!(found.unknown, ["lamp"]);
    }

    #[test]
    fn words_that_nobody_said_are_not_covered() {
        let lamps = [&["It rained."; 9][..], &["A blue lamp.", "A blue boat."]].concat();
        let index = index(&lamps);
        let stretches = [Stretch { chat: ChatId(Uuid::nil()), before: 11 }];
        let covered = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            Lexical::of(&stretches, &[&index], &words).covered
        };
        assert!(covered("blue boat") > 0.8, "{}", covered("blue boat"));
        assert_eq!(covered("canary"), 0.0);
        assert!(covered("blue canary") < covered("boat canary"), "who says the rarer word says more of it");
        assert!(covered("boat canary") < 0.5 && covered("boat lamp") < 0.6, "no text says both");
    }

    #[test]
    fn no_words_say_nothing() {
        let stretches = [Stretch { chat: ChatId(Uuid::nil()), before: 9 }];
        let found = Lexical::of(&stretches, &[&index(&["A lamp."])], &[]);
        assert!(found.own.first(9).is_empty() && found.matter().first(9).is_empty());
    }
}
