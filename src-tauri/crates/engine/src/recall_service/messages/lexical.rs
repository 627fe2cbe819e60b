//! Lexical search (BM25) in the messages of several chats.

use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use domain::MessageId;
use domain::chat::{MessageRange, Role};
use domain::script::has_unspaced_script;
use recall::full_text::TextIndex;
use recall::hints::QueryHints;
use recall::possessions::Possession;
use recall::scores::Scores;
use recall::signals::{Lexical, MessagePosition};
use recall::tokens::says_nothing;
use recall::updates::matter;
use store::{MessageKey, ReadTransaction, StoreError};

use crate::base::clock::Clock;
use crate::recall_service::embeddings::text_cache::{IndexedChat, TextCache};
use crate::recall_service::hit::{Hit, Since};

/// Number of best messages that are scored in detail.
const LOOKED_AT: usize = 120;

/// The result of a lexical search.
#[derive(Default)]
pub(crate) struct LexicalSearch {
    /// The ranges searched; none goes beyond the end of its chat.
    pub(crate) stretches: Vec<MessageRange>,
    /// The texts of each range's chat.
    pub(crate) chats: Vec<Arc<IndexedChat>>,
    pub(crate) said: Lexical,
    /// See `Older::lacking`.
    pub(crate) lacking: bool,
    /// Messages that the speaker missed.
    missed: Arc<HashSet<MessageId>>,
}

impl LexicalSearch {
    /// Searches `stretches` for `words`.
    pub(crate) fn of(
        store: &ReadTransaction<'_>,
        texts: &TextCache,
        stretches: &[MessageRange],
        words: &[String],
    ) -> Result<Self, StoreError> {
        let chats: Vec<_> = stretches
            .iter()
            .map(|stretch| texts.of(store, stretch.chat))
            .collect::<Result<_, _>>()?;
        let within = |(stretch, chat): (&MessageRange, &Arc<IndexedChat>)| MessageRange {
            before: stretch.before.min(chat.end()),
            chat: stretch.chat,
        };
        let stretches: Vec<MessageRange> = stretches.iter().zip(&chats).map(within).collect();
        let indexes: Vec<&TextIndex> = chats.iter().map(|chat| &chat.index).collect();
        let said = Lexical::of(&stretches, &indexes, words);
        let lacking = lacks(words, &said.unknown);
        Ok(Self {
            stretches,
            chats,
            said,
            lacking,
            missed: Arc::default(),
        })
    }

    /// Leaves out messages that the speaker missed. They still affect scores, but never become
    /// hits.
    pub(crate) fn without(self, missed: Arc<HashSet<MessageId>>) -> Self {
        Self { missed, ..self }
    }

    fn knows(&self, message: &MessageKey) -> bool {
        !self.missed.contains(&message.id)
    }

