//! The emotions that replies can show: a set of labels that the user can edit.

use crate::chat::Emotion;

/// The default labels: Ekman's six basic emotions, and neutral.
pub const DEFAULT_LABELS: &str = "neutral, joy, sadness, anger, fear, disgust, surprise";
/// The label of a reply without an emotion. It is always in the set.
pub const NEUTRAL: &str = "neutral";
/// Maximum number of labels.
pub const MAX_LABELS: usize = 60;
/// Maximum number of characters of a label.
const MAX_LABEL: usize = 40;

/// Words that models and picture files use, each with its label in the default set. The words of
/// SillyTavern's 28 expressions are among them.
const SYNONYMS: &[(&str, &str)] = &[
    ("default", "neutral"),
    ("normal", "neutral"),
    ("calm", "neutral"),
    ("idle", "neutral"),
    ("base", "neutral"),
    ("happy", "joy"),
    ("happiness", "joy"),
    ("joyful", "joy"),
    ("smile", "joy"),
    ("smiling", "joy"),
    ("laugh", "joy"),
    ("laughing", "joy"),
    ("cheerful", "joy"),
    ("amusement", "joy"),
    ("excitement", "joy"),
    ("excited", "joy"),
    ("sad", "sadness"),
    ("crying", "sadness"),
    ("cry", "sadness"),
    ("unhappy", "sadness"),
    ("grief", "sadness"),
    ("sorrow", "sadness"),
    ("disappointment", "sadness"),
    ("angry", "anger"),
    ("mad", "anger"),
    ("furious", "anger"),
    ("rage", "anger"),
    ("annoyed", "anger"),
    ("annoyance", "anger"),
    ("afraid", "fear"),
    ("scared", "fear"),
    ("fearful", "fear"),
    ("nervous", "fear"),
    ("nervousness", "fear"),
    ("disgusted", "disgust"),
    ("disapproval", "disgust"),
    ("surprised", "surprise"),
    ("shocked", "surprise"),
    ("shock", "surprise"),
    ("amazed", "surprise"),
];

/// Labels to show instead of one without a picture, nearest first.
const NEIGHBOURS: &[(&str, &[&str])] = &[
    (
        "joy",
        &[
            "love",
            "admiration",
            "amusement",
            "approval",
            "caring",
            "optimism",
            "pride",
            "relief",
            "gratitude",
            "desire",
        ],
    ),
    ("sadness", &["remorse", "fear"]),
    ("anger", &["disgust"]),
    (
        "fear",
        &["surprise", "sadness", "confusion", "embarrassment"],
    ),
    ("disgust", &["anger"]),
    (
        "surprise",
        &["realization", "confusion", "curiosity", "joy"],
    ),
    ("love", &["joy"]),
    ("admiration", &["joy"]),
    ("approval", &["joy"]),
    ("caring", &["joy"]),
    ("desire", &["joy"]),
    ("gratitude", &["joy"]),
    ("optimism", &["joy"]),
    ("pride", &["joy"]),
    ("relief", &["joy"]),
    ("remorse", &["sadness"]),
    ("confusion", &["surprise", "fear"]),
    ("curiosity", &["surprise"]),
    ("realization", &["surprise"]),
    ("embarrassment", &["fear", "surprise"]),
];

/// The label of a word in the default set; the word itself if it has none.
fn base(word: &str) -> &str {
    SYNONYMS
        .iter()
        .find(|(synonym, _)| *synonym == word)
        .map_or(word, |(_, label)| label)
}

/// The emotions whose pictures can replace that of `wanted`, best first: itself, words of the same
/// meaning, similar emotions and neutral.
pub fn stand_ins(wanted: &str) -> Vec<String> {
    let word = wanted.trim().to_lowercase();
    let near = NEIGHBOURS
        .iter()
        .find(|(label, _)| *label == base(&word))
        .map_or(&[][..], |(_, near)| near);
    let mut order = vec![word.clone()];
    for label in std::iter::once(base(&word))
        .chain(near.iter().copied())
        .chain([NEUTRAL])
    {
        let same = SYNONYMS
            .iter()
            .filter(|(_, of)| *of == label)
            .map(|(synonym, _)| *synonym);
        for one in std::iter::once(label).chain(same) {
            if !order.iter().any(|known| known == one) {
                order.push(one.to_owned());
            }
        }
    }
    order
}

