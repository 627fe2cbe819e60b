//! A score for each message in the searched ranges. Pure.

use domain::chat::MessageRange;

use crate::signals::MessagePosition;

/// Marks a message without a score.
const UNKNOWN: f32 = f32::NEG_INFINITY;

/// The scores by range and position. A search looks at every message, and an array is faster than a
/// hash map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scores(Vec<Vec<f32>>);

impl Scores {
    /// No message in `stretches` has a score.
    pub fn unknown(stretches: &[MessageRange]) -> Self {
        let length = |stretch: &MessageRange| usize::try_from(stretch.before).unwrap_or(0);
        Self(
            stretches
                .iter()
                .map(|stretch| vec![UNKNOWN; length(stretch)])
                .collect(),
        )
    }

    /// Raises the score to `score` if it is lower or missing. Ignores places outside the ranges.
    pub fn raise(&mut self, place: MessagePosition, score: f32) {
        if let Some(known) = self.at(place) {
            *known = known.max(score);
        }
    }

    /// Adds to the score; a missing one is 0.
    pub fn add(&mut self, place: MessagePosition, score: f32) {
        if let Some(known) = self.at(place) {
            *known = if *known == UNKNOWN {
                score
            } else {
                *known + score
            };
        }
    }

    /// Adds the scores of `others`, which has the same ranges, each multiplied by `weight`.
    fn add_all(&mut self, others: &Self, weight: f32) {
        for (known, other) in self.0.iter_mut().flatten().zip(others.0.iter().flatten()) {
            match (*known == UNKNOWN, *other == UNKNOWN) {
                (_, true) => {}
                (true, false) => *known = other * weight,
                (false, false) => *known += other * weight,
            }
        }
    }

    /// The sum of `signals`, each multiplied by its weight. A message has a score if one of the
    /// signals has.
    pub fn weighted_sum(signals: &[(&Self, f32)]) -> Self {
        let Some(((first, weight), rest)) = signals.split_first() else {
            return Self::default();
        };
        let mut sum = (*first).clone();
        sum.0
            .iter_mut()
            .flatten()
            .filter(|score| **score != UNKNOWN)
            .for_each(|score| *score *= weight);
        rest.iter()
            .for_each(|(signal, weight)| sum.add_all(signal, *weight));
        sum
    }

    /// Adds the scores of `others`, each multiplied by `weight`, to those that exist.
    pub fn add_to_known(&mut self, others: &Self, weight: f32) {
        let both = self.0.iter_mut().flatten().zip(others.0.iter().flatten());
        both.filter(|(known, other)| **known != UNKNOWN && **other != UNKNOWN)
            .for_each(|(known, other)| *known += other * weight);
    }

    /// Takes missing scores from `others`, which has the same ranges.
    pub fn fill_in(&mut self, others: &Self) {
        let both = self.0.iter_mut().flatten().zip(others.0.iter().flatten());
        both.filter(|(known, _)| **known == UNKNOWN)
            .for_each(|(known, other)| *known = *other);
    }

    pub fn knows(&self, place: MessagePosition) -> bool {
        self.known(place).is_some()
    }

    /// The score, or 0 if there is none.
    pub fn of(&self, place: MessagePosition) -> f32 {
        self.known(place).unwrap_or(0.0)
    }

    /// Scales all scores to 0 to 1 (min-max).
    pub fn scaled(mut self) -> Self {
        let known = || self.0.iter().flatten().filter(|score| **score != UNKNOWN);
        let (least, most) = known().fold((f32::INFINITY, UNKNOWN), |(least, most), score| {
            (least.min(*score), most.max(*score))
        });
        let span = (most - least).max(f32::MIN_POSITIVE);
        for score in self
            .0
            .iter_mut()
            .flatten()
            .filter(|score| **score != UNKNOWN)
        {
            *score = (*score - least) / span;
        }
        self
    }

    /// For each message, the sum of the scores within `reach` positions on both sides.
    pub fn spread(&self, reach: usize) -> Self {
        let of_stretch = |scores: &Vec<f32>| {
            // Prefix sums of the number and the values of scores. The difference of two of them is
            // the sum in between.
            let mut until = vec![(0_u32, 0.0_f64)];
            let mut last = (0, 0.0);
            for score in scores {
                if *score != UNKNOWN {
                    last = (last.0 + 1, last.1 + f64::from(*score));
                }
                until.push(last);
            }
            let sum = |at: usize| {
                let first = until[at.saturating_sub(reach)];
                let end = until[(at + reach + 1).min(scores.len())];
                if end.0 > first.0 {
                    (end.1 - first.1) as f32
                } else {
                    UNKNOWN
                }
            };
            (0..scores.len()).map(sum).collect()
        };
        Self(self.0.iter().map(of_stretch).collect())
    }

    /// Divides all scores by the highest one.
    pub fn of_most(mut self) -> Self {
        let most = self
            .0
            .iter()
            .flatten()
            .copied()
            .fold(f32::MIN_POSITIVE, f32::max);
        self.0.iter_mut().flatten().for_each(|score| *score /= most);
        self
    }

