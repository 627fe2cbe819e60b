//! Single-valued attributes in memories: where somebody lives, what something is called, how old
//! somebody is. If two memories disagree, the newer one supersedes the older. Understands English
//! and the most common German phrasings; any other phrasing supersedes nothing, and both memories
//! stay.

use crate::statement::{Statement, USER};

/// Change marks: words that say that a statement is true now but was not true before.
const NOW: [&str; 9] = [
    "now",
    "nowadays",
    "currently",
    "meanwhile",
    "newly",
    "jetzt",
    "inzwischen",
    "mittlerweile",
    "neuerdings",
];
/// Change marks of several words.
static THESE_DAYS: [&[&str]; 3] = [&["these", "days"], &["from", "now", "on"], &["any", "more"]];

/// A sentence pattern: the words between a subject and the value of an attribute.
struct AttributePattern {
    verb: &'static [&'static str],
    of: &'static str,
    /// The attribute is single-valued: two different names or numbers contradict each other.
    /// Otherwise the newer sentence needs a change mark to supersede the older one.
    once: bool,
    /// The verb itself is a change mark.
    changed: bool,
}

const fn once(verb: &'static [&'static str], of: &'static str) -> AttributePattern {
    AttributePattern {
        verb,
        of,
        once: true,
        changed: false,
    }
}

const fn often(verb: &'static [&'static str], of: &'static str) -> AttributePattern {
    AttributePattern {
        verb,
        of,
        once: false,
        changed: false,
    }
}

const fn changed(verb: &'static [&'static str], of: &'static str) -> AttributePattern {
    AttributePattern {
        verb,
        of,
        once: true,
        changed: true,
    }
}

/// A pattern comes before its own prefixes.
static FORMS: [AttributePattern; 25] = [
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

/// Attributes of which a person has only one: "Tom's address is ...".
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
/// A favourite is single-valued even if it is neither a name nor a number.
const MOST: [&str; 2] = ["favorite", "favourite"];

/// One attribute of somebody, with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The words of the subject, then the name of the attribute.
    pub of: Vec<String>,
    value: Vec<String>,
    /// The value begins with a name or a number.
    definite: bool,
    once: bool,
    /// The sentence has a change mark.
    changed: bool,
}

impl Attribute {
    pub fn of(saying: &Statement) -> Option<Self> {
        let (words, marked) = without_marks(&saying.words);
        let (at, form) = (1..words.len()).find_map(|at| {
            FORMS
                .iter()
                .find(|form| starts(&words[at..], form.verb))
                .map(|form| (at, form))
        })?;
        let whose = &words[..at];
        let value = &words[at + form.verb.len()..];
        let first = value.first()?;
        let has = |list: &[&str]| whose.iter().any(|word| list.contains(&word.as_str()));
        let of = match (form.of, whose) {
            ("is", _) if starts(&value[1..], &["years", "old"]) => named(whose, "age"),
            // "Tom's boat's name is" and "Tom's boat is called" are one attribute.
            ("is", [thing @ .., s, name]) if s == "s" && name == "name" => named(thing, "name"),
            // Any other "is" is not single-valued: somebody can be several things at once.
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

    /// Whether the speaker says that something about themselves has changed.
    pub fn is_news(&self) -> bool {
        self.changed
            && (self.definite || !self.once)
            && self.of.first().is_some_and(|whose| whose == USER)
    }

    /// Whether this newer attribute makes `older` outdated.
    pub fn supersedes(&self, older: &Self) -> bool {
        let differs =
            !self.value.starts_with(&older.value) && !older.value.starts_with(&self.value);
        let holds = if self.once {
            self.definite && (self.changed || older.definite)
        } else {
            self.changed
        };
        self.of == older.of && differs && holds
    }
}

/// Cheap test for change marks. Most texts have none and need no parsing.
pub fn may_have_changed(text: &str) -> bool {
    let of_several = THESE_DAYS.into_iter().chain(
        FORMS
            .iter()
            .filter(|form| form.changed)
            .map(|form| form.verb),
    );
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    let has = |word: &str| words().any(|each| each.eq_ignore_ascii_case(word));
    words().any(|each| NOW.iter().any(|word| each.eq_ignore_ascii_case(word)))
        || of_several
            .into_iter()
            .any(|several| several.iter().all(|word| has(word)))
}

fn named(whose: &[String], of: &str) -> Vec<String> {
    whose.iter().cloned().chain([of.to_owned()]).collect()
}

/// The words without change marks, and whether there was one.
fn without_marks(words: &[String]) -> (Vec<String>, bool) {
    let mut left = Vec::new();
    let mut rest = words;
    let mut marked = false;
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
    use crate::statement::tests::saying;

    fn supersedes(newer: &str, older: &str) -> bool {
        match (Attribute::of(&saying(newer)), Attribute::of(&saying(older))) {
            (Some(newer), Some(older)) => newer.supersedes(&older),
            _ => false,
        }
    }

    #[test]
    fn newer_single_value_supersedes_older() {
        for (newer, older) in [
            ("Tom now lives in Porto.", "Tom lives in Lisbon."),
            ("Tom lives in Porto now.", "Tom said: \"I live in Lisbon\""),
            (
                "Tom said: \"I have moved to Porto\"",
                "The user lives in Lisbon, near the sea.",
            ),
            ("Tom is 41 years old.", "Tom is 40 years old."),
            (
                "Tom's boat is called Heron.",
                "Tom's boat's name is Zebulon.",
            ),
            (
                "Tom said: \"my favourite colour is red\"",
                "Tom's favourite colour is blue.",
            ),
            ("Tom now works as a teacher.", "Tom works as a baker."),
            (
                "Tom said: \"these days I live in Porto\"",
                "Tom lives in Lisbon.",
            ),
            ("Tom wohnt jetzt in Köln.", "Tom wohnt in Bonn."),
        ] {
            assert!(supersedes(newer, older), "{newer} / {older}");
        }
    }

    #[test]
    fn compatible_value_supersedes_nothing() {
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
