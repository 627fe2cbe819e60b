//! Reads two hints from a question: whose messages it asks about (the user's or the character's),
//! and from which month or year. Only English is understood; a question in another language gives
//! no hints.

use std::collections::HashSet;

use context::frame::{Signal, SignalKind};
use domain::chat::Role;
use domain::script::has_unspaced_script;
use jiff::civil::DateTime;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::tokens::{terms, words};

const FIRST: [&str; 5] = ["i", "me", "my", "mine", "myself"];
const SECOND: [&str; 4] = ["you", "your", "yours", "yourself"];
/// Words that refer to something named earlier.
const NAMED_BEFORE: [&str; 26] = [
    "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs",
    "that", "this", "those", "these", "there", "then", "one", "ones", "again", "else", "same",
    "other", "and", "too",
];
/// Phrases that open a question. They name the person asked, not the person the question is about.
const ASKING: [&str; 6] = [
    "do you remember",
    "do you recall",
    "do you know",
    "can you tell me",
    "tell me",
    "remind me",
];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// "March" and "May" are months only after one of these words.
const BEFORE_MONTHS: [&str; 10] = [
    "in", "of", "last", "this", "since", "until", "early", "mid", "late", "during",
];

/// The hints that one question gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueryHints {
    /// The speaker it asks about; `None` if it names neither of the two, or both.
    speaker: Option<Role>,
    months: Vec<i8>,
    years: Vec<i16>,
}

impl QueryHints {
    /// `user` and `character` are the names of the two speakers.
    pub fn of(text: &str, user: &[&str], character: &[&str]) -> Self {
        let question_words = without_opening(text);
        let question_words: Vec<&str> = question_words.split_whitespace().collect();
        let speaker = match (
            names(&question_words, user, &FIRST),
            names(&question_words, character, &SECOND),
        ) {
            (true, false) => Some(Role::User),
            (false, true) => Some(Role::Character),
            _ => None,
        };
        Self {
            speaker,
            months: months(&question_words),
            years: years(&question_words),
        }
    }

    /// Number of hints, 0 to 2, that a message of `role` matches. `at` returns when it was said and
    /// is called only if the question names a date.
    pub fn fitting(&self, role: Role, at: impl FnOnce() -> DateTime) -> f32 {
        let who = self.speaker.is_some_and(|speaker| speaker == role);
        let when = self.names_a_date() && self.fits(at());
        f32::from(u8::from(who)) + f32::from(u8::from(when))
    }

    /// One signal for each hint given: 1 if a message of `role` at `at` matches it, else 0.
    pub fn hints(&self, role: Role, at: DateTime) -> impl Iterator<Item = Signal> {
        let fits = |fits: bool| f32::from(u8::from(fits));
        let who = self
            .speaker
            .map(|speaker| SignalKind::Who.is(fits(speaker == role)));
        let when = self
            .names_a_date()
            .then(|| SignalKind::When.is(fits(self.fits(at))));
        who.into_iter().chain(when)
    }

    /// Number of hints given, 0 to 2.
    pub fn given(&self) -> f32 {
        f32::from(u8::from(self.speaker.is_some())) + f32::from(u8::from(self.names_a_date()))
    }

    pub fn names_a_date(&self) -> bool {
        !self.months.is_empty() || !self.years.is_empty()
    }

    /// People mention the events of a month in that month or the next, so messages of both months
    /// match.
    fn fits(&self, at: DateTime) -> bool {
        let before = (at.month() + 10) % 12 + 1;
        let month = self.months.is_empty()
            || self.months.contains(&at.month())
            || self.months.contains(&before);
        month && (self.years.is_empty() || self.years.contains(&at.year()))
    }
}

/// The words of a question without its opening phrases.
fn without_opening(text: &str) -> String {
    let question_words = words(text).collect::<Vec<_>>().join(" ");
    ASKING
        .iter()
        .fold(question_words, |question_words, phrase| {
            question_words.replace(phrase, "")
        })
}

