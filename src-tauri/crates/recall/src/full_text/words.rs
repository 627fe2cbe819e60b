//! Splits texts into words, and words into search terms.

use domain::script::has_unspaced_script;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;

/// Maximum length of a stemmed word in bytes. Longer strings are not words and may have megabytes.
const LONGEST: usize = 64;
/// Length of the character n-grams for scripts without spaces.
const RUN: usize = 2;

/// The words of a text in lower case.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric() && !joins(letter));
    parts
        .map(|word| {
            word.trim_matches(|letter: char| !letter.is_alphanumeric())
                .to_lowercase()
        })
        .filter(|word| !word.is_empty())
}

/// Combining marks, such as Thai vowels and tones, belong to the word.
fn joins(letter: char) -> bool {
    matches!(letter, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{300}'..='\u{36f}')
}

/// The word itself, or its character n-grams in scripts without spaces.
pub fn parts(word: &str) -> Vec<String> {
    if !has_unspaced_script(word) {
        return vec![word.to_owned()];
    }
    let letters: Vec<char> = word.chars().collect();
    letters
        .windows(RUN.min(letters.len()))
        .map(|run| run.iter().collect())
        .collect()
}

/// Maps a lower-case word to search terms: its English stem without accents, which leaves most
/// words of other languages unchanged, or its [`parts`] in scripts without spaces.
pub struct Terms {
    stemmer: Stemmer,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
        }
    }
}

impl Terms {
    pub fn of(&self, word: &str) -> Vec<String> {
        if has_unspaced_script(word) || word.len() > LONGEST {
            parts(word)
        } else if word.is_ascii() {
            vec![self.stemmer.stem(word).into_owned()]
        } else {
            vec![self.stemmer.stem(&without_accents(word)).into_owned()]
        }
    }
}

fn without_accents(word: &str) -> String {
    word.nfd()
        .filter(|letter| !matches!(letter, '\u{300}'..='\u{36f}'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_words_and_splits_spaceless_scripts() {
        let terms = |word: &str| Terms::default().of(word).join(" ");
        for (one, other) in [
            ("parrots", "parrot"),
            ("burning", "burns"),
            ("café", "cafes"),
            ("naïve", "naive"),
        ] {
            assert_eq!(terms(one), terms(other), "{one}, {other}");
        }
        assert_eq!(terms("花生过敏"), "花生 生过 过敏");
        assert_eq!(terms("猫"), "猫");
        assert_ne!(terms("kater"), terms("katze"));
        assert_eq!(terms(&"y".repeat(100_000)).len(), 100_000);
    }

    #[test]
    fn words_end_at_non_letters_but_keep_marks() {
        let all = |text: &str| words(text).collect::<Vec<_>>().join(" ");
        assert_eq!(
            all("My sister's *old* boat, 2nd-hand!"),
            "my sister s old boat 2nd hand"
        );
        assert_eq!(all("ฉันแพ้ถั่วลิสง"), "ฉันแพ้ถั่วลิสง");
        assert_eq!(all("… !"), "");
    }
}
