//! Executes the memory commands in the user's message, in the transaction that stores the message.

use domain::chat::Chat;
use domain::memory::{MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryScope, MemoryType};
use domain::persona::Persona;
use domain::{MemoryId, MessageId, Timestamp};
use recall::command_parser::{MemoryCommand, memory_commands, says_more};
use recall::tokens;
use recall::tokens::same_stem;
use store::{Query, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{Changed, Event};
use crate::library::memories::{exclusion, memory};
use crate::recall_service::recall::{pair, scopes};
use crate::turn::commands::{Commands, forget_messages};

/// Importance, 1 to 10, of a memory that the user asked for.
pub(crate) const IMPORTANCE: u8 = 8;
/// Importance of a message that only consists of the command. The memory has its content, and
/// including it twice would cost tokens.
const COMMAND_IMPORTANCE: u8 = 1;
/// Number of memories that are searched for the one to forget.
const LOOKED_AT: u32 = 20;

/// The effect of a command.
#[derive(Debug, Clone)]
pub(crate) enum CommandResult {
    Remembered(Memory),
    Forgot(Memory),
}

/// A message of the user, with its chat and persona.
pub(crate) struct CommandMessage<'a> {
    pub(crate) chat: &'a Chat,
    pub(crate) persona: &'a Persona,
    pub(crate) message: MessageId,
    pub(crate) text: &'a str,
    pub(crate) now: Timestamp,
    /// A program with a limited key sent it, which may not forget anything.
    pub(crate) limited: bool,
}

/// Executes the commands in `said`, in order.
pub(crate) fn obey(
    store: &mut WriteTransaction<'_>,
    said: &CommandMessage<'_>,
) -> Result<Vec<CommandResult>, StoreError> {
    execute(store, said, memory_commands(said.text))
}

/// Executes the commands in `said` that the text before the edit did not have. If a memory of the
/// message still exists, it stays as it is.
pub(crate) fn obey_edit(
    store: &mut WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    before: &str,
) -> Result<Vec<CommandResult>, StoreError> {
    let stands = !store
        .memories_mut()
        .ids_by_source_message(said.message)?
        .is_empty();
    let obeyed = memory_commands(before);
    let new = |wish: &MemoryCommand| match wish {
        MemoryCommand::Remember(_) => !stands || !obeyed.contains(wish),
        MemoryCommand::Forget(_) => !obeyed.contains(wish),
    };
    execute(
        store,
        said,
        memory_commands(said.text).into_iter().filter(new),
    )
}

fn execute(
    store: &mut WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    wishes: impl IntoIterator<Item = MemoryCommand>,
) -> Result<Vec<CommandResult>, StoreError> {
    let mut done = Vec::new();
    for wish in wishes {
        done.extend(match wish {
            MemoryCommand::Remember(thing) => Some(remember(store, said, &thing)?),
            MemoryCommand::Forget(_) if said.limited => None,
            MemoryCommand::Forget(thing) => forget(store, said, &thing)?,
        });
    }
    Ok(done)
}

fn remember(
    store: &mut WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    thing: &str,
) -> Result<CommandResult, StoreError> {
    let memory = Memory {
        id: MemoryId(Uuid::now_v7()),
        kind: MemoryType::Fact,
        // In a group scene everybody present heard it.
        scope: if store.groups().members(said.chat.id)?.is_empty() {
            pair(said.chat, said.persona.id)
        } else {
            MemoryScope::Chat(said.chat.id)
        },
        text: format!("{} said: \"{thing}\"", said.persona.name),
        importance: IMPORTANCE,
        origin: MemoryOrigin::Command,
        confidence: MAX_CONFIDENCE,
        merged_sources: Vec::new(),
        archived: None,
        pinned: false,
        sources: vec![said.message],
        created: said.now,
        updated: said.now,
    };
    store.memories_mut().insert(&memory)?;
    if !says_more(said.text) {
        store
            .messages_mut()
            .set_importance(said.message, Some(COMMAND_IMPORTANCE))?;
    }
    Ok(CommandResult::Remembered(memory))
}

/// The best memory with every one of `words`. A memory that the message `asking` asked for is not
/// the one to forget.
fn memory_with(
    store: &WriteTransaction<'_>,
    chat: &Chat,
    persona: &Persona,
    words: &[String],
    asking: Option<MessageId>,
) -> Result<Option<Memory>, StoreError> {
    let query = Query::any_word(words.iter().map(String::as_str));
    let own = &scopes(chat, persona.id)[..2];
    let found = store.memories().search(own, &query, LOOKED_AT)?;
    let has_all = |memory: &Memory| {
        let said = tokens::terms(&memory.text, &[]);
        words
            .iter()
            .all(|word| said.iter().any(|other| same_stem(word, other)))
    };
    let older = |memory: &Memory| asking.is_none_or(|message| !memory.sources.contains(&message));
    Ok(found
        .into_iter()
        .map(|found| found.memory)
        .find(|memory| older(memory) && has_all(memory)))
}

/// Forgets the best memory that has every content word of `thing`; `None` if there is none.
pub(crate) fn forget_memory(
    store: &mut WriteTransaction<'_>,
    chat: &Chat,
    persona: &Persona,
    thing: &str,
    now: Timestamp,
) -> Result<Option<Memory>, StoreError> {
    let words = tokens::terms(thing, &[&persona.name]);
    let Some(memory) =
        memory_with(store, chat, persona, &words, None)?.filter(|_| !words.is_empty())
    else {
        return Ok(None);
    };
    exclusion::forget(store, memory.id, now)?;
    Ok(Some(memory))
}

/// Forgets the best memory that has every content word of the command, or else the messages that
/// say it. In doubt it forgets nothing.
fn forget(
    store: &mut WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    thing: &str,
) -> Result<Option<CommandResult>, StoreError> {
    let words = tokens::terms(thing, &[&said.persona.name]);
    if words.is_empty() {
        return Ok(None);
    }
    let known = memory_with(store, said.chat, said.persona, &words, Some(said.message))?;
    let known = match known {
        Some(known) => Some(known),
        None => forget_messages::remember(store, said, &words)?,
    };
    let Some(memory) = known else { return Ok(None) };
    exclusion::forget(store, memory.id, said.now)?;
    // The command repeats what is to be forgotten, so it is excluded from recall too.
    store
        .messages_mut()
        .exclude_chat_for_good(said.message, memory.id)?;
    Ok(Some(CommandResult::Forgot(memory)))
}

impl Commands {
    /// Announces in the chat what was done.
    pub(crate) fn tell(&self, chat: &Chat, done: Vec<CommandResult>) {
        let any = !done.is_empty();
        for done in done {
            let id = chat.id;
            self.base().events().announce(match done {
                CommandResult::Remembered(memory) => Event::Remembered {
                    chat: id,
                    memory: memory::shown(memory, None),
                },
                CommandResult::Forgot(memory) => Event::Forgot {
                    chat: id,
                    memory: memory::shown(memory, None),
                },
            });
        }
        if any {
            self.base()
                .events()
                .changed(Changed::Memories, Some(chat.character.to_string()));
        }
    }
}
