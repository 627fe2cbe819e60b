//! What was said, by its words: the indexes of whole chats in memory, as far as somebody asked for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use context::full_text::{Text, TextIndex};
use domain::ChatId;
use store::{NamedMessage, Read, ShownText, StoreError, TextRevision};

use super::asking::{asking_part, told_part};
use super::naming::Naming;
use super::news::News;
use super::things::{Thing, things};

/// Chats whose words stay in memory: all of a pair's that a turn looks through, and some more.
const CHATS: usize = 64;

/// What one chat shows, as of one revision.
#[derive(Default, Clone)]
pub(super) struct ChatTexts {
    revision: TextRevision,
    pub(super) index: TextIndex,
    /// By position, with the change that each came with.
    messages: BTreeMap<i64, (i64, NamedMessage)>,
    /// By position, where there are some.
    news: BTreeMap<i64, News>,
    /// By position, what part of it asks, where some does.
    asking: BTreeMap<i64, f32>,
    /// What they tell of.
    naming: Naming,
}

impl ChatTexts {
    pub(super) fn message(&self, position: i64) -> Option<NamedMessage> {
        self.messages.get(&position).map(|(_, message)| *message)
    }

    /// Those before a position.
    pub(super) fn messages(&self, before: i64) -> impl Iterator<Item = NamedMessage> {
        self.messages.range(..before).map(|(_, (_, message))| *message)
    }

    /// Those before a position that say that something has changed.
    pub(super) fn news(&self, before: i64) -> impl Iterator<Item = (NamedMessage, &News)> {
        let news = self.news.range(..before);
        news.filter_map(|(position, news)| Some((self.message(*position)?, news)))
    }

    /// What part of the message at `position` asks something, from 0 to 1.
    pub(super) fn asking(&self, position: i64) -> f32 {
        self.asking.get(&position).copied().unwrap_or(0.0)
    }

    /// Those before a position that name one of `things`.
    pub(super) fn naming(&self, things: &[Thing], before: i64) -> impl Iterator<Item = NamedMessage> {
        self.naming.of(things, before).into_iter().filter_map(|position| self.message(position))
    }

    /// `thing` as the message at `position` names it, if it does.
    pub(super) fn named_at(&self, position: i64, thing: &Thing) -> Option<&Thing> {
        self.naming.at(position, thing)
    }

    /// The position behind the last message.
    pub(super) fn end(&self) -> i64 {
        self.messages.last_key_value().map_or(0, |(position, _)| position + 1)
    }

    fn read(store: &Read<'_>, chat: ChatId, revision: TextRevision) -> Result<Self, StoreError> {
        let mut texts = Self::default();
        texts.renew(store, chat, revision)?;
        Ok(texts)
    }

    fn understand(&mut self, changed: &ShownText) {
        let (position, text) = (changed.message.position, changed.text.as_str());
        put(&mut self.news, position, News::of(text));
        put(&mut self.asking, position, Some(asking_part(text)).filter(|part| *part > 0.0));
        self.naming.put(position, things(&told_part(text), changed.message.role));
    }

    /// Reads what has changed.
    fn renew(&mut self, store: &Read<'_>, chat: ChatId, revision: TextRevision) -> Result<(), StoreError> {
        let changed = store.message_texts().changed(chat, self.revision.last)?;
        let kept = match self.messages.len() + changed.len() == revision.texts as usize {
            true => None,
            false => Some(store.message_texts().changes(chat)?),
        };
        if let Some(kept) = &kept {
            self.messages.retain(|_, (change, _)| kept.contains(change));
            self.news.retain(|position, _| self.messages.contains_key(position));
            self.asking.retain(|position, _| self.messages.contains_key(position));
            self.naming.retain(|position| self.messages.contains_key(&position));
        }
        self.messages.extend(changed.iter().map(|text| (text.message.position, (text.change, text.message))));
        changed.iter().for_each(|text| self.understand(text));
        let texts = changed.iter().map(|text| Text {
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

/// What is known of the text at `position`, where there is something.
fn put<T>(known: &mut BTreeMap<i64, T>, position: i64, value: Option<T>) {
    match value {
        Some(value) => known.insert(position, value),
        None => known.remove(&position),
    };
}

/// The texts of a chat as they were looked through last. Making an index twice takes longer than to wait for it.
type Known = Arc<Mutex<Arc<ChatTexts>>>;

/// Texts that were looked through lately, the latest last.
#[derive(Default)]
pub(crate) struct TextCache(Mutex<Vec<(ChatId, Known)>>);

impl TextCache {
    /// The texts of `chat` as `store` sees them.
    pub(super) fn of(&self, store: &Read<'_>, chat: ChatId) -> Result<Arc<ChatTexts>, StoreError> {
        let known = self.known(chat);
        let mut known = lock(&known);
        let revision = store.message_texts().revision(chat)?;
        if known.revision == revision {
            return Ok(Arc::clone(&known));
        }
        // Who began to read before the last change sees what was before it; that is of no use to others.
        if known.revision.last > revision.last {
            return Ok(Arc::new(ChatTexts::read(store, chat, revision)?));
        }
        let mut texts = Arc::unwrap_or_clone(std::mem::take(&mut *known));
        texts.renew(store, chat, revision)?;
        *known = Arc::new(texts);
        Ok(Arc::clone(&known))
    }

    fn known(&self, chat: ChatId) -> Known {
        let mut chats = lock(&self.0);
        let known = chats.iter().position(|(known, _)| *known == chat).map(|place| chats.remove(place).1);
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
