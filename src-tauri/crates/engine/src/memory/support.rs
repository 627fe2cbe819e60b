//! Whether what a model says of a talk stands in it. A tiny model invents, and a memory must not: strings decide, and what is
//! in doubt is left out.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::terms::{self, alike, same_stem, words};

/// Numbers in words, in English and German.
const NUMBERS: &str = "\
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen \
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen zwei drei vier fünf \
    sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig \
    vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend dutzend";
/// Those of Chinese and Japanese but for one, which is in many words that count nothing.
const FIGURES: &str = "二三四五六七八九十百千万萬億亿兩两";
/// Part of the words of a memory that must stand in a text for it to say the same.
const MOST: f32 = 0.7;
/// And for it to be made from the text at all.
const HALF: f32 = 0.5;

/// The words that somebody said.
pub(super) struct Said {
    words: HashSet<String>,
    text: String,
}

impl Said {
    pub(super) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let text = texts.into_iter().collect::<Vec<_>>().join("\n").to_lowercase();
        Self { words: words(&text).collect(), text }
    }

    /// Every name and number of `text` stands in it. Which words are names cannot be seen in scripts without capitals.
    pub(super) fn has_names(&self, text: &str) -> bool {
        if text.chars().any(|letter| FIGURES.contains(letter) && !self.text.contains(letter)) {
            return false;
        }
        let mut starts = true;
        text.split_whitespace().all(|piece| {
            let begins = std::mem::replace(&mut starts, piece.ends_with(['.', '!', '?', ':', '"']));
            let capital = piece.chars().find(|letter| letter.is_alphanumeric()).is_some_and(char::is_uppercase);
            words(piece).all(|word| {
                let number = is_number(&word);
                match (capital, begins) {
                    _ if number => self.words.contains(&word),
                    _ if word.chars().count() == 1 => true,
                    (true, false) => self.words.contains(&word),
                    // How a sentence begins is no name, where it is a word like others.
                    (true, true) => terms::says_nothing(&word) || self.words.iter().any(|said| same_stem(said, &word)),
                    (false, _) => true,
                }
            })
        })
    }

    /// As much of `terms` as stands in it, of 1.
    fn part(&self, terms: &[String]) -> f32 {
        let found = terms.iter().filter(|term| self.has(term)).count();
        if terms.is_empty() { 0.0 } else { found as f32 / terms.len() as f32 }
    }

    /// What says `terms` can have been made from it.
    pub(super) fn supports(&self, terms: &[String]) -> bool {
        self.part(terms) >= HALF
    }

    /// It says the same, or more.
    pub(super) fn repeats(&self, terms: &[String]) -> bool {
        self.part(terms) >= MOST
    }

    /// How many of `terms` stand in it.
    pub(super) fn count(&self, terms: &[String]) -> usize {
        terms.iter().filter(|term| self.has(term)).count()
    }

    fn has(&self, word: &str) -> bool {
        if self.words.contains(word) || self.words.iter().any(|said| alike(said, word)) {
            return true;
        }
        // Scripts that put no spaces between words: two letters are one.
        let letters: Vec<char> = word.chars().collect();
        let spaceless = letters.iter().all(|letter| !letter.is_lowercase() && !letter.is_uppercase());
        let pairs: Vec<String> = letters.windows(2).map(|pair| pair.iter().collect()).collect();
        let met = pairs.iter().filter(|pair| self.text.contains(pair.as_str())).count();
        spaceless && !pairs.is_empty() && met * 2 >= pairs.len()
    }
}

/// In figures, or in words of English or German.
pub(super) fn is_number(word: &str) -> bool {
    static NUMBERS_IN_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| NUMBERS.split(' ').collect());
    word.contains(|letter: char| letter.is_numeric()) || NUMBERS_IN_WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_must_have_been_said() {
        let said = Said::new(["My sister Ida lives in Lisbon with two cats.", "Since 2019, I think.", "Tom", "Mira"]);
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
    fn figures_of_scripts_without_capitals_must_have_been_said() {
        let said = Said::new(["我有三只猫"]);
        assert!(said.has_names("他有三只猫") && !said.has_names("他有五只猫"));
    }

    #[test]
    fn what_is_made_from_words_shares_them() {
        let said = Said::new(["I am allergic to nuts, so no cake for me.", "我对花生过敏"]);
        let of = |text: &str| terms::terms(text, &["Tom"]);
        assert!(said.supports(&of("Tom is allergic to nuts.")));
        assert!(said.supports(&of("我对花生过敏。")));
        assert!(!said.supports(&of("Tom enjoys long walks on the beach.")));
        assert!(!said.supports(&of("他喜欢长途旅行")));
        assert!(!said.supports(&[]), "what says nothing is made from nothing");
        assert!(said.repeats(&of("Allergic to nuts.")) && !said.repeats(&of("Allergic to nuts, wheat and cats.")));
    }
}
