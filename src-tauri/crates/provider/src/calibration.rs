//! How far our counts are from an endpoint's own, learned from the usage that it reports (C1).

use serde::{Deserialize, Serialize};

/// Reports that are looked back on: few enough to follow a chat that goes over into another language.
const LOOKED_BACK: usize = 5;
/// Errors that are averaged.
const ERRORS: usize = 20;
/// Reports before the ratio is trusted.
const TRUSTED: usize = 3;
/// Shorter prompts tell more about the endpoint's markers than about its tokenizer.
const SHORTEST: u32 = 16;
/// No two tokenizers differ by more; endpoints that report it count something else.
const WIDEST: f32 = 5.0;

/// Of one model at one endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Reported tokens for each counted one, the newest last.
    ratios: Vec<f32>,
    /// How far off the prediction was, as a share of what was reported, the newest last.
    errors: Vec<f32>,
}

impl Calibration {
    /// Learns that a prompt of `counted` tokens by our own count was reported as `reported` ones.
    pub fn observe(&mut self, counted: u32, reported: u32) {
        if counted < SHORTEST || reported == 0 {
            return;
        }
        let error = (self.apply(counted) as f32 - reported as f32).abs() / reported as f32;
        push(&mut self.errors, error, ERRORS);
        push(&mut self.ratios, (reported as f32 / counted as f32).clamp(1.0 / WIDEST, WIDEST), LOOKED_BACK);
    }

    /// The endpoint's tokens for `counted` of ours, as far as is known.
    pub fn apply(&self, counted: u32) -> u32 {
        (f64::from(counted) * f64::from(self.ratio())).round() as u32
    }

    /// The middle one of the last ratios: one odd report changes nothing.
    fn ratio(&self) -> f32 {
        let mut ratios = self.ratios.clone();
        ratios.sort_by(f32::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
    }

    /// Share of the context that is kept free for wrong counts: a tenth at first, later three hundredths.
    pub fn margin(&self) -> f32 {
        if self.ratios.len() < TRUSTED { 0.10 } else { 0.03 }
    }

    /// The mean error of the last predictions, as a share; `None` before the first report (S0.6).
    pub fn mean_error(&self) -> Option<f32> {
        (!self.errors.is_empty()).then(|| self.errors.iter().sum::<f32>() / self.errors.len() as f32)
    }
}

fn push(values: &mut Vec<f32>, value: f32, most: usize) {
    values.push(value);
    let old = values.len().saturating_sub(most);
    values.drain(..old);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Encoding;

    /// As the context engine estimates where it has no tokenizer: four narrow letters a token, or one wide one.
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

    /// Twenty turns of a growing chat, each of three sentences in a changing mix; returns the mean error of turns 21 to 40.
    fn error_after(counted: impl Fn(&str) -> u32, reported: impl Fn(&str) -> u32) -> f32 {
        let (mut calibration, mut prompt, mut errors) = (Calibration::default(), String::new(), Vec::new());
        for turn in 0..40 {
            (0..3).for_each(|part| prompt.push_str(SENTENCES[(turn * 7 + part * turn) % SENTENCES.len()]));
            let (counted, reported) = (counted(&prompt), reported(&prompt));
            if turn >= 20 {
                errors.push((calibration.apply(counted) as f32 - reported as f32).abs() / reported as f32);
            }
            calibration.observe(counted, reported);
        }
        assert!(calibration.mean_error().unwrap() <= 0.05, "{calibration:?}");
        errors.iter().sum::<f32>() / errors.len() as f32
    }

    #[test]
    fn after_twenty_turns_the_mean_error_is_within_five_percent() {
        let wrapped = |encoding: Encoding| move |text: &str| encoding.count(text) + 4 * (text.len() as u32 / 300) + 12;
        for (name, error) in [
            ("estimate, in truth cl100k", error_after(estimate, wrapped(Encoding::Cl100k))),
            ("estimate, in truth o200k", error_after(estimate, wrapped(Encoding::O200k))),
            ("o200k, in truth cl100k", error_after(|text| Encoding::O200k.count(text), wrapped(Encoding::Cl100k))),
            ("estimate, in truth bytes", error_after(estimate, |text| text.len() as u32)),
        ] {
            assert!(error <= 0.05, "{name}: {error}");
        }
    }

    #[test]
    fn one_odd_report_changes_nothing() {
        let mut calibration = Calibration::default();
        assert_eq!((calibration.apply(1_000), calibration.margin(), calibration.mean_error()), (1_000, 0.10, None));
        (0..4).for_each(|_| calibration.observe(1_000, 1_300));
        calibration.observe(1_000, 90_000);
        calibration.observe(1_000, 0);
        calibration.observe(3, 400);
        assert_eq!((calibration.apply(1_000), calibration.margin()), (1_300, 0.03));
    }

    #[test]
    fn another_model_behind_the_same_name_is_followed() {
        let mut calibration = Calibration::default();
        (0..30).for_each(|_| calibration.observe(1_000, 1_300));
        (0..3).for_each(|_| calibration.observe(1_000, 900));
        assert_eq!(calibration.apply(1_000), 900);
        (0..20).for_each(|_| calibration.observe(1_000, 900));
        assert_eq!(calibration.mean_error(), Some(0.0));
    }
}
