//! Normalizes the statement of a memory for the comparison with another one. No model is involved,
//! so both must have almost the same words; in doubt they are different.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use domain::memory::{Memory, MemoryOrigin};

use crate::tokens::{says_nothing, words};

/// Replaces the user's name and pronouns, so that statements with either compare equal.
pub const USER: &str = "@user";
/// First-person pronouns, which mean the user in the user's own words.
const FIRST: [&str; 5] = ["i", "me", "my", "mine", "myself"];
const MINE: [&str; 2] = ["my", "mine"];
const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// A continuation that begins with one of these words adds to a statement and does not change its
/// meaning.
const GOES_ON: [&str; 16] = [
    "and", "with", "in", "at", "on", "from", "for", "since", "because", "that", "which", "who",
    "called", "named", "near", "by",
];
/// Words that negate or qualify the rest of the sentence.
const TAKES_BACK: [&str; 26] = [
    "no", "not", "never", "t", "if", "unless", "but", "until", "till", "anymore", "longer", "once",
    "formerly", "would", "maybe", "perhaps", "almost", "nearly", "without", "except", "only",
    "though", "instead", "nicht", "kein", "nie",
];
/// Marks between sentences and clauses.
const STOPS: [char; 14] = [
    '.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '\u{2014}', '\u{2013}', '\u{2019}',
    '\u{2026}',
];
/// Adverbs that may come between a subject and its verb.
pub const ADVERBS: [&str; 8] = [
    "also",
    "always",
    "currently",
    "just",
    "now",
    "nowadays",
    "really",
    "still",
];
/// Minimum share of each statement's words that the other must have, before their embeddings are
/// compared.
const SHARED: f32 = 0.5;
/// Minimum number of words of a statement, not counting the user.
const TELLING: usize = 2;

/// The normalized words of a memory: in lower case, without articles and without "Tom said", with
/// one word for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub words: Vec<String>,
    /// Numbers of words after which there is a mark.
    stops: BTreeSet<usize>,
    names: BTreeSet<String>,
    numbers: BTreeSet<String>,
    /// Symbols other than words and marks: "C++" is not "C#".
    signs: String,
}

impl Statement {
    /// `user` are the words of the user's name.
    pub fn of(memory: &Memory, user: &[String]) -> Self {
        let (own, text) = spoken(memory);
        Self::written(text, own, user)
    }

    /// A statement in the speaker's own words, with the speaker in the place of the user.
    pub fn own(text: &str) -> Self {
        Self::written(text, true, &[])
    }

    fn written(text: &str, own: bool, user: &[String]) -> Self {
        let signs = text.chars().filter(|sign| {
            !sign.is_alphanumeric() && !sign.is_whitespace() && !STOPS.contains(sign)
        });
        let mut saying = Self {
            words: Vec::new(),
            stops: BTreeSet::new(),
            names: BTreeSet::new(),
            numbers: BTreeSet::new(),
            signs: signs.collect(),
        };
        for piece in text.split_whitespace() {
            let capital = piece
                .chars()
                .find(|letter| letter.is_alphanumeric())
                .is_some_and(char::is_uppercase);
            for word in words(piece) {
                saying.take(word, capital, own, user);
            }
            if piece.ends_with([',', ';', ':', '.', '!', '?', '\u{2014}', '\u{2013}']) {
                saying.stops.insert(saying.words.len());
            }
        }
        saying
    }

    fn take(&mut self, word: String, capital: bool, own: bool, user: &[String]) {
        if ARTICLES.contains(&&*word) {
            return;
        }
        let is_mine = own && MINE.contains(&&*word);
        let of_user = user.contains(&word) || word == "user" || own && FIRST.contains(&&*word);
        if of_user {
            // A name of two words is one user.
            if self.words.last().is_none_or(|last| last != USER) {
                self.words.push(USER.to_owned());
            }
        } else {
            self.take_other(word, capital, own);
        }
        if is_mine {
            self.words.push("s".to_owned());
        }
    }

    /// Adds a word that does not stand for the user.
    fn take_other(&mut self, word: String, capital: bool, own: bool) {
        if is_number(&word) {
            self.numbers.insert(word.clone());
        } else if capital && word.chars().count() > 1 && !says_nothing(&word) {
            self.names.insert(word.clone());
        }
        let is_verb = own && self.follows_user() && !ADVERBS.contains(&word.as_str());
        self.words
            .push(if is_verb { third_person(&word) } else { word });
    }

    /// Whether the last word other than an adverb stands for the user.
    fn follows_user(&self) -> bool {
        let subject = self
            .words
            .iter()
            .rev()
            .find(|before| !ADVERBS.contains(&before.as_str()));
        subject.is_some_and(|subject| subject == USER)
    }

    /// Whether it has enough words to say something.
    pub fn is_informative(&self) -> bool {
        self.words.iter().filter(|word| *word != USER).count() >= TELLING
    }

    /// Whether it says the same as `other`, word for word.
    pub fn is(&self, other: &Self) -> bool {
        self.words == other.words && self.signs == other.signs
    }

    /// Whether it begins with all words of `other` and negates or qualifies none of them.
    pub fn has(&self, other: &Self) -> bool {
        if self.signs != other.signs {
            return false;
        }
        let Some(rest) = self
            .words
            .strip_prefix(other.words.as_slice())
            .filter(|rest| !rest.is_empty())
        else {
            return false;
        };
        let goes_on =
            self.stops.contains(&other.words.len()) || GOES_ON.contains(&rest[0].as_str());
        goes_on && !rest.iter().any(|word| TAKES_BACK.contains(&word.as_str()))
    }

