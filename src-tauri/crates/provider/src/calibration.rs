//! Calibrates local token counts against the usage that an endpoint reports.

use serde::{Deserialize, Serialize};

/// Number of reports that the ratio is based on: few enough to follow a chat that switches to
/// another language.
const RECENT: usize = 5;
/// Number of errors that [`Calibration::mean_error`] averages.
const ERRORS: usize = 20;
/// Number of reports after which the ratio is trusted.
const TRUSTED: usize = 3;
/// Minimum prompt length in tokens: in shorter prompts, the endpoint's control tokens dominate the
/// count.
const SHORTEST: u32 = 16;
/// Maximum ratio. No two tokenizers differ by more, so an endpoint beyond it counts something else.
const WIDEST: f32 = 5.0;

/// Calibration of one model at one endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Reported tokens per counted token, newest last.
    ratios: Vec<f32>,
    /// Prediction errors as a share of the reported tokens, newest last.
    errors: Vec<f32>,
}

impl Calibration {
    /// Records that the endpoint reported `reported` tokens for a prompt that we counted as
    /// `counted`.
    pub fn observe(&mut self, counted: u32, reported: u32) {
        if counted < SHORTEST || reported == 0 {
            return;
        }
        let error = (self.apply(counted) as f32 - reported as f32).abs() / reported as f32;
        push(&mut self.errors, error, ERRORS);
        push(
            &mut self.ratios,
            (reported as f32 / counted as f32).clamp(1.0 / WIDEST, WIDEST),
            RECENT,
        );
    }

    /// Estimates the endpoint's token count from our own count.
    pub fn apply(&self, counted: u32) -> u32 {
        (f64::from(counted) * f64::from(self.ratio())).round() as u32
    }

    /// Returns the median of the recent ratios, which ignores a single outlier.
    fn ratio(&self) -> f32 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f32::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
    }

    /// Returns the share of the context that is reserved as a safety margin for counting errors.
    pub fn margin(&self) -> f32 {
        if self.ratios.len() < TRUSTED {
            0.10
        } else {
            0.03
        }
    }

    /// Returns the mean prediction error as a share, or `None` before the first report.
    pub fn mean_error(&self) -> Option<f32> {
        (!self.errors.is_empty())
            .then(|| self.errors.iter().sum::<f32>() / self.errors.len() as f32)
    }
}

fn push(values: &mut Vec<f32>, value: f32, limit: usize) {
    values.push(value);
    let old = values.len().saturating_sub(limit);
    values.drain(..old);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;

    /// Estimates like the context engine without a tokenizer: one token per four narrow letters or
    /// per wide letter.
    fn estimate(text: &str) -> u32 {
        let wide = text.chars().filter(|letter| *letter >= '\u{530}').count();
        ((text.chars().count() - wide).div_ceil(4) + wide) as u32
    }

    const SENTENCES: [&str; 4] = [
        "The lamplighter walks along the quay and counts the ships that came in overnight. ",
        "Она медленно шла по набережной и считала корабли, пришедшие ночью. ",
        "她慢慢地沿着码头走，数着夜里到港的船只。",
        "fn main() { println!(\"{}\", ships.iter().filter(|s| s.new).count()); }\n",
    ];

    /// Simulates a growing chat with three sentences in a changing mix per turn. Returns the mean
    /// error of turns 21 to 40.
    fn error_after(counted: impl Fn(&str) -> u32, reported: impl Fn(&str) -> u32) -> f32 {
        let (mut calibration, mut prompt, mut errors) =
            (Calibration::default(), String::new(), Vec::new());
        for turn in 0..40 {
            (0..3).for_each(|part| {
                prompt.push_str(SENTENCES[(turn * 7 + part * turn) % SENTENCES.len()])
            });
            let (counted, reported) = (counted(&prompt), reported(&prompt));
            if turn >= 20 {
                errors.push(
                    (calibration.apply(counted) as f32 - reported as f32).abs() / reported as f32,
                );
            }
            calibration.observe(counted, reported);
        }
        assert!(calibration.mean_error().unwrap() <= 0.05, "{calibration:?}");
        errors.iter().sum::<f32>() / errors.len() as f32
    }

    #[test]
    fn mean_error_is_within_5_percent_after_20_turns() {
        let wrapped = |encoding: Encoding| {
            move |text: &str| encoding.count(text) + 4 * (text.len() as u32 / 300) + 12
        };
        for (name, error) in [
            (
                "estimate, in truth cl100k",
                error_after(estimate, wrapped(Encoding::Cl100k)),
            ),
            (
                "estimate, in truth o200k",
                error_after(estimate, wrapped(Encoding::O200k)),
            ),
            (
                "o200k, in truth cl100k",
                error_after(
                    |text| Encoding::O200k.count(text),
                    wrapped(Encoding::Cl100k),
                ),
            ),
            (
                "estimate, in truth bytes",
                error_after(estimate, |text| text.len() as u32),
            ),
        ] {
            assert!(error <= 0.05, "{name}: {error}");
        }
    }

    #[test]
    fn ignores_a_single_outlier() {
        let mut calibration = Calibration::default();
        assert_eq!(
            (
                calibration.apply(1_000),
                calibration.margin(),
                calibration.mean_error()
            ),
            (1_000, 0.10, None)
        );
        (0..4).for_each(|_| calibration.observe(1_000, 1_300));
        calibration.observe(1_000, 90_000);
        calibration.observe(1_000, 0);
        calibration.observe(3, 400);
        assert_eq!(
            (calibration.apply(1_000), calibration.margin()),
            (1_300, 0.03)
        );
    }

    #[test]
    fn follows_a_changed_model_behind_the_same_name() {
        let mut calibration = Calibration::default();
        (0..30).for_each(|_| calibration.observe(1_000, 1_300));
        (0..3).for_each(|_| calibration.observe(1_000, 900));
        assert_eq!(calibration.apply(1_000), 900);
        (0..20).for_each(|_| calibration.observe(1_000, 900));
        assert_eq!(calibration.mean_error(), Some(0.0));
    }
}
