//! What was said, by its words: the indexes of whole chats in memory, as far as somebody asked for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use context::full_text::{Text, TextIndex};
use domain::ChatId;
use store::{NamedMessage, Read, StoreError, TextRevision};

/// Chats whose words stay in memory: all of a pair's that a turn looks through, and some more.
const CHATS: usize = 64;

/// What one chat shows, as of one revision.
#[derive(Default, Clone)]
pub(super) struct ChatTexts {
    revision: TextRevision,
    pub(super) index: TextIndex,
    /// By position, with the change that each came with.
    messages: BTreeMap<i64, (i64, NamedMessage)>,
}

impl ChatTexts {
    pub(super) fn message(&self, position: i64) -> Option<NamedMessage> {
        self.messages.get(&position).map(|(_, message)| *message)
    }

    /// Those before a position.
    pub(super) fn messages(&self, before: i64) -> impl Iterator<Item = NamedMessage> {
        self.messages.range(..before).map(|(_, (_, message))| *message)
    }

    /// The position behind the last message.
    pub(super) fn end(&self) -> i64 {
        self.messages.last_key_value().map_or(0, |(position, _)| position + 1)
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
        }
        self.messages.extend(changed.iter().map(|text| (text.message.position, (text.change, text.message))));
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

/// Texts that were looked through lately, the latest last.
#[derive(Default)]
pub(crate) struct TextCache(Mutex<Vec<(ChatId, Arc<ChatTexts>)>>);

impl TextCache {
    /// The texts of `chat` as they are in the store. Who comes meanwhile waits, for making an index twice takes longer.
    pub(super) fn of(&self, store: &Read<'_>, chat: ChatId) -> Result<Arc<ChatTexts>, StoreError> {
        let mut chats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = store.message_texts().revision(chat)?;
        let known = chats.iter().position(|(known, _)| *known == chat).map(|place| chats.remove(place).1);
        let texts = match known {
            Some(known) if known.revision == revision => known,
            known => {
                let mut texts = known.map(Arc::unwrap_or_clone).unwrap_or_default();
                texts.renew(store, chat, revision)?;
                Arc::new(texts)
            }
        };
        if chats.len() >= CHATS {
            chats.remove(0);
        }
        chats.push((chat, Arc::clone(&texts)));
        Ok(texts)
    }
}
