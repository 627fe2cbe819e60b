//! Scores the importance of a message by rules, in English and German. Every point of the score has
//! a reason that can be shown.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::reason::BlockReason;

/// Messages of at least this importance stay verbatim when they leave the window.
pub const IMPORTANT: u8 = 8;

/// Number of words that are scored. Longer texts are covered by their summary.
const MOST_WORDS: usize = 400;

/// Lower-case stems of words for promises, secrets and decisions.
const BINDING: [&str; 31] = [
    "abgemacht",
    "agreed",
    "agreement",
    "allerg",
    "confess",
    "decided",
    "decision",
    "entschied",
    "geheim",
    "geschworen",
    "gesteh",
    "geständ",
    "heirat",
    "married",
    "marry",
    "oath",
    "passwor",
    "pledge",
    "promis",
    "secret",
    "schwör",
    "schwur",
    "swear",
    "swore",
    "vereinbar",
    "versprach",
    "versprech",
    "versproch",
    "vow",
    "wedding",
    "wette",
];

/// Phrases with the same meaning as [`BINDING`].
const BINDING_PHRASES: [&str; 8] = [
    "my name is",
    "never forget",
    "remember that",
    "remember this",
    "ich heiße",
    "mein name ist",
    "merk dir",
    "vergiss nie",
];

/// The score of a message and its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Importance {
    /// 1 to 9; 10 is reserved for pinned messages.
    pub value: u8,
    pub features: Vec<Feature>,
}

impl Importance {
    pub fn reason(self) -> BlockReason {
        BlockReason::ImportantFor {
            features: self.features,
        }
    }
}

/// A feature of a text that adds to its importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Feature {
    /// A promise, decision or secret.
    Commitment,
    Numbers,
    Names,
    Concise,
}

impl Feature {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Commitment => "a promise, decision or secret",
            Self::Numbers => "numbers",
            Self::Names => "names",
            Self::Concise => "concise",
        }
    }
}

/// Scores `text`. The names of the `speakers` add nothing, because they appear everywhere.
pub fn judge<'s>(text: &str, speakers: impl IntoIterator<Item = &'s str>) -> Importance {
    let found = Findings::of(text, speakers);
    let mut judged = Importance {
        value: 3,
        features: Vec::new(),
    };
    let mut add = |points: u8, feature| {
        if points > 0 {
            judged.value += points;
            judged.features.push(feature);
        }
    };
    add(if found.binding { 3 } else { 0 }, Feature::Commitment);
    add(found.numbers.min(2) as u8, Feature::Numbers);
    add(found.names.len().min(2) as u8, Feature::Names);
    add(
        u8::from((6..=80).contains(&found.word_count)),
        Feature::Concise,
    );
    // Very short texts say little by themselves, and long ones do not fit among excerpts.
    let less = match found.word_count {
        0..4 => 2,
        151.. => 3,
        _ => 0,
    };
    judged.value = judged.value.saturating_sub(less).clamp(1, 9);
    judged
}

/// The features of a text that affect the score.
#[derive(Default)]
struct Findings {
    word_count: usize,
    numbers: usize,
    names: HashSet<String>,
    binding: bool,
}

impl Findings {
    fn of<'s>(text: &str, speakers: impl IntoIterator<Item = &'s str>) -> Self {
        let known: HashSet<String> = speakers
            .into_iter()
            .flat_map(str::split_whitespace)
            .map(|name| bare(name).to_lowercase())
            .collect();
        let mut found = Self::default();
        let mut said = String::new();
        let mut begins = true;
        for token in text.split_whitespace().take(MOST_WORDS) {
            let word = bare(token);
            begins |= !token.starts_with(char::is_alphanumeric);
            if !word.is_empty() {
                let small = word.to_lowercase();
                found.word_count += 1;
                found.numbers +=
                    usize::from(word.starts_with(|letter: char| letter.is_ascii_digit()));
                found.binding |= BINDING.iter().any(|stem| small.starts_with(stem));
                if !begins && is_name(word) && !known.contains(&small) {
                    found.names.insert(small.clone());
                }
                said.push_str(&small);
                said.push(' ');
            }
            begins = token.ends_with(['.', '!', '?', ':', '…', '"', '”', '*']);
        }
        found.binding |= BINDING_PHRASES.iter().any(|phrase| said.contains(phrase));
        found
    }
}

/// A word without surrounding punctuation and without a possessive `'s`.
fn bare(token: &str) -> &str {
    let word = token.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.strip_suffix("'s")
        .or_else(|| word.strip_suffix("’s"))
        .unwrap_or(word)
}

fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let judged = judge(text, ["Sam", "Mira Quay"]);
        let features: Vec<&str> = judged
            .features
            .iter()
            .map(|feature| feature.describe())
            .collect();
        format!("{} {}", judged.value, features.join(", "))
    }

    #[test]
    fn rates_promises_and_facts_as_important() {
        assert_eq!(
            check("I promise: I will wait at the mill of Harrow on the 3rd of May."),
            "9 a promise, decision or secret, numbers, names, concise"
        );
        assert_eq!(
            check("Meet Anna at 7 in front of the bakery in Lisbon, on the 4th."),
            "8 numbers, names, concise"
        );
        assert_eq!(
            check("My name is Odile, by the way, from Brest."),
            "9 a promise, decision or secret, names, concise"
        );
        assert_eq!(
            check("Ich verspreche dir, um 7 Uhr am Bahnhof zu sein."),
            "9 a promise, decision or secret, numbers, names, concise"
        );
    }

    #[test]
    fn rates_small_talk_as_unimportant() {
        for text in [
            "",
            "Yes.",
            "Nice weather, is it not, Mira?",
            "*She smiles at Sam.* What a day that was!",
            "I will go now.",
        ] {
            assert!(
                judge(text, ["Sam", "Mira Quay"]).value < IMPORTANT,
                "{text}"
            );
        }
        let story =
            "I promised Anna 3 ships and 4 sails in Lisbon, and then the wind came up again. "
                .repeat(20);
        assert!(
            judge(&story, []).value < IMPORTANT,
            "a long story must be left to its summary"
        );
    }

    #[test]
    fn rates_any_text_between_1_and_9() {
        for text in [
            "9 ".repeat(1 << 20),
            "Ä".repeat(1 << 20),
            "你好世界".repeat(999),
            "\u{0}'s 's’s".into(),
        ] {
            assert!((1..=9).contains(&judge(&text, ["'s", ""]).value));
        }
    }
}
