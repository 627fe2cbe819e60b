//! Possessions by the words for them: "my dog" in the user's message is "your dog" in the
//! character's. English only. Pure.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use crate::full_text::{Terms, words};
use domain::chat::Role;

use crate::excerpt::ExcerptTerms;
use crate::statement::ADVERBS;
use crate::tokens::says_nothing;

/// Adjectives that may come between the possessive and the noun.
const BETWEEN: [&str; 27] = [
    "beautiful",
    "best",
    "big",
    "dear",
    "elder",
    "eldest",
    "favorite",
    "favourite",
    "first",
    "former",
    "good",
    "great",
    "last",
    "left",
    "little",
    "new",
    "next",
    "old",
    "older",
    "oldest",
    "other",
    "own",
    "poor",
    "right",
    "second",
    "younger",
    "youngest",
];
/// Stems of verbs that imply a possession: a question where you live asks about your home.
const DOING: [&str; 2] = ["live", "work"];
/// Synonyms: a word and its canonical noun.
const SAME: [(&str, &str); 6] = [
    ("live", "home"),
    ("flat", "home"),
    ("house", "home"),
    ("apartment", "home"),
    ("work", "job"),
    ("employer", "job"),
];
/// Maximum number of possessions in one text.
const MOST: usize = 24;

/// Something that the user or the character has.
#[derive(Debug, Clone)]
pub struct Possession {
    of: Role,
    /// The stem of the noun, or its synonym of [`SAME`]: "dogs" are the same as "dog".
    noun: String,
    /// The words that name it in the text.
    as_said: Vec<String>,
}

impl PartialEq for Possession {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of && self.noun == other.noun
    }
}

impl Eq for Possession {}

impl Hash for Possession {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.of, &self.noun).hash(state);
    }
}

impl Possession {
    /// The terms for an excerpt that must contain the words of this possession.
    pub fn sought(&self) -> ExcerptTerms {
        ExcerptTerms::of(&self.as_said)
    }

    pub fn is_users(&self) -> bool {
        self.of == Role::User
    }
}

/// The possessions that `text` by a speaker names, each once.
pub fn possessions(text: &str, by: Role) -> Vec<Possession> {
    let (own, other) = match by {
        Role::User => (Role::User, Role::Character),
        Role::Character => (Role::Character, Role::User),
        Role::Narrator | Role::Tool | Role::Event => return Vec::new(),
    };
    let words: Vec<String> = words(text).collect();
    let speakers = Speakers { own, other };
    let ends = || (0..words.len()).map(|at| &words[at..]);
    let named = ends()
        .filter_map(|from| speakers.with_possessive(from))
        .chain(
            words
                .windows(5)
                .filter_map(|five| speakers.in_question(five)),
        )
        .chain(ends().filter_map(|from| speakers.as_activity(from)))
        .chain(words.windows(2).filter_map(|two| speakers.as_place(two)));
    let mut possessions: Vec<Possession> = Vec::new();
    for possession in named {
        if possessions.len() < MOST && !possessions.contains(&possession) {
            possessions.push(possession);
        }
    }
    possessions
}

fn possession(of: Role, word: &String, whose: Option<&String>) -> Option<Possession> {
    let word = Some(word).filter(|word| !says_nothing(word))?;
    Some(Possession {
        of,
        noun: noun(word),
        as_said: whose.into_iter().chain([word]).cloned().collect(),
    })
}

/// The persons that "I" and "you" mean.
struct Speakers {
    own: Role,
    other: Role,
}

impl Speakers {
    /// "my dog", "your old dog"
    fn with_possessive(&self, from: &[String]) -> Option<Possession> {
        let (word, rest) = from.split_first()?;
        let of = match word.as_str() {
            "my" => self.own,
            "your" => self.other,
            _ => return None,
        };
        let noun = rest.iter().find(|word| !BETWEEN.contains(&word.as_str()))?;
        possession(of, noun, Some(word))
    }

