//! Texts cut into words, and words into what they are looked for by.

use domain::script::is_spaceless;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization as _;

/// Bytes of the longest word that has a stem: no language makes longer ones, and what is no word may have megabytes.
const LONGEST: usize = 64;
/// Letters of a run, in scripts that put no spaces between words.
const RUN: usize = 2;

/// The words of a text, in small letters.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric() && !joins(letter));
    parts
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
}

/// Thai writes vowels and tones as marks, which are no letters of their own.
fn joins(letter: char) -> bool {
    matches!(letter, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{300}'..='\u{36f}')
}

/// A word; or, in scripts that put no spaces between words, the runs of letters that stand for the words in it.
pub fn parts(word: &str) -> Vec<String> {
    if !is_spaceless(word) {
        return vec![word.to_owned()];
    }
    let letters: Vec<char> = word.chars().collect();
    letters.windows(RUN.min(letters.len())).map(|run| run.iter().collect()).collect()
}

/// What a word in small letters is looked for by: its English stem without accents, which leaves most words of other languages as
/// they are; in scripts that put no spaces between words each of its [`parts`].
pub struct Terms {
    stemmer: Stemmer,
}

impl Default for Terms {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English) }
    }
}

impl Terms {
    pub fn of(&self, word: &str) -> Vec<String> {
        match word.is_ascii() {
            _ if is_spaceless(word) || word.len() > LONGEST => parts(word),
            true => vec![self.stemmer.stem(word).into_owned()],
            false => vec![self.stemmer.stem(&without_accents(word)).into_owned()],
        }
    }
}

fn without_accents(word: &str) -> String {
    word.nfd().filter(|letter| !matches!(letter, '\u{300}'..='\u{36f}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one_term_and_spaceless_scripts_are_cut_into_runs() {
        let terms = |word: &str| Terms::default().of(word).join(" ");
        for (one, other) in [("parrots", "parrot"), ("burning", "burns"), ("café", "cafes"), ("naïve", "naive")] {
            assert_eq!(terms(one), terms(other), "{one}, {other}");
        }
        assert_eq!(terms("花生过敏"), "花生 生过 过敏");
        assert_eq!(terms("猫"), "猫");
        assert_ne!(terms("kater"), terms("katze"));
        assert_eq!(terms(&"y".repeat(100_000)).len(), 100_000);
    }

    #[test]
    fn words_end_where_no_letter_is_and_keep_marks_that_belong_to_them() {
        let all = |text: &str| words(text).collect::<Vec<_>>().join(" ");
        assert_eq!(all("My sister's *old* boat, 2nd-hand!"), "my sister s old boat 2nd hand");
        assert_eq!(all("ฉันแพ้ถั่วลิสง"), "ฉันแพ้ถั่วลิสง");
        assert_eq!(all("… !"), "");
    }
}
