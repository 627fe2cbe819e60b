//! Checks whether a model's statement is grounded in the messages. A tiny model invents things, so
//! the words are compared, and a doubtful statement is dropped.

use std::collections::HashSet;

use recall::statement::is_number;
use recall::tokens::{self, alike, same_stem, words};

/// Numerals of Chinese and Japanese, except the one for 1, which is part of many other words.
const FIGURES: &str = "二三四五六七八九十百千万萬億亿兩两";
/// Minimum share of a memory's terms in a text that says the same.
const MOST: f32 = 0.7;
/// Minimum share of a memory's terms in a text that it can be made from.
const HALF: f32 = 0.5;

/// The words of some messages.
pub(crate) struct SpokenWords {
    words: HashSet<String>,
    text: String,
}

impl SpokenWords {
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let text = texts
            .into_iter()
            .collect::<Vec<_>>()
            .join("\n")
            .to_lowercase();
        Self {
            words: words(&text).collect(),
            text,
        }
    }

    /// Whether every name and number of `text` occurs. In scripts without capitals, names are not
    /// recognized.
    pub(crate) fn has_names(&self, text: &str) -> bool {
        if text
            .chars()
            .any(|letter| FIGURES.contains(letter) && !self.text.contains(letter))
        {
            return false;
        }
        let mut starts = true;
        text.split_whitespace().all(|piece| {
            let begins = std::mem::replace(&mut starts, piece.ends_with(['.', '!', '?', ':', '"']));
            let capital = piece
                .chars()
                .find(|letter| letter.is_alphanumeric())
                .is_some_and(char::is_uppercase);
            words(piece).all(|word| {
                let number = is_number(&word);
                match (capital, begins) {
                    _ if number => self.words.contains(&word),
                    _ if word.chars().count() == 1 => true,
                    (true, false) => self.words.contains(&word),
                    // At the beginning of a sentence an ordinary word has a capital too.
                    (true, true) => {
                        tokens::says_nothing(&word)
                            || self.words.iter().any(|said| same_stem(said, &word))
                    }
                    (false, _) => true,
                }
            })
        })
    }

    /// Share of `terms` that occur, 0 to 1.
    fn part(&self, terms: &[String]) -> f32 {
        let found = terms.iter().filter(|term| self.has(term)).count();
        if terms.is_empty() {
            0.0
        } else {
            found as f32 / terms.len() as f32
        }
    }

    /// Whether a statement with these terms can be made from the messages.
    pub(crate) fn supports(&self, terms: &[String]) -> bool {
        self.part(terms) >= HALF
    }

    /// Whether the messages say the same, or more.
    pub(crate) fn repeats(&self, terms: &[String]) -> bool {
        self.part(terms) >= MOST
    }

    /// Number of `terms` that occur.
    pub(crate) fn count(&self, terms: &[String]) -> usize {
        terms.iter().filter(|term| self.has(term)).count()
    }

    fn has(&self, word: &str) -> bool {
        if self.words.contains(word) || self.words.iter().any(|said| alike(said, word)) {
            return true;
        }
        // In scripts without spaces, half of the pairs of characters must occur.
        let letters: Vec<char> = word.chars().collect();
        let spaceless = letters
            .iter()
            .all(|letter| !letter.is_lowercase() && !letter.is_uppercase());
        let pairs: Vec<String> = letters
            .windows(2)
            .map(|pair| pair.iter().collect())
            .collect();
        let met = pairs
            .iter()
            .filter(|pair| self.text.contains(pair.as_str()))
            .count();
        spaceless && !pairs.is_empty() && met * 2 >= pairs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_must_have_been_said() {
        let said = SpokenWords::new([
            "My sister Ida lives in Lisbon with two cats.",
            "Since 2019, I think.",
            "Tom",
            "Mira",
        ]);
        for true_to_it in [
            "Tom's sister Ida lives in Lisbon.",
            "Ida has lived in Lisbon since 2019.",
            "She has two cats.",
            "Sisters of Tom live in Lisbon.",
            "Tom: I have a sister",
        ] {
            assert!(said.has_names(true_to_it), "{true_to_it}");
        }
        for invented in [
            "Tom's sister Anna lives in Lisbon.",
            "Ida lives in Porto.",
            "Ida has three cats.",
            "Ida moved in 2020.",
            "Porto is where Ida lives.",
            "Idaho is where Ida lives.",
            "Ida has thirteen cats.",
            "Ida has sixty-two cats.",
        ] {
            assert!(!said.has_names(invented), "{invented}");
        }
    }

    #[test]
    fn numerals_without_capitals_must_have_been_said() {
        let said = SpokenWords::new(["我有三只猫"]);
        assert!(said.has_names("他有三只猫") && !said.has_names("他有五只猫"));
    }

    #[test]
    fn grounded_statement_shares_words() {
        let said = SpokenWords::new(["I am allergic to nuts, so no cake for me.", "我对花生过敏"]);
        let of = |text: &str| tokens::terms(text, &["Tom"]);
        assert!(said.supports(&of("Tom is allergic to nuts.")));
        assert!(said.supports(&of("我对花生过敏。")));
        assert!(!said.supports(&of("Tom enjoys long walks on the beach.")));
        assert!(!said.supports(&of("他喜欢长途旅行")));
        assert!(!said.supports(&[]), "no terms, no support");
        assert!(
            said.repeats(&of("Allergic to nuts."))
                && !said.repeats(&of("Allergic to nuts, wheat and cats."))
        );
    }
}
