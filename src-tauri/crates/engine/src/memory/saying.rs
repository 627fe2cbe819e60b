//! What a memory says, word by word, to be held against what another one says. No model is asked, so both must be put almost
//! alike: where it is in doubt, they say two things.

use std::collections::BTreeSet;

use domain::memory::{Memory, MemoryOrigin};

use super::support::is_number;
use super::terms::{says_nothing, words};

/// The user, whatever they are called.
pub(super) const USER: &str = "@user";
/// Words that stand for the user in their own words.
const FIRST: [&str; 5] = ["i", "me", "my", "mine", "myself"];
const MINE: [&str; 2] = ["my", "mine"];
const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// Behind one of these a sentence goes on without saying something else.
const GOES_ON: [&str; 16] = [
    "and", "with", "in", "at", "on", "from", "for", "since", "because", "that", "which", "who", "called", "named",
    "near", "by",
];
/// Words that take back, or leave open, what stands before them.
const TAKES_BACK: [&str; 26] = [
    "no", "not", "never", "t", "if", "unless", "but", "until", "till", "anymore", "longer", "once", "formerly",
    "would", "maybe", "perhaps", "almost", "nearly", "without", "except", "only", "though", "instead", "nicht", "kein",
    "nie",
];
/// What parts sentences, and their parts.
const STOPS: [char; 14] =
    ['.', ',', ';', ':', '!', '?', '"', '\'', '(', ')', '\u{2014}', '\u{2013}', '\u{2019}', '\u{2026}'];
/// What may stand between the user and what they do.
pub(super) const ADVERBS: [&str; 8] = ["also", "always", "currently", "just", "now", "nowadays", "really", "still"];
/// Of the words of each, the part that stands in the other too, where their meanings are near.
const SHARED: f32 = 0.5;
/// Words that a saying has at the least, besides the user.
const TELLING: usize = 2;

/// The words of a memory, put alike: in small letters, without articles and who said them, the user as one word.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Saying {
    pub(super) words: Vec<String>,
    /// Words behind which there is a stop.
    stops: BTreeSet<usize>,
    names: BTreeSet<String>,
    numbers: BTreeSet<String>,
    /// What stands in it besides words and stops: "C++" is not "C#".
    signs: String,
}

impl Saying {
    /// `user` are the words of the user's name.
    pub(super) fn of(memory: &Memory, user: &[String]) -> Self {
        let (own, text) = spoken(memory);
        Self::written(text, own, user)
    }

    /// What somebody says in their own words; they stand where the user stands in a memory.
    pub(super) fn own(text: &str) -> Self {
        Self::written(text, true, &[])
    }

    fn written(text: &str, own: bool, user: &[String]) -> Self {
        let signs =
            text.chars().filter(|sign| !sign.is_alphanumeric() && !sign.is_whitespace() && !STOPS.contains(sign));
        let mut saying = Self {
            words: Vec::new(),
            stops: BTreeSet::new(),
            names: BTreeSet::new(),
            numbers: BTreeSet::new(),
            signs: signs.collect(),
        };
        for piece in text.split_whitespace() {
            let capital = piece.chars().find(|letter| letter.is_alphanumeric()).is_some_and(char::is_uppercase);
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
        match of_user {
            // A name of two words is one user.
            true if self.words.last().is_some_and(|last| last == USER) => {}
            true => self.words.push(USER.to_owned()),
            false => {
                if is_number(&word) {
                    self.numbers.insert(word.clone());
                } else if capital && word.chars().count() > 1 && !says_nothing(&word) {
                    self.names.insert(word.clone());
                }
                let subject = self.words.iter().rev().find(|before| !ADVERBS.contains(&before.as_str()));
                let is_verb =
                    own && subject.is_some_and(|subject| subject == USER) && !ADVERBS.contains(&word.as_str());
                self.words.push(if is_verb { third_person(&word) } else { word });
            }
        }
        if is_mine {
            self.words.push("s".to_owned());
        }
    }

    /// It says something at all.
    pub(super) fn is_telling(&self) -> bool {
        self.words.iter().filter(|word| *word != USER).count() >= TELLING
    }

    /// It is what `other` says, word for word.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.words == other.words && self.signs == other.signs
    }

    /// It begins with all that `other` says, and takes nothing of it back.
    pub(super) fn has(&self, other: &Self) -> bool {
        if self.signs != other.signs {
            return false;
        }
        let Some(rest) = self.words.strip_prefix(other.words.as_slice()).filter(|rest| !rest.is_empty()) else {
            return false;
        };
        let goes_on = self.stops.contains(&other.words.len()) || GOES_ON.contains(&rest[0].as_str());
        goes_on && !rest.iter().any(|word| TAKES_BACK.contains(&word.as_str()))
    }

