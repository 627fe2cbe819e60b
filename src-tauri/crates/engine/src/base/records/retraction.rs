//! Retraction: removes content that was deleted or no longer applies from all stored context blocks
//! and digests. The chats that quoted it begin a new epoch.

use domain::document::DocumentOwner;
use domain::settings::Owner;
use domain::{ChatId, DocumentId, LorebookId, MessageId, PersonaId};
use store::{StoreError, WriteTransaction};

/// Number of messages after a reworded one from which facts are extracted again: the last exchanges
/// of a typical session. More would cost money on endpoints, and would bring back facts that the
/// user has changed.
const RECENT_MESSAGES: u32 = 20;

/// Retracts a message and the memories that were made from it.
pub(crate) fn withdraw(
    store: &mut WriteTransaction<'_>,
    message: MessageId,
) -> Result<(), StoreError> {
    for memory in store.memories_mut().ids_by_source_message(message)? {
        store.memories_mut().retract(memory.0)?;
    }
    store.memories_mut().retract(message.0)
}

/// [`withdraw`] for a message that gets a new text. Facts are extracted again: from this message on
/// if its facts were extracted only lately, otherwise from this message alone.
pub(crate) fn reworded(
    store: &mut WriteTransaction<'_>,
    message: MessageId,
) -> Result<(), StoreError> {
    withdraw(store, message)?;
    store
        .messages_mut()
        .restart_extraction_from(message, RECENT_MESSAGES)?;
    store.messages_mut().queue_reextraction(message)
}

/// Retracts the memories that were made in a chat, and its messages that other chats quote.
pub(crate) fn withdraw_chat(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
) -> Result<(), StoreError> {
    let made = store.memories_mut().ids_by_chat(chat)?;
    made.into_iter()
        .try_for_each(|memory| store.memories_mut().retract(memory.0))?;
    let quoted = store.memories_mut().quoted_elsewhere(chat)?;
    quoted
        .into_iter()
        .try_for_each(|message| store.memories_mut().retract(message.0))
}

/// Retracts a document.
pub(crate) fn withdraw_document(
    store: &mut WriteTransaction<'_>,
    document: DocumentId,
) -> Result<(), StoreError> {
    store.memories_mut().retract(document.0)
}

/// Retracts the documents and memories of a lorebook that no longer applies.
pub(crate) fn withdraw_book(
    store: &mut WriteTransaction<'_>,
    book: LorebookId,
) -> Result<(), StoreError> {
    let documents = store.documents().of(DocumentOwner::Lorebook(book))?;
    documents
        .into_iter()
        .try_for_each(|document| withdraw_document(store, document.id))?;
    let memories = store.memories_mut().ids_by_world(book)?;
    store
        .memories_mut()
        .retract_all(&memories.into_iter().map(|id| id.0).collect())
}

/// Removes everything recalled from the chats of `persona`, or from those without a persona.
/// Another persona plays there from now on, and other memories and lorebooks apply to it.
pub(crate) fn retract_recalled(
    store: &mut WriteTransaction<'_>,
    persona: Option<PersonaId>,
) -> Result<(), StoreError> {
    let chats = store.chats().played_as(persona)?;
    chats
        .into_iter()
        .try_for_each(|chat| store.memories_mut().retract_recalled(chat))
}

/// The settings that switch recall off, for a chat and for other chats.
const SWITCHES: [&str; 2] = ["memory", "memory_other_chats"];

/// Handles a new value of one of [`SWITCHES`]. If it is off, everything recalled is removed from
/// the chats that it applies to. Texts that `encoder` skipped while memory was off are queued
/// again.
pub(crate) fn switched(
    store: &mut WriteTransaction<'_>,
    owner: Owner,
    (key, on): (&str, bool),
    encoder: Option<&str>,
) -> Result<(), StoreError> {
    if !SWITCHES.contains(&key) {
        return Ok(());
    }
    encoder.map_or(Ok(()), |model| store.vectors_mut().queue_all(model))?;
    if on {
        return Ok(());
    }
    let chats = match owner {
        Owner::Chat(chat) => vec![chat],
        Owner::Character(character) => store.chats().ids_even_deleted(Some(character))?,
        Owner::Global | Owner::Model(_) => store.chats().ids_even_deleted(None)?,
    };
    chats
        .into_iter()
        .try_for_each(|chat| store.memories_mut().retract_recalled(chat))
}