/// Whether the question contains one of these names or pronouns.
fn names(question_words: &[&str], names: &[&str], pronouns: &[&str]) -> bool {
    let names: HashSet<String> = names.iter().flat_map(|name| terms(name, &[])).collect();
    question_words
        .iter()
        .any(|word| pronouns.contains(word) || names.contains(*word))
}

/// A question with at least this many content words is self-contained.
const TELLING: usize = 2;
/// In a script without spaces, each run of up to this many characters is one content word. It holds
/// about two words, and one of them may be the question word.
const LETTERS: usize = 7;

/// Whether a question needs the message before it ("And what was her name?") because it has too few
/// content words. One content word is enough if the question names one of the speakers and refers
/// back to nothing ("Where is my flat?").
pub fn leans_back(text: &str, user: &str, character: [&str; 2]) -> bool {
    let terms = terms(text, &[user, character[0], character[1]]);
    match terms.iter().map(|term| content_word_count(term)).sum() {
        0 => true,
        TELLING.. => false,
        _ => {
            let question_words = without_opening(text);
            let question_words: Vec<&str> = question_words.split_whitespace().collect();
            let of_the_two = names(&question_words, &[user], &FIRST)
                || names(&question_words, &character, &SECOND);
            !of_the_two
                || question_words
                    .iter()
                    .any(|word| NAMED_BEFORE.contains(word))
        }
    }
}

/// How many content words a word represents. In a script without spaces a run of characters is a
/// clause.
fn content_word_count(word: &str) -> usize {
    if has_unspaced_script(word) {
        word.chars().count().div_ceil(LETTERS)
    } else {
        1
    }
}

/// The text to embed for a turn. `said` has the user's latest messages, newest first; the second
/// one is included only if the newest leans back to it. Names become pronouns: a name pulls the
/// embedding towards messages that use it.
pub fn plain(said: &[&str], user: &str, character: [&str; 2]) -> String {
    let leans_back = said
        .first()
        .is_none_or(|last| leans_back(last, user, character));
    let wanted = if leans_back { 2 } else { 1 };
    let plain = |text: &&str| without_names(text, &[user], &character);
    said.iter()
        .take(wanted)
        .rev()
        .map(plain)
        .collect::<Vec<_>>()
        .join("\n")
}

/// `text` with the names of the two speakers replaced by "I" and "you".
pub fn without_names(text: &str, user: &[&str], character: &[&str]) -> String {
    let said: Vec<(HashSet<String>, &str, &str)> = [(user, "I", "my"), (character, "you", "your")]
        .map(|(names, who, whose)| {
            (
                names.iter().flat_map(|name| terms(name, &[])).collect(),
                who,
                whose,
            )
        })
        .into();
    let plain = |word: &str| {
        let (bare, owner) = match word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")) {
            Some(bare) => (bare, true),
            None => (word, false),
        };
        let small = bare.to_lowercase();
        let (_, who, whose) = said.iter().find(|(names, ..)| names.contains(&small))?;
        Some((*who, if owner { *whose } else { *who }))
    };
    // For each word: the pronoun of the speaker it names, if any, and the text that takes its
    // place.
    let mut told: Vec<(Option<&str>, &str)> = Vec::new();
    for word in text.split_word_bounds() {
        let (meant, spoken) = plain(word).unzip();
        // A name of two words becomes one pronoun.
        if meant.is_some()
            && let [.., (before, _), (_, " ")] = told[..]
            && before == meant
        {
            told.truncate(told.len() - 2);
        }
        told.push((meant, spoken.unwrap_or(word)));
    }
    told.into_iter().map(|(_, word)| word).collect()
}

fn months(question_words: &[&str]) -> Vec<i8> {
    let month = |(place, word): (usize, &&str)| {
        let number = (1..)
            .zip(MONTHS)
            .find(|(_, name)| name == word)
            .map(|(number, _)| number)?;
        let before = place
            .checked_sub(1)
            .and_then(|before| question_words.get(before));
        let sure = !matches!(*word, "march" | "may")
            || before.is_some_and(|word| BEFORE_MONTHS.contains(word));
        sure.then_some(number)
    };
    question_words
        .iter()
        .enumerate()
        .filter_map(month)
        .collect()
}