    /// Their meanings may be compared: of the same names and numbers, denied or not denied by both, in words that are half the
    /// same.
    pub(super) fn may_mean(&self, other: &Self) -> bool {
        let denied = |saying: &Self| saying.words.iter().filter(|word| TAKES_BACK.contains(&word.as_str())).count();
        self.names == other.names
            && self.numbers == other.numbers
            && self.signs == other.signs
            && denied(self) == denied(other)
            && self.shares(other) >= SHARED
            && other.shares(self) >= SHARED
    }

    fn shares(&self, other: &Self) -> f32 {
        let found = self.words.iter().filter(|word| other.words.contains(word)).count();
        found as f32 / self.words.len().max(1) as f32
    }

    /// Its words that say something, besides the user.
    pub(super) fn content(&self) -> BTreeSet<String> {
        self.words.iter().filter(|word| *word != USER && !says_nothing(word)).cloned().collect()
    }

    /// Whether a word is a name or a number.
    pub(super) fn is_definite(&self, word: &str) -> bool {
        self.names.contains(word) || self.numbers.contains(word)
    }
}

/// What was said, and whether in the user's own words: somebody asked for those to be remembered.
fn spoken(memory: &Memory) -> (bool, &str) {
    let quoted = memory.text.split_once(" said: \"").and_then(|(_, said)| said.strip_suffix('"'));
    match quoted.filter(|_| memory.origin == MemoryOrigin::Rule) {
        Some(said) => (true, said),
        None => (false, &memory.text),
    }
}

/// "I own" and "Tom owns" are one.
fn third_person(verb: &str) -> String {
    match verb {
        "am" | "m" | "is" | "are" => "is".to_owned(),
        "have" | "ve" => "has".to_owned(),
        "do" => "does".to_owned(),
        "go" => "goes".to_owned(),
        verb if verb.len() > 2 && verb.is_ascii() && !verb.ends_with('s') && !verb.ends_with("ed") => {
            format!("{verb}s")
        }
        verb => verb.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use domain::memory::{CERTAIN, MemoryScope, MemoryType};
    use domain::{MemoryId, Timestamp};
    use uuid::Uuid;

    use super::*;

    /// A memory that a model found; one that was asked for, where it is a quotation.
    pub(in crate::memory) fn memory(number: u128, text: &str) -> Memory {
        let asked = text.contains(" said: \"");
        Memory {
            id: MemoryId(Uuid::from_u128(number)),
            kind: MemoryType::Fact,
            scope: MemoryScope::Profile,
            text: text.to_owned(),
            importance: 5,
            origin: if asked { MemoryOrigin::Rule } else { MemoryOrigin::Model },
            confidence: if asked { CERTAIN } else { 7 },
            pinned: false,
            sources: Vec::new(),
            echoes: Vec::new(),
            archived: None,
            created: Timestamp(number as i64),
            updated: Timestamp(number as i64),
        }
    }

    pub(in crate::memory) fn saying(text: &str) -> Saying {
        Saying::of(&memory(1, text), &["tom".to_owned()])
    }

    #[test]
    fn the_same_is_said_whoever_says_it() {
        for (one, other) in [
            ("Tom owns a boat.", "Tom said: \"I own a boat\""),
            ("The user is allergic to nuts.", "Tom said: \"I am allergic to nuts\""),
            ("Tom's sister is Ida.", "Tom said: \"my sister is Ida!\""),
            ("TOM owns the boat", "Tom owns a boat."),
        ] {
            assert_eq!(saying(one).words, saying(other).words, "{one} / {other}");
        }
        assert_ne!(saying("Tom owns a boat.").words, saying("Ida owns a boat.").words);
        assert_ne!(saying("Tom likes tea.").words, saying("Tom likes no tea.").words);
    }

    #[test]
    fn a_longer_one_has_what_a_shorter_one_says_unless_it_takes_it_back() {
        let boat = saying("Tom owns a boat.");
        assert!(
            saying("Tom owns a boat called Zebulon.").has(&boat) && saying("Tom owns a boat, a blue one.").has(&boat)
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
    fn meanings_are_compared_of_the_same_names_and_numbers_only() {
        let cats = saying("Tom has two cats at home.");
        assert!(saying("At home Tom has two cats.").may_mean(&cats));
        for other in ["Tom has three cats at home.", "Ida has two cats at home.", "Tom has not two cats at home."] {
            assert!(!saying(other).may_mean(&cats), "{other}");
        }
    }
}
