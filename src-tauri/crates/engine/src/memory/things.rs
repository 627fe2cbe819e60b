//! What somebody has, by how it is talked of: "my dog" in the user's words is "your dog" in those of the other one. In English. Pure.

use std::hash::{Hash, Hasher};

use context::full_text::{Terms, words};
use domain::chat::Role;

use super::excerpt::Sought;
use super::terms::says_nothing;

/// What may stand between whose it is and what it is.
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
/// Things that one text names at the most.
const MOST: usize = 24;

/// Something of the user's or of the character's.
#[derive(Debug, Clone)]
pub(crate) struct Thing {
    of: Role,
    /// Its stem: "dogs" are the same as "dog".
    noun: String,
    as_said: String,
}

impl PartialEq for Thing {
    fn eq(&self, other: &Self) -> bool {
        self.of == other.of && self.noun == other.noun
    }
}

impl Eq for Thing {}

impl Hash for Thing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.of, &self.noun).hash(state);
    }
}

impl Thing {
    /// What an excerpt of somebody's words is to be about that is to name it.
    pub(super) fn sought(&self, by: Role) -> Sought {
        let whose = if self.of == by { "my" } else { "your" };
        Sought::of(&[whose.to_owned(), self.as_said.clone()])
    }

    pub(super) fn is_users(&self) -> bool {
        self.of == Role::User
    }
}

/// The things that `text` of somebody who talks names, each once.
pub(crate) fn things(text: &str, by: Role) -> Vec<Thing> {
    let (own, other) = match by {
        Role::User => (Role::User, Role::Character),
        Role::Character => (Role::Character, Role::User),
        Role::Narrator | Role::Tool | Role::Event => return Vec::new(),
    };
    let words: Vec<String> = words(text).collect();
    let thing = |of: Role, noun: &String| {
        let noun = Some(noun).filter(|noun| !says_nothing(noun))?;
        Some(Thing { of, noun: Terms::default().of(noun).concat(), as_said: noun.clone() })
    };
    let whose = |(at, word): (usize, &String)| {
        let of = if word == "my" { own } else { other };
        let possessive = ["my", "your"].contains(&word.as_str()).then(|| &words[at + 1..])?;
        thing(of, possessive.iter().find(|word| !BETWEEN.contains(&word.as_str()))?)
    };
    let having = |five: &[String]| {
        let [which, noun, helps, who, have] = five else { return None };
        let asks = ["which", "what"].contains(&which.as_str()) && ["do", "did"].contains(&helps.as_str());
        let of = if who == "i" { own } else { other };
        let has = ["i", "you"].contains(&who.as_str()) && ["have", "own"].contains(&have.as_str());
        (asks && has).then(|| thing(of, noun))?
    };
    let mut things: Vec<Thing> = Vec::new();
    for thing in words.iter().enumerate().filter_map(whose).chain(words.windows(5).filter_map(having)) {
        if things.len() < MOST && !things.contains(&thing) {
            things.push(thing);
        }
    }
    things
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, by: Role) -> Vec<(bool, String)> {
        things(text, by).into_iter().map(|thing| (thing.of == Role::User, thing.noun)).collect()
    }

    #[test]
    fn what_is_mine_is_yours_to_the_other_one() {
        let dog = [(true, "dog".to_owned())];
        assert_eq!(named("I have to walk my dog.", Role::User), dog);
        assert_eq!(named("Are your old dogs asleep?", Role::Character), dog);
        assert_eq!(named("MY DOG'S asleep.", Role::Character), [(false, "dog".to_owned())]);
        assert_eq!(named("My dog, and your own cat.", Role::User), [dog[0].clone(), (false, "cat".to_owned())]);
        assert_eq!(named("Which dog do I have?", Role::User), dog);
        assert_eq!(named("What dogs did you own?", Role::Character), dog);
    }

    #[test]
    fn what_kind_of_thing_it_is_is_not_the_thing() {
        assert_eq!(named("What is my favorite color?", Role::User), [(true, "color".to_owned())]);
        assert_eq!(named("My younger sister and my older brother.", Role::User).len(), 2);
        assert_eq!(named(&"my dog, my cats, ".repeat(1_000), Role::User).len(), 2);
        let pony = things("My ponies are calm.", Role::User);
        assert_eq!(pony, things("My pony is calm.", Role::User));
    }

    #[test]
    fn what_nobody_is_said_to_have_is_no_thing() {
        for text in ["A stray dog!", "Oh my.", "It is your turn to say what is my.", "Mein Hund.", ""] {
            assert!(!named(text, Role::User).iter().any(|(_, noun)| noun.contains("dog")), "{text}");
        }
        assert_eq!(named("My dog howls.", Role::Narrator), []);
    }
}