    /// The `count` places with the best scores, best first. Ties: the first range comes first, then
    /// the newest message.
    pub fn first(&self, count: usize) -> Vec<(MessagePosition, f32)> {
        let numbered = self.0.iter().enumerate();
        let all = numbered.flat_map(|(stretch, scores)| {
            (0..)
                .zip(scores)
                .map(move |(at, score)| ((stretch, at), *score))
        });
        let mut known: Vec<(MessagePosition, f32)> =
            all.filter(|(_, score)| *score != UNKNOWN).collect();
        let better = |a: &(MessagePosition, f32), b: &(MessagePosition, f32)| {
            b.1.total_cmp(&a.1)
                .then(a.0.0.cmp(&b.0.0))
                .then(b.0.1.cmp(&a.0.1))
        };
        if known.len() > count {
            known.select_nth_unstable_by(count, better);
            known.truncate(count);
        }
        known.sort_unstable_by(better);
        known
    }

    fn known(&self, place: MessagePosition) -> Option<f32> {
        let (range, position) = place;
        let of = self
            .0
            .get(range)
            .and_then(|scores| scores.get(usize::try_from(position).ok()?));
        of.copied().filter(|score| *score != UNKNOWN)
    }

    fn at(&mut self, place: MessagePosition) -> Option<&mut f32> {
        let (range, position) = place;
        self.0
            .get_mut(range)?
            .get_mut(usize::try_from(position).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use domain::ChatId;
    use uuid::Uuid;

    use super::*;

    fn scores(of: &[(MessagePosition, f32)]) -> Scores {
        let stretches = [10, 10].map(|before| MessageRange {
            chat: ChatId(Uuid::nil()),
            before,
        });
        let mut scores = Scores::unknown(&stretches);
        of.iter()
            .for_each(|(place, score)| scores.add(*place, *score));
        scores
    }

    #[test]
    fn ties_go_to_first_range_then_newest() {
        let scores = scores(&[((1, 9), 0.5), ((0, 3), 0.5), ((0, 7), 0.5), ((1, 2), 0.9)]);
        let places = |count| {
            scores
                .first(count)
                .into_iter()
                .map(|(place, _)| place)
                .collect::<Vec<MessagePosition>>()
        };
        assert_eq!(places(10), [(1, 2), (0, 7), (0, 3), (1, 9)]);
        assert_eq!(places(2), [(1, 2), (0, 7)]);
    }

    #[test]
    fn scales_scores_to_0_to_1() {
        let scaled = scores(&[((0, 1), 0.2), ((0, 2), 0.6), ((1, 1), 0.4)]).scaled();
        assert_eq!((scaled.of((0, 1)), scaled.of((0, 2))), (0.0, 1.0));
        assert!((scaled.of((1, 1)) - 0.5).abs() < 1e-6);
        assert_eq!(scaled.first(10).len(), 3, "missing scores stay missing");
    }

    #[test]
    fn adds_scores_of_the_same_messages() {
        let mut some = scores(&[((0, 1), 0.5), ((1, 2), 1.0)]);
        some.add_all(&scores(&[((0, 1), 0.5), ((0, 2), 4.0)]), 0.5);
        assert_eq!(
            some.first(9),
            [((0, 2), 2.0), ((1, 2), 1.0), ((0, 1), 0.75)]
        );
        some.add_to_known(&scores(&[((0, 1), 0.25), ((0, 9), 2.0)]), 1.0);
        assert_eq!(some.first(9), [((0, 2), 2.0), ((0, 1), 1.0), ((1, 2), 1.0)]);
    }

    #[test]
    fn fills_in_missing_scores_only() {
        let mut some = scores(&[((0, 1), 0.5)]);
        some.fill_in(&scores(&[((0, 1), 9.0), ((0, 2), 4.0)]));
        assert_eq!(some.first(9), [((0, 2), 4.0), ((0, 1), 0.5)]);
        assert!(some.knows((0, 2)) && !some.knows((0, 3)) && !some.knows((7, 0)));
    }

    #[test]
    fn spreads_scores_to_neighbours() {
        let spread = scores(&[((0, 1), 0.5), ((0, 3), 1.0), ((1, 9), 2.0)]).spread(1);
        assert_eq!(
            spread.first(9),
            [
                ((1, 9), 2.0),
                ((1, 8), 2.0),
                ((0, 2), 1.5),
                ((0, 4), 1.0),
                ((0, 3), 1.0),
                ((0, 1), 0.5),
                ((0, 0), 0.5)
            ]
        );
    }

    #[test]
    fn ignores_places_outside_the_ranges() {
        let mut scores = scores(&[((0, 10), 1.0), ((2, 0), 1.0), ((0, -1), 1.0)]);
        scores.raise((0, 4), -2.0);
        scores.raise((0, 4), -3.0);
        assert_eq!(scores.first(10), [((0, 4), -2.0)]);
        assert_eq!(scores.of((2, 0)), 0.0);
    }
}
