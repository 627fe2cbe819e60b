//! The guess of a reply's emotion, measured on 350 sentences of GoEmotions: 50 of each of Ekman's
//! six emotions and of neutral. The examples of the guess were written and chosen without them,
//! with sentences of the development set.

use std::collections::BTreeMap;

use engine::{Encoder, emotion};
use tests::headless::models_dir;

const SENTENCES: &str = include_str!("../../../fixtures/emotions.tsv");
/// Slightly below the measured value, because other processors round differently.
const FLOOR: f64 = 0.45;

/// Numbers of sentences by true label and guess.
type Confusion = BTreeMap<(&'static str, String), u32>;

#[tokio::test]
async fn emotion_guess_keeps_its_macro_f1() {
    let rows = SENTENCES.lines().filter(|line| !line.starts_with('#'));
    let (labels, texts): (Vec<&str>, Vec<&str>) =
        rows.filter_map(|line| line.split_once('\t')).unzip();
    assert_eq!(texts.len(), 350);
    let encoder = Encoder::find(&[models_dir()]).unwrap().expect("an encoder");
    let guesses = emotion::guess(&encoder, &texts).await.unwrap();
    let mut confusion = Confusion::new();
    for (label, guess) in labels.into_iter().zip(guesses) {
        *confusion.entry((label, guess)).or_default() += 1;
    }
    let score = macro_f1(&confusion);
    eprintln!("macro-F1 {score:.3}\n{}", table(&confusion));
    assert!(score >= FLOOR, "macro-F1 {score:.3}");
    encoder.shutdown().await;
}

fn classes(confusion: &Confusion) -> Vec<&'static str> {
    let mut classes: Vec<_> = confusion.keys().map(|(label, _)| *label).collect();
    classes.dedup();
    classes
}

/// The mean of the F1 scores of the classes.
fn macro_f1(confusion: &Confusion) -> f64 {
    let classes = classes(confusion);
    let sum = |of: &dyn Fn(&(&'static str, String)) -> bool| -> f64 {
        confusion
            .iter()
            .filter(|(pair, _)| of(pair))
            .map(|(_, count)| f64::from(*count))
            .sum()
    };
    let f1 = |class: &&str| {
        let right = sum(&|(label, guess)| label == class && guess == class);
        // Precision and recall have the same numerator, so F1 is its double over the sum of their
        // denominators.
        2.0 * right / (sum(&|(label, _)| label == class) + sum(&|(_, guess)| guess == class))
    };
    classes.iter().map(f1).sum::<f64>() / classes.len() as f64
}

/// One row per true label, one column per guess.
fn table(confusion: &Confusion) -> String {
    let classes = classes(confusion);
    let mut lines = vec![format!(
        "{:>9} {}",
        "",
        classes
            .iter()
            .map(|class| format!("{class:>9}"))
            .collect::<String>()
    )];
    for label in &classes {
        let count = |guess: &&str| {
            confusion
                .get(&(*label, (*guess).to_owned()))
                .copied()
                .unwrap_or_default()
        };
        let counts = classes.iter().map(|guess| format!("{:>9}", count(guess)));
        lines.push(format!("{label:>9} {}", counts.collect::<String>()));
    }
    lines.join("\n")
}