fn years(question_words: &[&str]) -> Vec<i16> {
    let years = question_words
        .iter()
        .filter(|word| word.len() == 4)
        .filter_map(|word| word.parse().ok());
    years.filter(|year| (1900..2100).contains(year)).collect()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn about(text: &str) -> QueryHints {
        QueryHints::of(text, &["Sam"], &["Mira of the Quay", "Mira"])
    }

    #[test]
    fn reads_speaker_from_name_or_pronoun() {
        for (text, speaker) in [
            ("Where did I lose my keys?", Some(Role::User)),
            ("What is Sam's job?", Some(Role::User)),
            ("Where were you born?", Some(Role::Character)),
            ("What does Mira like?", Some(Role::Character)),
            ("Do you remember my sister?", Some(Role::User)),
            ("Do you know what I gave you?", None),
            ("Which of the boats was it?", None),
            ("Et la mer?", None),
        ] {
            assert_eq!(about(text).speaker, speaker, "{text}");
        }
    }

    #[test]
    fn question_without_topic_leans_back() {
        let leans_back = |text: &str| leans_back(text, "Sam", ["Mira of the Quay", "Mira"]);
        for text in [
            "And what was her name?",
            "How was it called?",
            "Where did I put it?",
            "Do you remember the parrot?",
            "Why?",
        ] {
            assert!(leans_back(text), "{text}");
        }
        for text in [
            "Where is my flat?",
            "Does Sam drink?",
            "What was the name of her dog?",
            "Whom did Mira kiss?",
        ] {
            assert!(!leans_back(text), "{text}");
        }
        assert!(leans_back("那它叫什么名字？") && leans_back("なぜ？"));
        assert!(
            !leans_back("我祖母出生的村庄叫什么？")
                && !leans_back("妹の飼っている猫の名前は何ですか？")
        );
    }

    #[test]
    fn replaces_speaker_names_with_pronouns() {
        let plain = |text: &str| without_names(text, &["Sam"], &["Mira Quay", "Mira"]);
        assert_eq!(
            plain("What did Mira tell Sam about Ida's boat?"),
            "What did you tell I about Ida's boat?"
        );
        assert_eq!(plain("Is it SAM's or Mira Quay’s?"), "Is it my or your?");
        assert_eq!(plain("Samuel? 你好, Miranda!"), "Samuel? 你好, Miranda!");
        assert_eq!(plain(""), "");
    }

    #[test]
    fn reads_months_and_years_only() {
        let read = |text: &str| (about(text).months, about(text).years);
        assert_eq!(read("What happened in May 2026?"), (vec![5], vec![2026]));
        assert_eq!(
            read("May I march to the pier, or in 15 July steps of 3000?"),
            (vec![7], vec![])
        );
    }

    #[test]
    fn matches_message_by_speaker_and_date() {
        let (may, june, july) = (date(2026, 5, 9), date(2026, 6, 9), date(2026, 7, 9));
        let fitting = |text: &str, day: jiff::civil::Date| {
            let about = about(text);
            (
                about.fitting(Role::User, || day.at(12, 0, 0, 0)),
                about.given(),
            )
        };
        assert_eq!(fitting("And the boat?", may), (0.0, 0.0));
        assert_eq!(fitting("What did I say in May?", may), (2.0, 2.0));
        assert_eq!(
            fitting("What did I say in May?", june),
            (2.0, 2.0),
            "the month after matches too"
        );
        assert_eq!(fitting("What did I say in May?", july), (1.0, 2.0));
        assert_eq!(fitting("What did you say?", may), (0.0, 1.0));
        assert_eq!(fitting("in December", date(2026, 1, 2)), (1.0, 1.0));
    }
}
