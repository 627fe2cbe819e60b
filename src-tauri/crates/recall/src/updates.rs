//! Finds updates: messages in which the speaker says that something about themselves has changed,
//! such as their home or employer. An older message about the same topic is not recalled without
//! the update. Understands the English phrasings that [`Attribute`] knows. Pure.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::full_text::{Terms, words};

use crate::attributes::{Attribute, may_have_changed};
use crate::command_parser::sentences;
use crate::excerpt::ExcerptTerms;
use crate::statement::Statement;
use crate::tokens::says_nothing;

/// Marks between stage directions and speech.
const QUOTES: [char; 4] = ['*', '"', '“', '”'];

/// The topic words of the sentences in which a message says that something has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update(HashSet<String>);

impl Update {
    /// `None` if the text reports no change.
    pub fn of(text: &str) -> Option<Self> {
        if !may_have_changed(text) {
            return None;
        }
        let pieces = sentences(text).flat_map(|sentence| sentence.split(QUOTES));
        let new = pieces
            .filter(|piece| Attribute::of(&Statement::own(piece)).is_some_and(|of| of.is_news()));
        let about: HashSet<String> = new.flat_map(matter).collect();
        Some(about).filter(|about| !about.is_empty()).map(Self)
    }

    /// The terms of an excerpt that must contain the update.
    pub fn sought(&self) -> ExcerptTerms {
        ExcerptTerms::of(&self.0.iter().cloned().collect::<Vec<_>>())
    }

    /// Whether the update shares a topic word with `matter`.
    pub fn touches(&self, matter: &HashSet<String>) -> bool {
        !self.0.is_disjoint(matter)
    }
}

/// The topic words of `text`: the stems of its content words.
pub fn matter(text: &str) -> HashSet<String> {
    static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);
    words(text)
        .filter(|word| !says_nothing(word))
        .flat_map(|word| TERMS.of(&word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::excerpt::excerpt;

    fn touches(news: &str, told: &str) -> bool {
        Update::of(news).is_some_and(|news| news.touches(&matter(told)))
    }

    #[test]
    fn change_touches_older_message_on_same_topic() {
        for (news, told) in [
            ("We moved. I live in Oak Lane now.", "I live in Birch Lane."),
            (
                "*waves* \"From now on I work for Heron and Sons.\"",
                "At work old Zebulon shouted at us all day.",
            ),
            (
                "I have moved to Lisbon, at last!",
                "You should see Lisbon in spring.",
            ),
            ("My parrot is called Pia now.", "What a parrot!"),
        ] {
            assert!(touches(news, told), "{news} / {told}");
        }
    }

    #[test]
    fn excerpt_contains_update_of_long_message() {
        let fog = "The fog came in over the quay, and nobody spoke. ".repeat(20);
        let text = format!("{fog}We moved. I live in Oak Lane now. {fog}");
        let told = Update::of(&text).map(|news| excerpt(&text, &news.sought(), None));
        assert!(
            told.as_ref()
                .is_some_and(|told| told.contains("Oak Lane") && told.len() < 500),
            "{told:?}"
        );
    }

    #[test]
    fn ignores_unrelated_or_unchanged_statements() {
        for (text, told) in [
            ("We moved. I live in Oak Lane now.", "My cat is black."),
            ("I live in Oak Lane.", "I live in Birch Lane."),
            ("Now I am tired.", "I was tired all day."),
            ("I moved to the sofa.", "The sofa is red."),
            ("Ida lives in Oak Lane now.", "I live in Birch Lane."),
            (
                "Now and then the lamp goes out.",
                "The lamp is on the quay.",
            ),
        ] {
            assert!(!touches(text, told), "{text} / {told}");
        }
    }
}
