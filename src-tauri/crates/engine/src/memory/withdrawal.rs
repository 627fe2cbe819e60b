//! What is gone, or counts no longer, is quoted by no prompt to come. The chats that quoted it begin a new epoch.

use domain::document::DocumentOwner;
use domain::settings::Owner;
use domain::{ChatId, DocumentId, LorebookId, MessageId, PersonaId};
use store::{StoreError, Write};

/// Messages behind one that is reworded, for which facts are looked for once more with it: those of an evening's last exchanges. An
/// endpoint costs money, and what the user made of facts would be learned again beside it.
const LATELY: u32 = 20;

/// Takes what quotes a message out of every prompt to come, and what was made from it too (S2.16; memory.md, group G).
pub(crate) fn withdraw(store: &mut Write<'_>, message: MessageId) -> Result<(), StoreError> {
    for memory in store.memories_mut().made_from(message)? {
        store.memories_mut().withdraw(memory.0)?;
    }
    store.memories_mut().withdraw(message.0)
}

/// [`withdraw`] where a message is to say something else: facts are looked for once more, if it was read lately from it on, else in
/// it alone.
pub(crate) fn reworded(store: &mut Write<'_>, message: MessageId) -> Result<(), StoreError> {
    withdraw(store, message)?;
    store.messages_mut().learn_again_from(message, LATELY)?;
    store.messages_mut().learn_anew(message)
}

/// Takes what was made from a chat out of every prompt to come.
pub(crate) fn withdraw_chat(store: &mut Write<'_>, chat: ChatId) -> Result<(), StoreError> {
    let made = store.memories_mut().made_in(chat)?;
    made.into_iter().try_for_each(|memory| store.memories_mut().withdraw(memory.0))?;
    let quoted = store.memories_mut().quoted_elsewhere(chat)?;
    quoted.into_iter().try_for_each(|message| store.memories_mut().withdraw(message.0))
}

/// Takes what quotes a document out of every prompt to come.
pub(crate) fn withdraw_document(store: &mut Write<'_>, document: DocumentId) -> Result<(), StoreError> {
    store.memories_mut().withdraw(document.0)
}

/// Takes what quotes the documents and the memories of a lorebook that counts no longer out of every prompt to come.
pub(crate) fn withdraw_book(store: &mut Write<'_>, book: LorebookId) -> Result<(), StoreError> {
    let documents = store.documents().of(DocumentOwner::Lorebook(book))?;
    documents.into_iter().try_for_each(|document| withdraw_document(store, document.id))?;
    let memories = store.memories_mut().of_world(book)?;
    store.memories_mut().withdraw_all(&memories.into_iter().map(|id| id.0).collect())
}

/// Takes all that was called to mind out of the chats that are played as `persona`, or that have none of their own: somebody else
/// plays there from now on, for whom other memories and books count.
pub(crate) fn withdraw_recalled(store: &mut Write<'_>, persona: Option<PersonaId>) -> Result<(), StoreError> {
    let chats = store.chats().played_as(persona)?;
    chats.into_iter().try_for_each(|chat| store.memories_mut().withdraw_recalled(chat))
}

/// The setting that says whether a chat recalls anything, and that which says whether it does from others.
const SWITCHES: [&str; 2] = ["memory", "memory_other_chats"];

/// Where a switch is set to something else than `on`: takes all that was called to mind out of the chats in which it counts (S3.24).
/// What `encoder` passed over while memory was off is to be read.
pub(crate) fn switched(
    store: &mut Write<'_>,
    owner: Owner,
    (key, on): (&str, bool),
    encoder: Option<&str>,
) -> Result<(), StoreError> {
    if !SWITCHES.contains(&key) {
        return Ok(());
    }
    encoder.map_or(Ok(()), |model| store.vectors_mut().read_anew(model))?;
    if on {
        return Ok(());
    }
    let chats = match owner {
        Owner::Chat(chat) => vec![chat],
        Owner::Character(character) => store.chats().ids_even_deleted(Some(character))?,
        Owner::Global | Owner::Model(_) => store.chats().ids_even_deleted(None)?,
    };
    chats.into_iter().try_for_each(|chat| store.memories_mut().withdraw_recalled(chat))
}
