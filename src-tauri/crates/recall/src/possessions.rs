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
pub fn things(text: &str, by: Role) -> Vec<Possession> {
    let (own, other) = match by {
        Role::User => (Role::User, Role::Character),
        Role::Character => (Role::Character, Role::User),
        Role::Narrator | Role::Tool | Role::Event => return Vec::new(),
    };
    let words: Vec<String> = words(text).collect();
    let thing = |of: Role, word: &String, whose: Option<&String>| {
        let word = Some(word).filter(|word| !says_nothing(word))?;
        Some(Possession {
            of,
            noun: noun(word),
            as_said: whose.into_iter().chain([word]).cloned().collect(),
        })
    };
    let whose = |(at, word): (usize, &String)| {
        let of = if word == "my" { own } else { other };
        let possessive = ["my", "your"]
            .contains(&word.as_str())
            .then(|| &words[at + 1..])?;
        thing(
            of,
            possessive
                .iter()
                .find(|word| !BETWEEN.contains(&word.as_str()))?,
            Some(word),
        )
    };
    let having = |five: &[String]| {
        let [which, noun, helps, who, have] = five else {
            return None;
        };
        let asks =
            ["which", "what"].contains(&which.as_str()) && ["do", "did"].contains(&helps.as_str());
        let of = if who == "i" { own } else { other };
        let has = ["i", "you"].contains(&who.as_str()) && ["have", "own"].contains(&have.as_str());
        (asks && has).then(|| thing(of, noun, None))?
    };
    let doing = |(at, word): (usize, &String)| {
        let of = match word.as_str() {
            "i" => own,
            "you" => other,
            _ => return None,
        };
        let does = words[at + 1..]
            .iter()
            .find(|word| !ADVERBS.contains(&word.as_str()))?;
        DOING
            .contains(&stem(does).as_str())
            .then(|| thing(of, does, None))?
    };
    let being = |two: &[String]| {
        let [at, place] = two else { return None };
        (at == "at" && ["home", "work"].contains(&place.as_str()))
            .then(|| thing(own, place, None))?
    };
    let each = || words.iter().enumerate();
    let mut things: Vec<Possession> = Vec::new();
    for thing in each()
        .filter_map(whose)
        .chain(words.windows(5).filter_map(having))
        .chain(each().filter_map(doing))
        .chain(words.windows(2).filter_map(being))
    {
        if things.len() < MOST && !things.contains(&thing) {
            things.push(thing);
        }
    }
    things
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
        things(text, by)
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
        let pony = things("My ponies are calm.", Role::User);
        assert_eq!(pony, things("My pony is calm.", Role::User));
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
