//! Finds the chat that a frame is meant for, within what the key allows.

use domain::ChatId;
use engine::Engine;
use engine::api::client::ClientError;
use engine::api::{ApiError, ApiGrant, CharacterSummary, ChatSummary};

use super::protocol::{Addressee, ServerEvent};

/// Finds the chat: the named one; the API chat of the named character, as `/v1` uses it; `current`;
/// else the newest chat. A key with limits never enters a chat of the user by itself: instead of
/// the newest chat, it gets the API chat of that chat's character.
///
/// # Errors
/// An error event if there is no such chat, or if the key does not allow it.
pub(super) async fn find(
    engine: &Engine,
    grant: &ApiGrant,
    to: Addressee,
    current: Option<ChatId>,
) -> Result<ChatId, ServerEvent> {
    let named = match to.chat {
        Some(chat) => Some(chat.parse().map_err(|_| no_chat(&chat))?),
        None => current.filter(|_| to.character.is_none()),
    };
    match (named, to.character) {
        (Some(chat), None) => allowed_chat(engine, grant, chat).await,
        (Some(chat), Some(character)) => {
            let character = find_character(engine, grant, &character).await?;
            let found = chats(engine)
                .await?
                .into_iter()
                .find(|one| one.id == chat && one.character == character.id);
            let found = found.ok_or_else(|| no_chat(&chat.to_string()))?;
            allowed_chat(engine, grant, found.id).await
        }
        (None, Some(character)) => {
            let character = find_character(engine, grant, &character).await?;
            Ok(engine.api_chat_of(grant, character.id).await?)
        }
        (None, None) => newest_chat(engine, grant).await,
    }
}

async fn newest_chat(engine: &Engine, grant: &ApiGrant) -> Result<ChatId, ServerEvent> {
    let allowed = chats(engine)
        .await?
        .into_iter()
        .filter(|chat| grant.allows_character(chat.character));
    let newest = allowed
        .max_by(|one, other| one.updated.cmp(&other.updated))
        .ok_or_else(|| {
            ServerEvent::error(
                "not_found",
                "There is no chat yet.",
                "Name a character in the field `character`.",
            )
        })?;
    if grant.is_limited() {
        Ok(engine.api_chat_of(grant, newest.character).await?)
    } else {
        allowed_chat(engine, grant, newest.id).await
    }
}

async fn chats(engine: &Engine) -> Result<Vec<ChatSummary>, ServerEvent> {
    Ok(engine.list_chats().await?)
}

async fn allowed_chat(
    engine: &Engine,
    grant: &ApiGrant,
    id: ChatId,
) -> Result<ChatId, ServerEvent> {
    match engine.api_chat(grant, id).await {
        Err(
            ClientError::Failed(ApiError::BadInput { .. } | ApiError::NotFound { .. })
            | ClientError::Forbidden(_),
        ) => Err(no_chat(&id.to_string())),
        found => Ok(found?),
    }
}

/// A chat that the key does not allow looks like one that does not exist.
fn no_chat(id: &str) -> ServerEvent {
    let shown: String = id.chars().take(80).collect();
    ServerEvent::error(
        "not_found",
        format!("There is no chat \"{shown}\" for this key."),
        "Use the id of a chat.",
    )
}

async fn find_character(
    engine: &Engine,
    grant: &ApiGrant,
    wanted: &str,
) -> Result<CharacterSummary, ServerEvent> {
    let mut all = engine.list_characters().await?;
    all.retain(|one| grant.allows_character(one.id));
    let id = wanted.parse().ok();
    let mut named: Vec<_> = all
        .into_iter()
        .filter(|one| Some(one.id) == id || one.name.to_lowercase() == wanted.to_lowercase())
        .collect();
    match (named.pop(), named.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => {
            let shown: String = wanted.chars().take(80).collect();
            let message = format!("Several characters have the name \"{shown}\".");
            Err(ServerEvent::error(
                "ambiguous",
                message,
                "Use the id of the character.",
            ))
        }
        (None, _) => {
            let shown: String = wanted.chars().take(80).collect();
            let message = format!("There is no character \"{shown}\" for this key.");
            Err(ServerEvent::error(
                "not_found",
                message,
                "Use the name or the id of a character.",
            ))
        }
    }
}
