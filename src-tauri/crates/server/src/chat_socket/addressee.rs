//! Finds the chat that a frame is meant for, within what the key allows.

use engine::Engine;
use engine::api::{ApiGrant, CharacterSummary, ChatSummary};

use super::protocol::{Addressee, ServerEvent};

/// Finds the chat: the named one; the newest chat with the named character, else a new one; `current`; else the newest
/// chat of all.
///
/// # Errors
/// An error event if there is no such chat, or if the key does not allow it.
pub(super) async fn find(
    engine: &Engine,
    grant: &ApiGrant,
    to: Addressee,
    current: Option<&str>,
) -> Result<String, ServerEvent> {
    match (to.chat.as_deref().or(current.filter(|_| to.character.is_none())), to.character) {
        (Some(chat), None) => allowed_chat(engine, grant, chat).await,
        (Some(chat), Some(character)) => {
            let character = find_character(engine, grant, &character).await?;
            let found = chats(engine).await?.into_iter().find(|one| one.id == chat && one.character == character.id);
            found.map(|chat| chat.id).ok_or_else(|| no_chat(chat))
        }
        (None, Some(character)) => {
            let character = find_character(engine, grant, &character).await?;
            match newest(chats(engine).await?, |chat| chat.character == character.id) {
                Some(chat) => allowed_chat(engine, grant, &chat.id).await,
                None => Ok(engine.new_chat(character.id).await?.id),
            }
        }
        (None, None) => {
            let newest = newest(chats(engine).await?, |chat| grant.allows_character(&chat.character));
            let chat = newest.ok_or_else(|| {
                ServerEvent::error("not_found", "There is no chat yet.", "Name a character in the field `character`.")
            })?;
            allowed_chat(engine, grant, &chat.id).await
        }
    }
}

async fn chats(engine: &Engine) -> Result<Vec<ChatSummary>, ServerEvent> {
    Ok(engine.list_chats().await?)
}

fn newest(chats: Vec<ChatSummary>, wanted: impl Fn(&ChatSummary) -> bool) -> Option<ChatSummary> {
    chats.into_iter().filter(wanted).max_by(|one, other| one.updated.cmp(&other.updated))
}

/// A group chat is allowed if all its characters are.
async fn allowed_chat(engine: &Engine, grant: &ApiGrant, id: &str) -> Result<String, ServerEvent> {
    let listed = chats(engine).await?.into_iter().find(|chat| chat.id == id);
    let chat = listed.filter(|chat| grant.allows_character(&chat.character)).ok_or_else(|| no_chat(id))?;
    if grant.characters.is_some() {
        let members = engine.whole_chat(chat.id.clone()).await?.members;
        if !members.iter().all(|member| grant.allows_character(&member.id)) {
            return Err(no_chat(id));
        }
    }
    Ok(chat.id)
}

/// A chat that the key does not allow looks like one that does not exist.
fn no_chat(id: &str) -> ServerEvent {
    let shown: String = id.chars().take(80).collect();
    ServerEvent::error("not_found", format!("There is no chat \"{shown}\" for this key."), "Use the id of a chat.")
}

async fn find_character(engine: &Engine, grant: &ApiGrant, wanted: &str) -> Result<CharacterSummary, ServerEvent> {
    let mut all = engine.list_characters().await?;
    all.retain(|one| grant.allows_character(&one.id));
    let mut named: Vec<_> =
        all.into_iter().filter(|one| one.id == wanted || one.name.to_lowercase() == wanted.to_lowercase()).collect();
    match (named.pop(), named.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => {
            let shown: String = wanted.chars().take(80).collect();
            let message = format!("Several characters have the name \"{shown}\".");
            Err(ServerEvent::error("ambiguous", message, "Use the id of the character."))
        }
        (None, _) => {
            let shown: String = wanted.chars().take(80).collect();
            let message = format!("There is no character \"{shown}\" for this key.");
            Err(ServerEvent::error("not_found", message, "Use the name or the id of a character."))
        }
    }
}
