//! Chooses where a turn searches for earlier messages: in its own chat before the window, and in
//! other chats of the same pair.

use std::collections::HashSet;
use std::sync::Arc;

use context::frame::HistoryMessage;
use domain::chat::{Chat, MessageRange, Role};
use domain::{MessageId, PersonaId};
use recall::possessions::possessions;
use recall::query_embedding::Understood;
use store::{ReadTransaction, StoreError};

use crate::base::error::ApiResult;
use crate::base::records::user_names::unless_chosen;
use crate::recall_service::embeddings::text_cache::TextCache;
use crate::recall_service::handle::RecallService;
use crate::recall_service::messages::lexical::LexicalSearch;
use crate::recall_service::messages::older::{self, Older, Question};
use crate::recall_service::query::TurnQuery;
use crate::recall_service::query_terms;

/// Number of other chats of a pair that are searched, latest first.
const OTHER_CHATS: u32 = 50;
/// Approximate bytes per token, to estimate what may leave the window in this turn.
const BYTES_A_TOKEN: usize = 3;

/// The words to search for, and where.
struct SearchScope {
    chat: Chat,
    /// The first message that is sure to stay in the window.
    first: Option<MessageId>,
    persona: Option<PersonaId>,
    /// The persona of chats in which none is chosen.
    default: Option<PersonaId>,
    others: bool,
    missed: Arc<HashSet<MessageId>>,
    texts: Arc<TextCache>,
    words: Vec<String>,
}

impl SearchScope {
    fn by_words(&self, store: &ReadTransaction<'_>) -> Result<LexicalSearch, StoreError> {
        let chat = self.chat.id;
        let before = self
            .first
            .map(|first| store.messages().position(first))
            .transpose()?
            .flatten();
        let mut stretches = vec![MessageRange {
            chat,
            before: before.unwrap_or(0),
        }];
        // A group chat recalls nothing from other chats, because other characters listen.
        if self.others && store.groups().members(chat)?.is_empty() {
            let played =
                unless_chosen(&store.personas().list()?, self.default).map(|persona| persona.id);
            let pair = store.chats().of_pair(
                &self.chat,
                self.persona,
                played == self.persona,
                OTHER_CHATS,
            )?;
            stretches.extend(pair.into_iter().map(|chat| MessageRange {
                chat,
                before: i64::MAX,
            }));
        }
        Ok(
            LexicalSearch::of(store, &self.texts, &stretches, &self.words)?
                .without(self.missed.clone()),
        )
    }
}

impl RecallService {
    /// Earlier messages of this chat and of others, if this turn asks for something.
    pub(crate) async fn older(&self, turn: &TurnQuery<'_>, words: Vec<String>) -> ApiResult<Older> {
        if !query_terms::asks(turn) {
            return Ok(Older::default());
        }
        let looking = self.looking(turn, words);
        let about = query_terms::about(turn);
        let several = !turn.speakers.others.is_empty();
        let mut possessions = possessions(query_terms::last_said(turn.history), Role::User);
        // In a group chat "you" may be any of the characters.
        possessions.retain(|thing| !several || thing.is_users());
        let cache = self.reading().cache();
        let clock = self.base().clock().clone();
        let wordless = looking.words.is_empty();
        let find = move |store: &ReadTransaction<'_>,
                         found: &LexicalSearch,
                         meaning: Option<Understood>| {
            if found.has_no_messages() || wordless && meaning.is_none() {
                return Ok(Older::default());
            }
            older::find(
                store,
                found,
                &Question {
                    about,
                    possessions,
                    several,
                    meaning,
                },
                (&cache, &clock),
            )
        };
        if let Some(meaning) = self.understood_at_once(turn) {
            let all_in_one =
                move |store: &ReadTransaction<'_>| find(store, &looking.by_words(store)?, meaning);
            return Ok(self.base().store().read(all_in_one).await?);
        }
        // The lexical search runs while the encoder embeds the question, and so does the read of
        // vectors that are not in memory.
        let vectors = self.reading().cache();
        let encoder = self.reading().encoder();
        let by_words = self.base().store().read(move |store| {
            let found = looking.by_words(store)?;
            if let Some(encoder) = encoder {
                vectors.load(store, &found.stretches, encoder.model())?;
            }
            Ok(found)
        });
        let (found, meaning) = tokio::join!(by_words, self.understood(turn));
        let found = found?;
        Ok(self
            .base()
            .store()
            .read(move |store| find(store, &found, meaning))
            .await?)
    }

    fn looking(&self, turn: &TurnQuery<'_>, words: Vec<String>) -> SearchScope {
        // The window may move in this turn, so messages that may leave it are searched as well.
        let window = likely_window(turn.history, turn.history_tokens);
        SearchScope {
            chat: turn.chat.clone(),
            first: window.first().map(|message| message.id),
            persona: Some(turn.persona.id).filter(|id| !id.0.is_nil()),
            default: self.library().personas.default_persona(),
            others: turn.values.memory_other_chats,
            missed: turn.known.all_missed(),
            texts: self.reading().texts(),
            words,
        }
    }
}

/// The newest messages that are sure to stay in the window, by a cautious estimate. Older ones may
/// leave; the plan drops what was recalled but is still in the window.
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
