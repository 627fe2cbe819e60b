//! Keeps the names that the user had: a message has the name of its persona at that time. Messages
//! have the current name until it is about to change, so most chats store none.

use domain::PersonaId;
use domain::chat::Chat;
use domain::persona::Persona;
use store::{StoreError, WriteTransaction};

/// Keeps the current name in the chats of a persona before it is renamed or deleted. `default` is
/// the default persona of the settings; its chats include those without a persona.
pub(crate) fn keep_of_persona(
    store: &mut WriteTransaction<'_>,
    id: PersonaId,
    default: Option<PersonaId>,
) -> Result<(), StoreError> {
    let Some(persona) = store.personas().get(id)? else {
        return Ok(());
    };
    for chat in store.chats().played_as(Some(id))? {
        store.groups_mut().keep_user_name(chat, &persona.name)?;
    }
    let by_default =
        unless_chosen(&store.personas().list()?, default).is_some_and(|default| default.id == id);
    if by_default {
        keep_of_default(store, &persona.name)
    } else {
        Ok(())
    }
}

/// Keeps the name of the default persona in the chats without a persona. Imported chats have a name
/// of their own.
pub(crate) fn keep_of_default(
    store: &mut WriteTransaction<'_>,
    name: &str,
) -> Result<(), StoreError> {
    for chat in store.chats().played_as(None)? {
        let foreign = store.foreign().chat(chat)?;
        if foreign.is_none_or(|foreign| foreign.user_name.trim().is_empty()) {
            store.groups_mut().keep_user_name(chat, name)?;
        }
    }
    Ok(())
}

/// Keeps the name in one chat before another persona plays there.
pub(crate) fn keep_in_chat(
    store: &mut WriteTransaction<'_>,
    chat: &Chat,
    name: &str,
) -> Result<(), StoreError> {
    store.groups_mut().keep_user_name(chat.id, name)
}

/// The persona if none is chosen: the default, or else the first. `None` if there are no personas.
pub(crate) fn unless_chosen(personas: &[Persona], default: Option<PersonaId>) -> Option<&Persona> {
    let chosen = default.and_then(|id| personas.iter().find(|persona| persona.id == id));
    chosen.or(personas.first())
}
