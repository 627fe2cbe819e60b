//! What the words of a question say about the messages of several chats.

use std::slice;
use std::sync::Arc;

use context::full_text::TextIndex;
use domain::chat::Role;
use domain::script::is_spaceless;
use store::{NamedMessage, Read, StoreError, Stretch};

use super::hit::{Hit, Since};
use super::news::matter;
use super::scores::Scores;
use super::signals::{Lexical, Place};
use super::terms::says_nothing;
use super::texts::{ChatTexts, TextCache};
use super::things::Thing;

/// Messages for which it is looked whose words they are, and of when.
const LOOKED_AT: usize = 120;
/// Who is asked for "my dog" and says "my dog" talks of the same one: a third of a hint, for others may tell of it as well.
pub(super) const NAMED: f32 = 0.25;

/// What the words of a question say about messages.
#[derive(Default)]
pub(crate) struct ByWords {
    /// None of them goes beyond the end of its chat.
    pub(super) stretches: Vec<Stretch>,
    /// Of each stretch.
    pub(super) chats: Vec<Arc<ChatTexts>>,
    pub(super) said: Lexical,
    /// See [`Older`].
    pub(super) lacking: bool,
}

impl ByWords {
    /// Searches `stretches` for `words`.
    pub(crate) fn of(
        store: &Read<'_>,
        texts: &TextCache,
        stretches: &[Stretch],
        words: &[String],
    ) -> Result<Self, StoreError> {
        let chats: Vec<_> = stretches.iter().map(|stretch| texts.of(store, stretch.chat)).collect::<Result<_, _>>()?;
        let within = |(stretch, chat): (&Stretch, &Arc<ChatTexts>)| Stretch {
            before: stretch.before.min(chat.end()),
            chat: stretch.chat,
        };
        let stretches: Vec<Stretch> = stretches.iter().zip(&chats).map(within).collect();
        let indexes: Vec<&TextIndex> = chats.iter().map(|chat| &chat.index).collect();
        let said = Lexical::of(&stretches, &indexes, words);
        let lacking = lacks(words, &said.unknown);
        Ok(Self { stretches, chats, said, lacking })
    }

    /// There is no message before the window, and none in another chat.
    pub(crate) fn has_no_messages(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.before == 0)
    }

    /// The newest message in which the same speaker says since that something has changed of what `hit` is about. It fits as
    /// well as that.
    pub(super) fn news_since(&self, hit: &Hit) -> Option<Hit> {
        let chats = self.stretches.iter().zip(&self.chats).enumerate();
        let news = chats.flat_map(|(stretch, (of, chat))| chat.news(of.before).map(move |news| (stretch, news)));
        let (since, role) = (hit.message.created, hit.message.role);
        let since = news.filter(|(_, (message, _))| message.role == role && message.created > since);
        let mut about = None;
        let touching = since.filter(|(_, (_, news))| news.touches(about.get_or_insert_with(|| matter(&hit.text))));
        let (stretch, (message, news)) =
            touching.max_by_key(|(stretch, (message, _))| (message.created, *stretch, message.position))?;
        Some(Hit { since: Some(Since::News(news.clone())), ..Hit::new(message, stretch, hit.score) })
    }

    /// The messages that name one of `things`, with the stretches they stand in. Where `several` talk, "yours" may be anybody's in
    /// the words of all but the user.
    fn naming(&self, things: &[Thing], several: bool) -> impl Iterator<Item = (usize, NamedMessage)> {
        let chats = self.stretches.iter().zip(&self.chats).enumerate();
        let naming = chats
            .flat_map(|(stretch, (of, chat))| chat.naming(things, of.before).map(move |message| (stretch, message)));
        naming.filter(move |(_, message)| !several || message.role == Role::User)
    }

    /// [`NAMED`] for each message that names one of `things`.
    pub(super) fn named(&self, things: &[Thing], several: bool) -> Scores {
        let mut named = Scores::unknown(&self.stretches);
        self.naming(things, several).for_each(|(stretch, message)| named.add((stretch, message.position), NAMED));
        named
    }

    /// The newest message that tells of `thing`, where the first of `hits` that does is older. It fits nearly as well.
    pub(super) fn last_word(&self, hits: &[Hit], thing: &Thing, several: bool) -> Option<Hit> {
        let named = |(stretch, position): Place| self.chats[stretch].named_at(position, thing);
        let tells = |role: Role| !several || role == Role::User;
        let older = hits.iter().find(|hit| tells(hit.message.role) && named(hit.place()).is_some())?;
        let naming = self.naming(slice::from_ref(thing), several);
        let (stretch, newest) =
            naming.max_by_key(|(stretch, message)| (message.created, *stretch, message.position))?;
        let since = Some(Since::LastWord(named((stretch, newest.position))?.clone()));
        let last = older.message.created < newest.created;
        last.then(|| Hit { since, ..Hit::new(newest, stretch, older.score.next_down()) })
    }

    /// What `hint` says of each message.
    pub(super) fn hints(&self, hint: impl Fn(&NamedMessage) -> f32) -> Scores {
        let mut hints = Scores::unknown(&self.stretches);
        for (place, (stretch, chat)) in self.stretches.iter().zip(&self.chats).enumerate() {
            chat.messages(stretch.before).for_each(|message| hints.add((place, message.position), hint(&message)));
        }
        hints
    }

    pub(super) fn asking(&self, (stretch, position): Place) -> f32 {
        self.chats[stretch].asking(position)
    }

    /// The messages at the places that fit best, without their words.
    pub(super) fn first(&self, scores: &Scores) -> Vec<Hit> {
        let hit = |((stretch, position), score): (Place, f32)| {
            Some(Hit::new(self.chats[stretch].message(position)?, stretch, score))
        };
        scores.first(LOOKED_AT).into_iter().filter_map(hit).collect()
    }
}

/// Whether what is asked for may never have been told: words of it are `unknown`. Where more are others than those of the
/// telling, what they mean decides; and who went camping need not have said "go".
fn lacks(words: &[String], unknown: &[String]) -> bool {
    let telling = |words: &[String]| words.iter().filter(|word| !is_spaceless(word) && !says_nothing(word)).count();
    let unknown = telling(unknown);
    unknown > 0 && 2 * unknown <= telling(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_told_has_a_word_that_nobody_said_and_that_is_no_verb_of_every_day() {
        let lacking = |words: &str, unknown: &str| {
            let [words, unknown] =
                [words, unknown].map(|of| of.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            lacks(&words, &unknown)
        };
        assert!(lacking("sister parrot called", "parrot"));
        assert!(!lacking("sister parrot called", ""));
        assert!(!lacking("sister parrot called", "sister parrot"), "it may have been told in other words");
        assert!(!lacking("go camping", "go"));
        assert!(!lacking("go camping", "camping"), "all that tells is unknown");
        assert!(!lacking("妹妹 鹦鹉", "鹦鹉"));
    }
}
