//! "Forget that ..." about something that never became a memory: the messages that say it are
//! excluded from recall. A memory of them is created and forgotten at once, so that the user can
//! undo it as usual. It is archived, because nobody asked to remember it.

use domain::chat::Role;
use domain::memory::{
    ArchiveReason, ArchivedState, MAX_CONFIDENCE, Memory, MemoryOrigin, MemoryType,
};
use domain::{ChatId, MemoryId};
use recall::command_parser::sentences;
use recall::tokens::{same_stem, terms};
use store::{MessageKey, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::recall_service::recall::pair;
use crate::turn::commands::tell::CommandMessage;

/// Number of the pair's chats that are searched, latest first.
const CHATS: u32 = 50;
/// Maximum number of messages that one command excludes, newest first. The user can delete more by
/// hand.
const MESSAGES: usize = 20;
/// The same for a single word, which may occur in any context.
const OF_A_WORD: usize = 3;
/// Maximum characters of the sentence that is shown.
const SHOWN: usize = 200;
/// Number of characters at the beginning that all forms of a word share.
const BEGINNING: usize = 3;
/// Medium importance, 1 to 10: the user wanted it gone.
const IMPORTANCE: u8 = 5;

/// A sentence that says what is to be forgotten.
struct MatchingSentence {
    message: MessageKey,
    sentence: String,
}

/// Creates a memory of the messages in which one sentence has all of `words`; `None` if there is
/// none. For a single word only the user's own messages are searched.
pub(crate) fn remember(
    store: &mut WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    words: &[String],
) -> Result<Option<Memory>, StoreError> {
    let mut sayings = sayings(store, said, words)?;
    sayings.retain(|saying| words.len() > 1 || saying.message.role == Role::User);
    sayings
        .sort_by_key(|saying| std::cmp::Reverse((saying.message.created, saying.message.position)));
    sayings.truncate(if words.len() > 1 { MESSAGES } else { OF_A_WORD });
    let Some(newest) = sayings.first() else {
        return Ok(None);
    };
    let memory = Memory {
        id: MemoryId(Uuid::now_v7()),
        kind: MemoryType::Fact,
        scope: pair(said.chat, said.persona.id),
        text: quoted(store, said, newest)?,
        importance: IMPORTANCE,
        origin: MemoryOrigin::Command,
        confidence: MAX_CONFIDENCE,
        merged_sources: Vec::new(),
        archived: None,
        pinned: false,
        created: newest.message.created,
        updated: said.now,
        sources: sayings.iter().map(|saying| saying.message.id).collect(),
    };
    store.memories_mut().insert(&memory)?;
    store.memories_mut().archive(
        &memory,
        ArchivedState {
            reason: ArchiveReason::Retired,
            since: said.now,
            replaced_by: None,
        },
    )?;
    Ok(Some(memory))
}

fn sayings(
    store: &WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    words: &[String],
) -> Result<Vec<MatchingSentence>, StoreError> {
    let unset = said.chat.persona.is_none();
    let others = store
        .chats()
        .of_pair(said.chat, Some(said.persona.id), unset, CHATS)?;
    let mut sayings = Vec::new();
    for chat in [said.chat.id].into_iter().chain(others) {
        sayings.extend(
            in_chat(store, chat, words)?
                .into_iter()
                .filter(|saying| saying.message.id != said.message),
        );
    }
    Ok(sayings)
}

fn in_chat(
    store: &WriteTransaction<'_>,
    chat: ChatId,
    words: &[String],
) -> Result<Vec<MatchingSentence>, StoreError> {
    let texts = store.message_texts().changed(chat, -1)?;
    let beginnings: Vec<String> = words
        .iter()
        .map(|word| word.chars().take(BEGINNING).collect())
        .collect();
    let saying = |text: store::VisibleText| {
        // Most messages do not match, and splitting them into sentences would be slow.
        let letters = text.text.to_lowercase();
        beginnings
            .iter()
            .all(|beginning| letters.contains(beginning))
            .then_some(())?;
        let sentence = sentences(&text.text)
            .find(|sentence| says(sentence, words))?
            .to_owned();
        Some(MatchingSentence {
            message: text.message,
            sentence,
        })
    };
    Ok(texts.into_iter().filter_map(saying).collect())
}

/// Whether the sentence says all of `words`. A question does not say what it asks about.
fn says(sentence: &str, words: &[String]) -> bool {
    if sentence.ends_with('?') {
        return false;
    }
    let said = terms(sentence, &[]);
    words
        .iter()
        .all(|word| said.iter().any(|other| same_stem(word, other)))
}

/// The sentence, with its speaker if that is certain: in a group chat it may be anybody.
fn quoted(
    store: &WriteTransaction<'_>,
    said: &CommandMessage<'_>,
    saying: &MatchingSentence,
) -> Result<String, StoreError> {
    let alone = store.groups().members(said.chat.id)?.is_empty();
    let speaker = match saying.message.role {
        Role::User => {
            let named = store
                .groups()
                .speakers(said.chat.id)?
                .remove(&saying.message.id);
            Some(named.map_or_else(|| said.persona.name.clone(), |speaker| speaker.name))
        }
        Role::Character if alone => store
            .characters()
            .get(said.chat.character)?
            .map(|character| character.name),
        _ => None,
    };
    let sentence: String = saying
        .sentence
        .trim_end_matches(['.', '!'])
        .chars()
        .take(SHOWN)
        .collect();
    Ok(speaker.map_or_else(
        || format!("\"{sentence}\""),
        |name| format!("{name} said: \"{sentence}\""),
    ))
}