/// Reads labels that are separated by commas, semicolons or line breaks. They become lower case;
/// repetitions and labels that are too long are left out.
pub fn labels(text: &str) -> Vec<String> {
    let mut labels = vec![NEUTRAL.to_owned()];
    for label in text
        .split([',', ';', '\n'])
        .map(|label| label.trim().to_lowercase())
    {
        let fits = (1..=MAX_LABEL).contains(&label.chars().count()) && labels.len() < MAX_LABELS;
        if fits && !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// The emotion that a reply's tag names. A word that is no label becomes neutral and is kept for
/// diagnosis.
pub fn of_tag(tag: &str, labels: &[String]) -> Emotion {
    let word = tag.trim().to_lowercase();
    let known = [word.as_str(), base(&word)]
        .into_iter()
        .find(|word| labels.iter().any(|label| label == word));
    match known {
        Some(label) => Emotion {
            label: label.to_owned(),
            unknown_tag: None,
        },
        None => Emotion {
            label: NEUTRAL.to_owned(),
            unknown_tag: Some(tag.trim().to_owned()),
        },
    }
}

/// The emotion that a picture's file name stands for: `joy`, `Joy-2`, `joy_03` and `joy (2)` are
/// all `joy`.
pub fn of_file(stem: &str) -> String {
    let stem = stem.trim().to_lowercase();
    let bare = stem
        .trim_end_matches(')')
        .trim_end_matches(|letter: char| letter.is_ascii_digit());
    let bare = bare.trim_end_matches(['-', '_', '.', ' ', '(']);
    if bare.is_empty() {
        stem
    } else {
        bare.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_distinct_and_include_neutral() {
        assert_eq!(labels(" Joy, anger;\njoy,, "), ["neutral", "joy", "anger"]);
        assert_eq!(labels(&"é".repeat(41)), ["neutral"]);
        let many: String = (0..200).map(|number| format!("{number},")).collect();
        assert_eq!(labels(&many).len(), MAX_LABELS);
    }

    #[test]
    fn unknown_label_is_neutral_and_keeps_the_word() {
        let labels = labels(DEFAULT_LABELS);
        let emotion = of_tag("Elated ", &labels);
        assert_eq!(
            (emotion.label.as_str(), emotion.unknown_tag.as_deref()),
            (NEUTRAL, Some("Elated"))
        );
        assert_eq!(of_tag("JOY", &labels).label, "joy");
        assert_eq!(of_tag("happy", &labels).label, "joy");
        assert_eq!(of_tag("happy", &super::labels("happy")).label, "happy");
    }

    #[test]
    fn similar_words_stand_in() {
        let order = stand_ins("Joy");
        let place = |word: &str| order.iter().position(|one| one == word).unwrap();
        assert_eq!(order[0], "joy");
        assert!(
            place("happy") < place("love")
                && place("love") < place("neutral")
                && place("neutral") < place("default")
        );
        assert_eq!(stand_ins("happy")[..2], ["happy", "joy"]);
        assert!(stand_ins("grumpy").starts_with(&["grumpy".to_owned(), "neutral".to_owned()]));
        assert_eq!(of_tag("smile", &labels(DEFAULT_LABELS)).label, "joy");
    }

    #[test]
    fn numbered_files_belong_to_one_emotion() {
        for stem in ["joy", "Joy-2", "joy_03", "joy (2)", "joy.1"] {
            assert_eq!(of_file(stem), "joy", "{stem}");
        }
        assert_eq!(
            (of_file("42"), of_file("")),
            ("42".to_owned(), String::new())
        );
    }
}
