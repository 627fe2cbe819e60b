//! Lexical scores of messages (BM25). Pure.

use crate::full_text::{LexicalScores, TextIndex, search};
use domain::chat::MessageRange;

use crate::scores::Scores;

/// Number of messages on each side that are assumed to have the same topic.
const MATTER: usize = 10;

/// A message: the index of the searched range that it is in, and its position.
pub type MessagePosition = (usize, i64);

/// Lexical scores, relative to the best one: from 0 to 1. A message with none of the words has no
/// score.
#[derive(Debug, Clone, Default)]
pub struct Lexical {
    /// BM25 scores of the messages alone.
    pub own: Scores,
    /// BM25 scores of the messages with their neighbours, each as one text.
    pub around: Scores,
    /// Words of the question that occur in no message.
    pub unknown: Vec<String>,
    /// Share of the question's IDF mass in the best message, 0 to 1. See
    /// [`Searched::covered`](crate::full_text::Searched::covered).
    pub covered: f32,
}

impl Lexical {
    /// Searches for `words` in the ranges, each of which has its index.
    pub fn of(stretches: &[MessageRange], indexes: &[&TextIndex], words: &[String]) -> Self {
        let searched: Vec<(&TextIndex, i64)> = indexes
            .iter()
            .copied()
            .zip(stretches.iter().map(|stretch| stretch.before))
            .collect();
        let found = search(&searched, words.iter().map(String::as_str));
        let scores = |fits: &LexicalScores| {
            let most = fits.iter().flatten().copied().fold(0.0, f64::max);
            let mut scores = Scores::unknown(stretches);
            for (stretch, (index, fits)) in indexes.iter().zip(fits).enumerate() {
                for (place, fit) in index.places().zip(fits).filter(|(_, fit)| **fit > 0.0) {
                    scores.add((stretch, place), (fit / most) as f32);
                }
            }
            scores
        };
        let own = scores(&found.own);
        let around = scores(&found.around);
        Self {
            own,
            around,
            unknown: found.unknown,
            covered: found.covered as f32,
        }
    }

    /// Topic scores: the sum of the scores around each message, relative to the highest one.
    pub fn matter(&self) -> Scores {
        self.own.spread(MATTER).of_most()
    }
}

#[cfg(test)]
mod tests {
    use crate::full_text::IndexedText;
    use domain::ChatId;
    use uuid::Uuid;

    use super::*;

    fn index(texts: &[&str]) -> TextIndex {
        let mut index = TextIndex::default();
        let texts = (0..).zip(texts).map(|(place, text)| IndexedText {
            place,
            stamp: place,
            said: 0,
            text,
        });
        index.renew(texts, None);
        index
    }

    #[test]
    fn scores_only_messages_within_the_ranges() {
        let rain = ["It rained."; 12];
        let parrot = [
            &rain[..],
            &["My parrot is called Zebulon.", "What a parrot!"],
        ]
        .concat();
        let stretches = [13, 1].map(|before| MessageRange {
            chat: ChatId(Uuid::nil()),
            before,
        });
        let words = ["parrot", "zebulon", "lamp"].map(str::to_owned);
        let found = Lexical::of(
            &stretches,
            &[&index(&parrot), &index(&["A parrot.", "A parrot."])],
            &words,
        );
        assert_eq!(
            (
                found.own.of((0, 12)),
                found.own.of((0, 13)),
                found.own.of((1, 1))
            ),
            (1.0, 0.0, 0.0)
        );
        assert!((0.0..1.0).contains(&found.own.of((1, 0))) && found.own.of((1, 0)) > 0.0);
        assert!(found.around.of((0, 10)) > 0.0 && found.around.of((0, 9)) == 0.0);
        let matter = found.matter();
        assert_eq!(
            (matter.of((0, 12)), matter.of((0, 2)), matter.of((0, 1))),
            (1.0, 1.0, 0.0)
        );
        assert_eq!(found.unknown, ["lamp"]);
    }

    #[test]
    fn unknown_words_lower_the_coverage() {
        let lamps = [&["It rained."; 9][..], &["A blue lamp.", "A blue boat."]].concat();
        let index = index(&lamps);
        let stretches = [MessageRange {
            chat: ChatId(Uuid::nil()),
            before: 11,
        }];
        let covered = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            Lexical::of(&stretches, &[&index], &words).covered
        };
        assert!(covered("blue boat") > 0.8, "{}", covered("blue boat"));
        assert_eq!(covered("canary"), 0.0);
        assert!(
            covered("blue canary") < covered("boat canary"),
            "a rarer word covers more"
        );
        assert!(
            covered("boat canary") < 0.5 && covered("boat lamp") < 0.6,
            "no text says both"
        );
    }

    #[test]
    fn no_words_give_no_scores() {
        let stretches = [MessageRange {
            chat: ChatId(Uuid::nil()),
            before: 9,
        }];
        let found = Lexical::of(&stretches, &[&index(&["A lamp."])], &[]);
        assert!(found.own.first(9).is_empty() && found.matter().first(9).is_empty());
    }
}
