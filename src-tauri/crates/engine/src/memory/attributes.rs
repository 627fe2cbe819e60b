//! What a memory says of somebody that can be so once only: where they live, what something is called, how old they are. Of two
//! that say it differently the newer one holds. English, and the commonest ways of German; what is said in other ways stands
//! beside the older one, as before.

use super::saying::{Saying, USER};

/// Words that say that it is so now, and was not before.
const NOW: [&str; 9] =
    ["now", "nowadays", "currently", "meanwhile", "newly", "jetzt", "inzwischen", "mittlerweile", "neuerdings"];
/// And those of several words, at the end or in the middle.
static THESE_DAYS: [&[&str]; 3] = [&["these", "days"], &["from", "now", "on"], &["any", "more"]];

/// What a sentence says of somebody, by the words between who it is and what it is.
struct Form {
    verb: &'static [&'static str],
    of: &'static str,
    /// Two of them contradict each other by themselves, where what they say are names or numbers. Else the newer one must say
    /// that something has changed.
    once: bool,
    /// It says itself that something has changed.
    changed: bool,
}

const fn once(verb: &'static [&'static str], of: &'static str) -> Form {
    Form { verb, of, once: true, changed: false }
}

const fn often(verb: &'static [&'static str], of: &'static str) -> Form {
    Form { verb, of, once: false, changed: false }
}

const fn changed(verb: &'static [&'static str], of: &'static str) -> Form {
    Form { verb, of, once: true, changed: true }
}

/// Longer ones before those that they begin with.
static FORMS: [Form; 25] = [
    once(&["lives", "in"], "home"),
    once(&["lives", "at"], "home"),
    once(&["resides", "in"], "home"),
    once(&["wohnt", "in"], "home"),
    once(&["lebt", "in"], "home"),
    changed(&["has", "moved", "to"], "home"),
    changed(&["moved", "to"], "home"),
    often(&["works", "as"], "work"),
    often(&["is", "working", "as"], "work"),
    often(&["arbeitet", "als"], "work"),
    often(&["works", "at"], "employer"),
    often(&["works", "for"], "employer"),
    often(&["arbeitet", "bei"], "employer"),
    often(&["studies"], "studies"),
    often(&["drives"], "drives"),
    once(&["is", "called"], "name"),
    once(&["is", "named"], "name"),
    once(&["heißt"], "name"),
    once(&["is", "married", "to"], "partner"),
    once(&["is", "engaged", "to"], "partner"),
    often(&["is", "dating"], "partner"),
    once(&["weighs"], "weight"),
    once(&["is"], "is"),
    once(&["ist"], "is"),
    once(&["are"], "is"),
];

/// What somebody has one of: "Tom's address is ...".
const ONE: [&str; 16] = [
    "name",
    "age",
    "address",
    "birthday",
    "number",
    "employer",
    "home",
    "hometown",
    "nickname",
    "height",
    "weight",
    "size",
    "alter",
    "adresse",
    "geburtstag",
    "nummer",
];
/// What is liked most is one thing, name or not.
const MOST: [&str; 2] = ["favorite", "favourite"];

/// What is said of somebody, and what it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    /// Of whom, and of what.
    pub(super) of: Vec<String>,
    value: Vec<String>,
    /// What it is begins with a name or a number.
    definite: bool,
    once: bool,
    /// It says that it was otherwise before.
    changed: bool,
}

impl Attribute {
    pub(super) fn of(saying: &Saying) -> Option<Self> {
        let (words, marked) = without_marks(&saying.words);
        let (at, form) = (1..words.len())
            .find_map(|at| FORMS.iter().find(|form| starts(&words[at..], form.verb)).map(|form| (at, form)))?;
        let (whose, value) = (&words[..at], &words[at + form.verb.len()..]);
        let first = value.first()?;
        let has = |list: &[&str]| whose.iter().any(|word| list.contains(&word.as_str()));
        let of = match (form.of, whose) {
            ("is", _) if starts(&value[1..], &["years", "old"]) => named(whose, "age"),
            // "Tom's boat's name is" and "Tom's boat is called" are one.
            ("is", [thing @ .., s, name]) if s == "s" && name == "name" => named(thing, "name"),
            // All else that somebody is, they are beside other things.
            ("is", _) if !has(&ONE) && !has(&MOST) => return None,
            (of, _) => named(whose, of),
        };
        Some(Self {
            of,
            definite: saying.is_definite(first) || has(&MOST),
            value: value.to_vec(),
            once: form.once,
            changed: marked || form.changed,
        })
    }

