//! What the user asks of the memory while they talk is done at once, in the transaction that keeps their words (S3.31).

use domain::chat::Chat;
use domain::memory::{CERTAIN, Memory, MemoryOrigin, MemoryType};
use domain::persona::Persona;
use domain::{MemoryId, MessageId, Timestamp};
use store::{Query, StoreError, Write};
use uuid::Uuid;

use super::spoken::{Asked, asked, says_more};
use super::terms::same_stem;
use super::{pair, scopes, terms, unremembered, untold};
use crate::Engine;
use crate::api::{Changed, Event};
use crate::memory::panel;

/// Of what the user wants remembered.
const IMPORTANCE: u8 = 8;
/// Of the words that it was said in: the memory keeps them, and saying them twice would cost the tokens of something else.
const KEPT_ANYWAY: u8 = 1;
/// Memories that are looked at for one to forget.
const LOOKED_AT: u32 = 20;

/// What was done.
#[derive(Debug, Clone)]
pub(crate) enum Done {
    Remembered(Memory),
    Forgot(Memory),
}

/// Who talks with whom, and in which message.
pub(crate) struct Said<'a> {
    pub(crate) chat: &'a Chat,
    pub(crate) persona: &'a Persona,
    pub(crate) message: MessageId,
    pub(crate) text: &'a str,
    pub(crate) now: Timestamp,
}

/// Does what `said` asks for, in its order.
pub(crate) fn obey(store: &mut Write<'_>, said: &Said<'_>) -> Result<Vec<Done>, StoreError> {
    obey_all(store, said, asked(said.text))
}

/// Does what `said` asks for and the words before it was edited did not. What was remembered of words that go on stands still.
pub(crate) fn obey_edit(store: &mut Write<'_>, said: &Said<'_>, before: &str) -> Result<Vec<Done>, StoreError> {
    let stands = !store.memories_mut().made_from(said.message)?.is_empty();
    let obeyed = asked(before);
    let new = |wish: &Asked| match wish {
        Asked::Remember(_) => !stands || !obeyed.contains(wish),
        Asked::Forget(_) => !obeyed.contains(wish),
    };
    obey_all(store, said, asked(said.text).into_iter().filter(new))
}

fn obey_all(
    store: &mut Write<'_>,
    said: &Said<'_>,
    wishes: impl IntoIterator<Item = Asked>,
) -> Result<Vec<Done>, StoreError> {
    let mut done = Vec::new();
    for wish in wishes {
        done.extend(match wish {
            Asked::Remember(thing) => Some(remember(store, said, &thing)?),
            Asked::Forget(thing) => forget(store, said, &thing)?,
        });
    }
    Ok(done)
}

fn remember(store: &mut Write<'_>, said: &Said<'_>, thing: &str) -> Result<Done, StoreError> {
    let memory = Memory {
        id: MemoryId(Uuid::now_v7()),
        kind: MemoryType::Fact,
        scope: pair(said.chat, said.persona.id),
        text: format!("{} said: \"{thing}\"", said.persona.name),
        importance: IMPORTANCE,
        origin: MemoryOrigin::Rule,
        confidence: CERTAIN,
        echoes: Vec::new(),
        archived: None,
        pinned: false,
        sources: vec![said.message],
        created: said.now,
        updated: said.now,
    };
    store.memories_mut().insert(&memory)?;
    if !says_more(said.text) {
        store.messages_mut().set_importance(said.message, Some(KEPT_ANYWAY))?;
    }
    Ok(Done::Remembered(memory))
}

/// The best one that has every word of the wish, else what was only said; none rather than a wrong one.
fn forget(store: &mut Write<'_>, said: &Said<'_>, thing: &str) -> Result<Option<Done>, StoreError> {
    let words = terms::terms(thing, &[&said.persona.name]);
    if words.is_empty() {
        return Ok(None);
    }
    let query = Query::any_of(words.iter().map(String::as_str));
    let own = &scopes(said.chat, said.persona.id)[..2];
    let found = store.memories().search(own, &query, LOOKED_AT)?;
    let has_all = |memory: &Memory| {
        let said = terms::terms(&memory.text, &[]);
        words.iter().all(|word| said.iter().any(|other| same_stem(word, other)))
    };
    // What the same message asked to remember is not what it asks to forget.
    let older = |memory: &Memory| !memory.sources.contains(&said.message);
    let known = found.into_iter().map(|found| found.memory).find(|memory| older(memory) && has_all(memory));
    let known = match known {
        Some(known) => Some(known),
        None => unremembered::remember(store, said, &words)?,
    };
    let Some(memory) = known else { return Ok(None) };
    untold::forget(store, memory.id, said.now)?;
    // The wish says once more what is to be forgotten.
    store.messages_mut().forget_words_in(said.message, memory.id)?;
    Ok(Some(Done::Forgot(memory)))
}

impl Engine {
    /// Says in the chat what was done.
    pub(crate) fn tell(&self, chat: &Chat, done: Vec<Done>) {
        let any = !done.is_empty();
        for done in done {
            let id = chat.id.to_string();
            self.events().announce(match done {
                Done::Remembered(memory) => Event::Remembered { chat: id, memory: panel::shown(memory, None) },
                Done::Forgot(memory) => Event::Forgot { chat: id, memory: panel::shown(memory, None) },
            });
        }
        if any {
            self.events().changed(Changed::Memories, Some(chat.character.to_string()));
        }
    }
}