    /// There is no message before the window, and none in another chat.
    pub(crate) fn has_no_messages(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.before == 0)
    }

    /// The newest later message of the same speaker that says something has changed about the topic
    /// of `hit`. It gets the score of `hit`.
    pub(crate) fn news_since(&self, hit: &Hit) -> Option<Hit> {
        let chats = self.stretches.iter().zip(&self.chats).enumerate();
        let news = chats.flat_map(|(stretch, (of, chat))| {
            chat.news(of.before).map(move |news| (stretch, news))
        });
        let since = hit.message.created;
        let role = hit.message.role;
        let since = news.filter(|(_, (message, _))| {
            message.role == role && message.created > since && self.knows(message)
        });
        let mut about = None;
        let touching = since
            .filter(|(_, (_, news))| news.touches(about.get_or_insert_with(|| matter(&hit.text))));
        let (stretch, (message, news)) = touching
            .max_by_key(|(stretch, (message, _))| (message.created, *stretch, message.position))?;
        Some(Hit {
            since: Some(Since::Update(news.clone())),
            ..Hit::new(message, stretch, hit.score)
        })
    }

    /// The messages that name one of `things`, each with the index of its range. With `several`
    /// characters only the user's messages qualify, because "yours" is ambiguous in the others.
    fn naming(
        &self,
        possessions: &[Possession],
        several: bool,
    ) -> impl Iterator<Item = (usize, MessageKey)> {
        let chats = self.stretches.iter().zip(&self.chats).enumerate();
        let naming = chats.flat_map(|(stretch, (of, chat))| {
            chat.naming(possessions, of.before)
                .map(move |message| (stretch, message))
        });
        naming.filter(move |(_, message)| {
            (!several || message.role == Role::User) && self.knows(message)
        })
    }

    /// 1 for each message that names one of `things`.
    pub(crate) fn named(&self, possessions: &[Possession], several: bool) -> Scores {
        let mut named = Scores::unknown(&self.stretches);
        self.naming(possessions, several)
            .for_each(|(stretch, message)| named.add((stretch, message.position), 1.0));
        named
    }

    /// The newest message that names `thing`, if the first of `hits` that names it is older. Its
    /// score is just below that hit's.
    pub(crate) fn last_word(&self, hits: &[Hit], thing: &Possession, several: bool) -> Option<Hit> {
        let named =
            |(stretch, position): MessagePosition| self.chats[stretch].named_at(position, thing);
        let tells = |role: Role| !several || role == Role::User;
        let older = hits
            .iter()
            .find(|hit| tells(hit.message.role) && named(hit.place()).is_some())?;
        let naming = self.naming(slice::from_ref(thing), several);
        let (stretch, newest) = naming
            .max_by_key(|(stretch, message)| (message.created, *stretch, message.position))?;
        let since = Some(Since::LastWord(named((stretch, newest.position))?.clone()));
        let last = older.message.created < newest.created;
        last.then(|| Hit {
            since,
            ..Hit::new(newest, stretch, older.score.next_down())
        })
    }

    /// The number of hints in `about`, 0 to 2, that each message matches. Without hints no message
    /// has a score.
    pub(crate) fn hints(&self, about: &QueryHints, clock: &Clock) -> Scores {
        let mut hints = Scores::unknown(&self.stretches);
        if about.given() == 0.0 {
            return hints;
        }
        let hint =
            |message: &MessageKey| about.fitting(message.role, || clock.civil(message.created));
        for (place, (stretch, chat)) in self.stretches.iter().zip(&self.chats).enumerate() {
            chat.messages(stretch.before)
                .for_each(|message| hints.add((place, message.position), hint(&message)));
        }
        hints
    }

    pub(crate) fn asking(&self, (stretch, position): MessagePosition) -> f32 {
        self.chats[stretch].asking(position)
    }

    /// The [`LOOKED_AT`] best messages, without their texts.
    pub(crate) fn first(&self, scores: &Scores) -> Vec<Hit> {
        let hit = |((stretch, position), score): (MessagePosition, f32)| {
            let message = self.chats[stretch]
                .message(position)
                .filter(|message| self.knows(message))?;
            Some(Hit::new(message, stretch, score))
        };
        let among = LOOKED_AT + self.missed.len();
        scores
            .first(among)
            .into_iter()
            .filter_map(hit)
            .take(LOOKED_AT)
            .collect()
    }
}

/// Low coverage: some content words of the question occur in no message (`unknown`), but at most
/// half of them. If more are unknown, the answer may use other words, and the embeddings decide.
/// Stop words and everyday verbs such as "go" do not matter.
fn lacks(words: &[String], unknown: &[String]) -> bool {
    let telling = |words: &[String]| {
        words
            .iter()
            .filter(|word| !has_unspaced_script(word) && !says_nothing(word))
            .count()
    };
    let unknown = telling(unknown);
    unknown > 0 && 2 * unknown <= telling(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_low_if_a_content_word_is_unknown() {
        let lacking = |words: &str, unknown: &str| {
            let [words, unknown] = [words, unknown]
                .map(|of| of.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            lacks(&words, &unknown)
        };
        assert!(lacking("sister parrot called", "parrot"));
        assert!(!lacking("sister parrot called", ""));
        assert!(
            !lacking("sister parrot called", "sister parrot"),
            "the answer may use other words"
        );
        assert!(!lacking("go camping", "go"));
        assert!(
            !lacking("go camping", "camping"),
            "all content words are unknown"
        );
        assert!(!lacking("妹妹 鹦鹉", "鹦鹉"));
    }
}
