//! Where a turn looks for what was said: in its own chat before the window (S2.15), and in others of the same pair (S4.62).

use std::sync::Arc;

use context::frame::HistoryMessage;
use domain::chat::{Chat, Role};
use domain::{MessageId, PersonaId};
use store::{Read, StoreError, Stretch};

use super::asking;
use super::by_words::ByWords;
use super::older::{self, Older, Question};
use super::sense::Understood;
use super::texts::TextCache;
use super::things::things;
use crate::Engine;
use crate::answer::Answerer;
use crate::collect::Collected;
use crate::error::Answer;
use crate::personas::unless_chosen;

/// Chats of a pair that are looked through, the latest first.
const OTHER_CHATS: u32 = 50;
/// Bytes of a token, about, where it is only to be known what may leave the window this turn.
const BYTES_A_TOKEN: usize = 3;

/// What is looked for by words, and where.
struct Looking {
    chat: Chat,
    /// The first message of the chat that is sure to stay in the window.
    first: Option<MessageId>,
    persona: Option<PersonaId>,
    /// Whom the user plays where nobody is chosen.
    default: Option<PersonaId>,
    others: bool,
    texts: Arc<TextCache>,
    words: Vec<String>,
}

impl Looking {
    fn by_words(&self, store: &Read<'_>) -> Result<ByWords, StoreError> {
        let chat = self.chat.id;
        let before = self.first.map(|first| store.messages().position(first)).transpose()?.flatten();
        let mut stretches = vec![Stretch { chat, before: before.unwrap_or(0) }];
        // In a group others listen.
        if self.others && store.groups().members(chat)?.is_empty() {
            let played = unless_chosen(&store.personas().list()?, self.default).map(|persona| persona.id);
            let pair = store.chats().of_pair(&self.chat, self.persona, played == self.persona, OTHER_CHATS)?;
            stretches.extend(pair.into_iter().map(|chat| Stretch { chat, before: i64::MAX }));
        }
        ByWords::of(store, &self.texts, &stretches, &self.words)
    }
}

impl Engine {
    /// What was said before the window and in other chats, if this turn may ask for it.
    pub(super) async fn older(&self, collected: &Collected, answerer: &Answerer, words: Vec<String>) -> Answer<Older> {
        if !asking::asks(collected) {
            return Ok(Older::default());
        }
        let looking = self.looking(collected, answerer, words);
        let (about, several) = (asking::about(collected), !collected.speakers.others.is_empty());
        let mut things = things(asking::last_said(collected), Role::User);
        // In a group several are "you".
        things.retain(|thing| !several || thing.is_users());
        let (cache, clock, wordless) = (self.reading().cache(), self.clock().clone(), looking.words.is_empty());
        let find = move |store: &Read<'_>, found: &ByWords, meaning: Option<Understood>| {
            if found.has_no_messages() || wordless && meaning.is_none() {
                return Ok(Older::default());
            }
            older::find(store, found, &Question { about, things, several, meaning }, (&cache, &clock))
        };
        if let Some(meaning) = self.understood_at_once(collected) {
            let all_in_one = move |store: &Read<'_>| find(store, &looking.by_words(store)?, meaning);
            return Ok(self.store().read(all_in_one).await?);
        }
        // The words are looked for while the encoder reads them.
        let by_words = self.store().read(move |store| looking.by_words(store));
        let (found, meaning) = tokio::join!(by_words, self.understood(collected));
        let found = found?;
        Ok(self.store().read(move |store| find(store, &found, meaning)).await?)
    }

    fn looking(&self, collected: &Collected, answerer: &Answerer, words: Vec<String>) -> Looking {
        // The anchor may move this turn, so what is about to leave the window is looked through as well.
        let window = likely_window(&collected.history, answerer.budget.history_cap.min(answerer.budget.room()));
        Looking {
            chat: collected.chat.clone(),
            first: window.first().map(|message| message.id),
            persona: Some(collected.persona.id).filter(|id| !id.0.is_nil()),
            default: self.default_persona(),
            others: collected.values.memory_other_chats,
            texts: self.reading().texts(),
            words,
        }
    }
}

/// The newest messages, as many as are sure to stay in the window: three quarters of the history's budget, by a guess. What
/// stands before may leave, and whatever stays all the same is left out by the plan (invariant 3).
fn likely_window(history: &[HistoryMessage], tokens: u32) -> &[HistoryMessage] {
    let bytes = tokens as usize * BYTES_A_TOKEN / 4 * 3;
    let all: usize = history.iter().map(|message| message.text.len()).sum();
    if all <= bytes {
        return history;
    }
    let mut room = bytes / 4 * 3;
    let near = history.iter().rev().take_while(|message| {
        let left = room.checked_sub(message.text.len());
        room = left.unwrap_or(0);
        left.is_some()
    });
    &history[history.len() - near.count().max(1)..]
}