    /// Whether the embeddings of both may be compared. Both must have the same names, numbers and
    /// symbols, the same number of negations, and half of their words in common.
    pub fn may_mean(&self, other: &Self) -> bool {
        let denied = |saying: &Self| {
            saying
                .words
                .iter()
                .filter(|word| TAKES_BACK.contains(&word.as_str()))
                .count()
        };
        self.names == other.names
            && self.numbers == other.numbers
            && self.signs == other.signs
            && denied(self) == denied(other)
            && self.shares(other) >= SHARED
            && other.shares(self) >= SHARED
    }

    fn shares(&self, other: &Self) -> f32 {
        let found = self
            .words
            .iter()
            .filter(|word| other.words.contains(word))
            .count();
        found as f32 / self.words.len().max(1) as f32
    }

    /// Its content words, without the user.
    pub fn content(&self) -> BTreeSet<String> {
        self.words
            .iter()
            .filter(|word| *word != USER && !says_nothing(word))
            .cloned()
            .collect()
    }

    /// Whether a word is a name or a number.
    pub fn is_definite(&self, word: &str) -> bool {
        self.names.contains(word) || self.numbers.contains(word)
    }
}

/// The statement, and whether it is in the user's own words. That is so if the user asked to
/// remember it.
fn spoken(memory: &Memory) -> (bool, &str) {
    let quoted = memory
        .text
        .split_once(" said: \"")
        .and_then(|(_, said)| said.strip_suffix('"'));
    match quoted.filter(|_| memory.origin == MemoryOrigin::Command) {
        Some(said) => (true, said),
        None => (false, &memory.text),
    }
}

/// Makes "I own" and "Tom owns" the same.
fn third_person(verb: &str) -> String {
    match verb {
        "am" | "m" | "is" | "are" => "is".to_owned(),
        "have" | "ve" => "has".to_owned(),
        "do" => "does".to_owned(),
        "go" => "goes".to_owned(),
        verb if verb.len() > 2
            && verb.is_ascii()
            && !verb.ends_with('s')
            && !verb.ends_with("ed") =>
        {
            format!("{verb}s")
        }
        verb => verb.to_owned(),
    }
}

/// Numerals of English and German.
const NUMBERS: &str = "\
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen \
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen zwei drei vier fünf \
    sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig \
    vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend dutzend";

/// Whether a word is a number, in digits or as an English or German numeral.
pub fn is_number(word: &str) -> bool {
    static NUMBERS_IN_WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| NUMBERS.split(' ').collect());
    word.contains(|letter: char| letter.is_numeric()) || NUMBERS_IN_WORDS.contains(word)
}

#[cfg(test)]
pub(crate) mod tests {
    use domain::memory::{MAX_CONFIDENCE, MemoryScope, MemoryType};
    use domain::{MemoryId, Timestamp};
    use uuid::Uuid;

    use super::*;

    /// A memory that a model found, or, if it is a quotation, one that the user asked for.
    pub(crate) fn memory(number: u128, text: &str) -> Memory {
        let asked = text.contains(" said: \"");
        Memory {
            id: MemoryId(Uuid::from_u128(number)),
            kind: MemoryType::Fact,
            scope: MemoryScope::Profile,
            text: text.to_owned(),
            importance: 5,
            origin: if asked {
                MemoryOrigin::Command
            } else {
                MemoryOrigin::Model
            },
            confidence: if asked { MAX_CONFIDENCE } else { 7 },
            pinned: false,
            sources: Vec::new(),
            merged_sources: Vec::new(),
            archived: None,
            created: Timestamp(number as i64),
            updated: Timestamp(number as i64),
        }
    }

    pub(crate) fn saying(text: &str) -> Statement {
        Statement::of(&memory(1, text), &["tom".to_owned()])
    }

    #[test]
    fn same_statement_in_first_and_third_person() {
        for (one, other) in [
            ("Tom owns a boat.", "Tom said: \"I own a boat\""),
            (
                "The user is allergic to nuts.",
                "Tom said: \"I am allergic to nuts\"",
            ),
            ("Tom's sister is Ida.", "Tom said: \"my sister is Ida!\""),
            ("TOM owns the boat", "Tom owns a boat."),
        ] {
            assert_eq!(saying(one).words, saying(other).words, "{one} / {other}");
        }
        assert_ne!(
            saying("Tom owns a boat.").words,
            saying("Ida owns a boat.").words
        );
        assert_ne!(
            saying("Tom likes tea.").words,
            saying("Tom likes no tea.").words
        );
    }

    #[test]
    fn longer_statement_contains_unless_it_negates() {
        let boat = saying("Tom owns a boat.");
        assert!(
            saying("Tom owns a boat called Zebulon.").has(&boat)
                && saying("Tom owns a boat, a blue one.").has(&boat)
        );
        for other in [
            "Tom owns a boat house.",
            "Tom owns a boat, but not for long.",
            "Ida says Tom owns a boat.",
            "Tom owns a boat.",
            "Tom owns a boat no longer.",
        ] {
            assert!(!saying(other).has(&boat), "{other}");
        }
    }

    #[test]
    fn compares_only_with_same_names_and_numbers() {
        let cats = saying("Tom has two cats at home.");
        assert!(saying("At home Tom has two cats.").may_mean(&cats));
        for other in [
            "Tom has three cats at home.",
            "Ida has two cats at home.",
            "Tom has not two cats at home.",
        ] {
            assert!(!saying(other).may_mean(&cats), "{other}");
        }
    }
}
