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

/// Words that models write instead of the nouns of the default set.
const SYNONYMS: &[(&str, &str)] = &[
    ("happy", "joy"),
    ("happiness", "joy"),
    ("joyful", "joy"),
    ("sad", "sadness"),
    ("angry", "anger"),
    ("afraid", "fear"),
    ("scared", "fear"),
    ("fearful", "fear"),
    ("disgusted", "disgust"),
    ("surprised", "surprise"),
];

/// Reads labels that are separated by commas, semicolons or line breaks. They become lower case; repetitions and labels
/// that are too long are left out.
pub fn labels(text: &str) -> Vec<String> {
    let mut labels = vec![NEUTRAL.to_owned()];
    for label in text.split([',', ';', '\n']).map(|label| label.trim().to_lowercase()) {
        let fits = (1..=MAX_LABEL).contains(&label.chars().count()) && labels.len() < MAX_LABELS;
        if fits && !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// The emotion that a reply's tag names. A word that is no label becomes neutral and is kept for diagnosis.
pub fn of_tag(tag: &str, labels: &[String]) -> Emotion {
    let word = tag.trim().to_lowercase();
    let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == word).map(|(_, label)| *label);
    let known =
        [Some(word.as_str()), synonym].into_iter().flatten().find(|word| labels.iter().any(|label| label == word));
    match known {
        Some(label) => Emotion { label: label.to_owned(), unknown_tag: None },
        None => Emotion { label: NEUTRAL.to_owned(), unknown_tag: Some(tag.trim().to_owned()) },
    }
}

/// The emotion that a picture's file name stands for: `joy`, `Joy-2`, `joy_03` and `joy (2)` are all `joy`.
pub fn of_file(stem: &str) -> String {
    let stem = stem.trim().to_lowercase();
    let bare = stem.trim_end_matches(')').trim_end_matches(|letter: char| letter.is_ascii_digit());
    let bare = bare.trim_end_matches(['-', '_', '.', ' ', '(']);
    if bare.is_empty() { stem } else { bare.to_owned() }
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
        assert_eq!((emotion.label.as_str(), emotion.unknown_tag.as_deref()), (NEUTRAL, Some("Elated")));
        assert_eq!(of_tag("JOY", &labels).label, "joy");
        assert_eq!(of_tag("happy", &labels).label, "joy");
        assert_eq!(of_tag("happy", &super::labels("happy")).label, "happy");
    }

    #[test]
    fn numbered_files_belong_to_one_emotion() {
        for stem in ["joy", "Joy-2", "joy_03", "joy (2)", "joy.1"] {
            assert_eq!(of_file(stem), "joy", "{stem}");
        }
        assert_eq!((of_file("42"), of_file("")), ("42".to_owned(), String::new()));
    }
}
