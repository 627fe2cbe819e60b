//! News: words of somebody that say that something of theirs is otherwise now, where they live, for whom they work. What was said
//! of it before is not told without them (memory.md, section 5, group B). In English, as far as [`Attribute`] understands it. Pure.

use std::collections::HashSet;
use std::sync::LazyLock;

use context::full_text::{Terms, words};

use super::attributes::{Attribute, may_have_changed};
use super::excerpt::Sought;
use super::saying::Saying;
use super::spoken::sentences;
use super::terms::says_nothing;

/// Between these stand stage directions and what is said.
const QUOTES: [char; 4] = ['*', '"', '“', '”'];

/// What a message says has changed, by the words of it that tell what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct News(HashSet<String>);

impl News {
    /// `None` if nothing is said to have changed.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !may_have_changed(text) {
            return None;
        }
        let pieces = sentences(text).flat_map(|sentence| sentence.split(QUOTES));
        let new = pieces.filter(|piece| Attribute::of(&Saying::own(piece)).is_some_and(|of| of.is_news()));
        let about: HashSet<String> = new.flat_map(matter).collect();
        Some(about).filter(|about| !about.is_empty()).map(Self)
    }

    /// What an excerpt is to be about that is to have it.
    pub(super) fn sought(&self) -> Sought {
        Sought::of(&self.0.iter().cloned().collect::<Vec<_>>())
    }

    /// It is about something that is talked of there as well.
    pub(super) fn touches(&self, matter: &HashSet<String>) -> bool {
        !self.0.is_disjoint(matter)
    }
}

/// What `text` is about: its words that say something, whatever their endings.
pub(super) fn matter(text: &str) -> HashSet<String> {
    static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);
    words(text).filter(|word| !says_nothing(word)).flat_map(|word| TERMS.of(&word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::excerpt::excerpt;

    fn touches(news: &str, told: &str) -> bool {
        News::of(news).is_some_and(|news| news.touches(&matter(told)))
    }

    #[test]
    fn what_somebody_says_is_otherwise_now_is_news_of_what_they_said_before() {
        for (news, told) in [
            ("We moved. I live in Oak Lane now.", "I live in Birch Lane."),
            ("*waves* \"From now on I work for Heron and Sons.\"", "At work old Zebulon shouted at us all day."),
            ("I have moved to Lisbon, at last!", "You should see Lisbon in spring."),
            ("My parrot is called Pia now.", "What a parrot!"),
        ] {
            assert!(touches(news, told), "{news} / {told}");
        }
    }

    #[test]
    fn of_a_long_message_the_news_are_told_wherever_they_stand() {
        let fog = "The fog came in over the quay, and nobody spoke. ".repeat(20);
        let text = format!("{fog}We moved. I live in Oak Lane now. {fog}");
        let told = News::of(&text).map(|news| excerpt(&text, &news.sought(), None));
        assert!(told.as_ref().is_some_and(|told| told.contains("Oak Lane") && told.len() < 500), "{told:?}");
    }

    #[test]
    fn what_is_no_news_or_of_something_else_is_not() {
        for (text, told) in [
            ("We moved. I live in Oak Lane now.", "My cat is black."),
            ("I live in Oak Lane.", "I live in Birch Lane."),
            ("Now I am tired.", "I was tired all day."),
            ("I moved to the sofa.", "The sofa is red."),
            ("Ida lives in Oak Lane now.", "I live in Birch Lane."),
            ("Now and then the lamp goes out.", "The lamp is on the quay."),
        ] {
            assert!(!touches(text, told), "{text} / {told}");
        }
    }
}