    /// "which dog do I have"
    fn in_question(&self, five: &[String]) -> Option<Possession> {
        let [which, noun, helps, who, have] = five else {
            return None;
        };
        let asks =
            ["which", "what"].contains(&which.as_str()) && ["do", "did"].contains(&helps.as_str());
        let of = if who == "i" { self.own } else { self.other };
        let has = ["i", "you"].contains(&who.as_str()) && ["have", "own"].contains(&have.as_str());
        (asks && has).then(|| possession(of, noun, None))?
    }

    /// "I often work"
    fn as_activity(&self, from: &[String]) -> Option<Possession> {
        let (word, rest) = from.split_first()?;
        let of = match word.as_str() {
            "i" => self.own,
            "you" => self.other,
            _ => return None,
        };
        let verb = rest.iter().find(|word| !ADVERBS.contains(&word.as_str()))?;
        DOING
            .contains(&stem(verb).as_str())
            .then(|| possession(of, verb, None))?
    }

    /// "at home", "at work"
    fn as_place(&self, two: &[String]) -> Option<Possession> {
        let [at, place] = two else { return None };
        (at == "at" && ["home", "work"].contains(&place.as_str()))
            .then(|| possession(self.own, place, None))?
    }
}

fn stem(word: &str) -> String {
    Terms::default().of(word).concat()
}

/// The canonical noun of `word`, ignoring its ending.
fn noun(word: &str) -> String {
    static NOUNS: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        SAME.iter()
            .map(|(word, noun)| (stem(word), *noun))
            .collect()
    });
    let stem = stem(word);
    NOUNS.get(&stem).map_or(stem, |noun| (*noun).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, by: Role) -> Vec<(bool, String)> {
        possessions(text, by)
            .into_iter()
            .map(|thing| (thing.of == Role::User, thing.noun))
            .collect()
    }

    #[test]
    fn mine_is_yours_to_the_other_speaker() {
        let dog = [(true, "dog".to_owned())];
        assert_eq!(named("I have to walk my dog.", Role::User), dog);
        assert_eq!(named("Are your old dogs asleep?", Role::Character), dog);
        assert_eq!(
            named("MY DOG'S asleep.", Role::Character),
            [(false, "dog".to_owned())]
        );
        assert_eq!(
            named("My dog, and your own cat.", Role::User),
            [dog[0].clone(), (false, "cat".to_owned())]
        );
        assert_eq!(named("Which dog do I have?", Role::User), dog);
        assert_eq!(named("What dogs did you own?", Role::Character), dog);
    }

    #[test]
    fn verbs_imply_possessions() {
        let job = [(true, "job".to_owned())];
        for text in [
            "For whom do I work?",
            "My job wears me out.",
            "I still worked for Ida.",
            "At work they shout.",
        ] {
            assert_eq!(named(text, Role::User), job, "{text}");
        }
        assert_eq!(named("Do you work today?", Role::Character), job);
        for text in [
            "Where do I live?",
            "My flat is cold.",
            "Once I lived here.",
            "Which house do I own?",
        ] {
            assert_eq!(
                named(text, Role::User),
                [(true, "home".to_owned())],
                "{text}"
            );
        }
        assert_eq!(named("I would work, you know. Alive!", Role::User), []);
    }

    #[test]
    fn skips_adjectives_before_the_noun() {
        assert_eq!(
            named("What is my favorite color?", Role::User),
            [(true, "color".to_owned())]
        );
        assert_eq!(
            named("My younger sister and my older brother.", Role::User).len(),
            2
        );
        assert_eq!(
            named(&"my dog, my cats, ".repeat(1_000), Role::User).len(),
            2
        );
        let pony = possessions("My ponies are calm.", Role::User);
        assert_eq!(pony, possessions("My pony is calm.", Role::User));
    }

    #[test]
    fn noun_without_owner_is_no_possession() {
        for text in [
            "A stray dog!",
            "Oh my.",
            "It is your turn to say what is my.",
            "Mein Hund.",
            "",
        ] {
            assert!(
                !named(text, Role::User)
                    .iter()
                    .any(|(_, noun)| noun.contains("dog")),
                "{text}"
            );
        }
        assert_eq!(named("My dog howls.", Role::Narrator), []);
    }
}
