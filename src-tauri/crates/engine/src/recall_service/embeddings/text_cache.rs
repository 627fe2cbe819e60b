//! Full-text indexes of whole chats, in memory: built when first needed, and kept up to date.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ChatId;
use recall::full_text::{IndexedText, TextIndex};
use recall::possession_index::Naming;
use recall::possessions::{Possession, possessions};
use recall::question_share::{question_share, statement_text};
use recall::updates::Update;
use store::{MessageKey, ReadTransaction, StoreError, TextRevision, VisibleText};

/// Number of chats whose texts stay in memory: all that a turn searches, and some more.
const CHATS: usize = 64;

/// The shown texts of one chat at one revision.
#[derive(Default, Clone)]
pub(crate) struct IndexedChat {
    revision: TextRevision,
    pub(crate) index: TextIndex,
    /// By position, each with the number of its last change.
    messages: BTreeMap<i64, (i64, MessageKey)>,
    /// Updates by position, where a message is one.
    news: BTreeMap<i64, Update>,
    /// Share of the message that consists of questions, by position, where it is not 0.
    asking: BTreeMap<i64, f32>,
    /// The possessions that the messages name.
    naming: Naming,
}

impl IndexedChat {
    pub(crate) fn message(&self, position: i64) -> Option<MessageKey> {
        self.messages.get(&position).map(|(_, message)| *message)
    }

    /// The messages before a position.
    pub(crate) fn messages(&self, before: i64) -> impl Iterator<Item = MessageKey> {
        self.messages
            .range(..before)
            .map(|(_, (_, message))| *message)
    }

    /// The messages before a position that say something has changed.
    pub(crate) fn news(&self, before: i64) -> impl Iterator<Item = (MessageKey, &Update)> {
        let news = self.news.range(..before);
        news.filter_map(|(position, news)| Some((self.message(*position)?, news)))
    }

    /// Share of the message at `position` that consists of questions, 0 to 1.
    pub(crate) fn asking(&self, position: i64) -> f32 {
        self.asking.get(&position).copied().unwrap_or(0.0)
    }

    /// The messages before a position that name one of `things`.
    pub(crate) fn naming(
        &self,
        possessions: &[Possession],
        before: i64,
    ) -> impl Iterator<Item = MessageKey> {
        self.naming
            .of(possessions, before)
            .into_iter()
            .filter_map(|position| self.message(position))
    }

    /// `thing` as the message at `position` calls it, if it names it.
    pub(crate) fn named_at(&self, position: i64, thing: &Possession) -> Option<&Possession> {
        self.naming.at(position, thing)
    }

    /// The position after the last message.
    pub(crate) fn end(&self) -> i64 {
        self.messages
            .last_key_value()
            .map_or(0, |(position, _)| position + 1)
    }

    fn read(
        store: &ReadTransaction<'_>,
        chat: ChatId,
        revision: TextRevision,
    ) -> Result<Self, StoreError> {
        let mut texts = Self::default();
        texts.renew(store, chat, revision)?;
        Ok(texts)
    }

    fn understand(&mut self, changed: &VisibleText) {
        let position = changed.message.position;
        let text = changed.text.as_str();
        put(&mut self.news, position, Update::of(text));
        put(
            &mut self.asking,
            position,
            Some(question_share(text)).filter(|part| *part > 0.0),
        );
        self.naming.put(
            position,
            possessions(&statement_text(text), changed.message.role),
        );
    }

    /// Applies the changes since the last revision.
    fn renew(
        &mut self,
        store: &ReadTransaction<'_>,
        chat: ChatId,
        revision: TextRevision,
    ) -> Result<(), StoreError> {
        let changed = store.message_texts().changed(chat, self.revision.last)?;
        let kept = if self.messages.len() + changed.len() == revision.texts as usize {
            None
        } else {
            Some(store.message_texts().changes(chat)?)
        };
        if let Some(kept) = &kept {
            self.messages.retain(|_, (change, _)| kept.contains(change));
            self.news
                .retain(|position, _| self.messages.contains_key(position));
            self.asking
                .retain(|position, _| self.messages.contains_key(position));
            self.naming
                .retain(|position| self.messages.contains_key(&position));
        }
        self.messages.extend(
            changed
                .iter()
                .map(|text| (text.message.position, (text.change, text.message))),
        );
        changed.iter().for_each(|text| self.understand(text));
        let texts = changed.iter().map(|text| IndexedText {
            place: text.message.position,
            stamp: text.change,
            said: text.message.created.0,
            text: &text.text,
        });
        self.index.renew(texts, kept.as_ref());
        self.revision = revision;
        Ok(())
    }
}

/// Sets the value at `position`, or removes it.
fn put<T>(known: &mut BTreeMap<i64, T>, position: i64, value: Option<T>) {
    match value {
        Some(value) => known.insert(position, value),
        None => known.remove(&position),
    };
}

/// The texts of a chat as last searched. The lock makes others wait, because building an index
/// twice would take longer.
type CachedTexts = Arc<Mutex<Arc<IndexedChat>>>;

/// Recently searched texts, the latest last.
#[derive(Default)]
pub(crate) struct TextCache(Mutex<Vec<(ChatId, CachedTexts)>>);

impl TextCache {
    /// The texts of `chat` as `store` sees them.
    pub(crate) fn of(
        &self,
        store: &ReadTransaction<'_>,
        chat: ChatId,
    ) -> Result<Arc<IndexedChat>, StoreError> {
        let known = self.known(chat);
        let mut known = lock(&known);
        let revision = store.message_texts().revision(chat)?;
        if known.revision == revision {
            return Ok(Arc::clone(&known));
        }
        // A reader whose snapshot is older than the cache builds its own texts, which are of no use
        // to others.
        if known.revision.last > revision.last {
            return Ok(Arc::new(IndexedChat::read(store, chat, revision)?));
        }
        let mut texts = Arc::unwrap_or_clone(std::mem::take(&mut *known));
        texts.renew(store, chat, revision)?;
        *known = Arc::new(texts);
        Ok(Arc::clone(&known))
    }

    fn known(&self, chat: ChatId) -> CachedTexts {
        let mut chats = lock(&self.0);
        let known = chats
            .iter()
            .position(|(known, _)| *known == chat)
            .map(|place| chats.remove(place).1);
        let known = known.unwrap_or_default();
        if chats.len() >= CHATS {
            chats.remove(0);
        }
        chats.push((chat, Arc::clone(&known)));
        known
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