    /// Somebody says of themselves that it is otherwise than before.
    pub(super) fn is_news(&self) -> bool {
        self.changed && (self.definite || !self.once) && self.of.first().is_some_and(|whose| whose == USER)
    }

    /// This newer one says that `older` is so no longer.
    pub(super) fn supersedes(&self, older: &Self) -> bool {
        let differs = !self.value.starts_with(&older.value) && !older.value.starts_with(&self.value);
        let holds = match self.once {
            true => self.definite && (self.changed || older.definite),
            false => self.changed,
        };
        self.of == older.of && differs && holds
    }
}

/// Whether an [`Attribute`] of `text` can say that something has changed: none of its words says so in most texts, and these are
/// not taken apart.
pub(super) fn may_have_changed(text: &str) -> bool {
    let of_several = THESE_DAYS.into_iter().chain(FORMS.iter().filter(|form| form.changed).map(|form| form.verb));
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    let has = |word: &str| words().any(|each| each.eq_ignore_ascii_case(word));
    words().any(|each| NOW.iter().any(|word| each.eq_ignore_ascii_case(word)))
        || of_several.into_iter().any(|several| several.iter().all(|word| has(word)))
}

fn named(whose: &[String], of: &str) -> Vec<String> {
    whose.iter().cloned().chain([of.to_owned()]).collect()
}

/// The words but for those that say that it is so now, and whether there was one.
fn without_marks(words: &[String]) -> (Vec<String>, bool) {
    let (mut left, mut rest, mut marked) = (Vec::new(), words, false);
    while let [word, behind @ ..] = rest {
        if let Some(days) = THESE_DAYS.iter().find(|days| starts(rest, days)) {
            (rest, marked) = (&rest[days.len()..], true);
        } else if NOW.contains(&word.as_str()) {
            (rest, marked) = (behind, true);
        } else {
            left.push(word.clone());
            rest = behind;
        }
    }
    (left, marked)
}

fn starts(words: &[String], with: &[&str]) -> bool {
    words.len() >= with.len() && words.iter().zip(with).all(|(word, with)| word == with)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::saying::tests::saying;

    fn supersedes(newer: &str, older: &str) -> bool {
        match (Attribute::of(&saying(newer)), Attribute::of(&saying(older))) {
            (Some(newer), Some(older)) => newer.supersedes(&older),
            _ => false,
        }
    }

    #[test]
    fn what_is_so_once_only_is_superseded_by_what_is_newer() {
        for (newer, older) in [
            ("Tom now lives in Porto.", "Tom lives in Lisbon."),
            ("Tom lives in Porto now.", "Tom said: \"I live in Lisbon\""),
            ("Tom said: \"I have moved to Porto\"", "The user lives in Lisbon, near the sea."),
            ("Tom is 41 years old.", "Tom is 40 years old."),
            ("Tom's boat is called Heron.", "Tom's boat's name is Zebulon."),
            ("Tom said: \"my favourite colour is red\"", "Tom's favourite colour is blue."),
            ("Tom now works as a teacher.", "Tom works as a baker."),
            ("Tom said: \"these days I live in Porto\"", "Tom lives in Lisbon."),
            ("Tom wohnt jetzt in Köln.", "Tom wohnt in Bonn."),
        ] {
            assert!(supersedes(newer, older), "{newer} / {older}");
        }
    }

    #[test]
    fn what_may_be_so_beside_it_is_not() {
        for (newer, older) in [
            ("Ida lives in Porto.", "Tom lives in Lisbon."),
            ("Tom wants to live in Porto.", "Tom lives in Lisbon."),
            ("Tom used to live in Porto.", "Tom lives in Lisbon."),
            ("Tom lives in Lisbon, near the sea.", "Tom lives in Lisbon."),
            ("Tom lives in a small house now.", "Tom lives in Lisbon."),
            ("Tom moved to the sofa.", "Tom lives in Lisbon."),
            ("Tom's cat is old.", "Tom's cat is black."),
            ("Tom is kind now.", "Tom is tall."),
            ("Tom works as a teacher.", "Tom works as a baker."),
            ("Tom likes coffee now.", "Tom likes tea."),
            ("Tom's sister lives in Porto.", "Tom lives in Lisbon."),
        ] {
            assert!(!supersedes(newer, older), "{newer} / {older}");
        }
    }
}
