//! Removes a persona. The texts of messages stay, without its name as their author.

use domain::persona::Persona;
use domain::{ChatId, PersonaId};
use rusqlite::{Connection, params};

use super::traces;
use crate::sql::Col;
use crate::{StoreError, WriteTransaction};

/// The author of messages that a removed persona wrote.
const NAMELESS: &str = "You";

pub(super) fn remove(
    write: &mut WriteTransaction<'_>,
    id: PersonaId,
    by_default: bool,
) -> Result<(), StoreError> {
    let persona = write.personas().get(id)?;
    let persona = persona.ok_or(StoreError::NotFound { what: "persona" })?;
    for chat in played(write, id, by_default)? {
        traces::clear_chat(write, chat)?;
        write.groups_mut().keep_user_name(chat, NAMELESS)?;
    }
    for chat in chats_with_prompts_about(write.conn, &persona)? {
        write.manifests_mut().empty_from(chat, i64::MIN)?;
        write.stale_caches_mut().mark(chat)?;
    }
    remove_name(write, &persona)?;
    write.memories_mut().count_withdrawal()?;
    write.personas_mut().delete(id)
}

/// The chats in which the user plays the persona now. Imported chats have a name of their own.
fn played(
    write: &WriteTransaction<'_>,
    id: PersonaId,
    by_default: bool,
) -> Result<Vec<ChatId>, StoreError> {
    let mut chats = write.chats().played_as(Some(id))?;
    if !by_default {
        return Ok(chats);
    }
    for chat in write.chats().played_as(None)? {
        let foreign = write.foreign().chat(chat)?;
        if foreign.is_none_or(|foreign| foreign.user_name.trim().is_empty()) {
            chats.push(chat);
        }
    }
    Ok(chats)
}

/// The chats whose stored prompts contain the name or a text of the persona. A later prompt
/// contains only what an earlier one of its chat does not, so all of the chat's are affected.
fn chats_with_prompts_about(
    conn: &Connection,
    persona: &Persona,
) -> Result<Vec<ChatId>, StoreError> {
    let texts = [&persona.name, &persona.description, &persona.instructions];
    let texts: Vec<&str> = texts
        .into_iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    let mut chats = Vec::new();
    let mut naming = conn.prepare_cached(
        "SELECT DISTINCT message.chat FROM manifest
         JOIN swipe ON swipe.id = manifest.swipe JOIN message ON message.id = swipe.message
         WHERE instr(manifest.json, ?1) > 0",
    )?;
    for text in texts {
        let mut rows = naming.query([in_json(text)])?;
        while let Some(row) = rows.next()? {
            chats.push(row.get::<_, Col<ChatId>>(0)?.0);
        }
    }
    Ok(chats)
}

/// A text as it is inside of a JSON string.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Removes its name as the author of messages, unless another persona has the same name.
fn remove_name(write: &WriteTransaction<'_>, persona: &Persona) -> Result<(), StoreError> {
    let personas = write.personas().list()?;
    let shares_name = |other: &Persona| other.id != persona.id && other.name == persona.name;
    if personas.iter().any(shares_name) {
        return Ok(());
    }
    write
        .conn
        .prepare_cached(
            "UPDATE message_speaker SET name = ?2 WHERE character IS NULL AND name = ?1
                 AND EXISTS (SELECT 1 FROM message WHERE message.id = message_speaker.message AND role = 'user')",
        )?
        .execute(params![persona.name, NAMELESS])?;
    Ok(())
}
