//! Removes a character. Its groups go on with their other members.

use domain::{CharacterId, ChatId};
use rusqlite::{Connection, params};

use super::traces;
use crate::sql::{Col, one};
use crate::table::library::lead::LeadsMut;
use crate::{Before, StoreError, WriteTransaction};

pub(super) fn remove(write: &mut WriteTransaction<'_>, id: CharacterId) -> Result<(), StoreError> {
    let conn = write.read.conn;
    let mark = "UPDATE character SET deleted = ?2 WHERE id = ?1";
    one(
        conn.execute(mark, params![Col(id), Col(Before::CONDEMNED)])?,
        "character",
    )?;
    LeadsMut { conn }.outlive(Before::CONDEMNED)?;
    for group in groups_with(conn, id)? {
        traces::clear_chat(write, group)?;
    }
    conn.execute(
        "UPDATE message SET deleted = ?2 WHERE chat IN (SELECT id FROM chat WHERE character = ?1)
             OR id IN (SELECT message FROM message_speaker WHERE character = ?1)",
        params![Col(id), Col(Before::CONDEMNED)],
    )?;
    traces::remove_marked(write)?;
    remove_import_lines(conn, id)?;
    conn.execute("DELETE FROM character WHERE id = ?1", [Col(id)])?;
    Ok(())
}

/// The chats of other characters in which it takes part or has spoken.
fn groups_with(conn: &Connection, id: CharacterId) -> Result<Vec<ChatId>, StoreError> {
    let groups = conn
        .prepare_cached(
            "SELECT chat FROM chat_member WHERE character = ?1
             UNION SELECT message.chat FROM message_speaker JOIN message ON message.id = message_speaker.message
                 WHERE message_speaker.character = ?1
             EXCEPT SELECT id FROM chat WHERE character = ?1",
        )?
        .query_map([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
        .collect::<Result<_, _>>()?;
    Ok(groups)
}

/// Removes the lines about the character and its chats from the reports of imports.
fn remove_import_lines(conn: &Connection, id: CharacterId) -> Result<(), StoreError> {
    let chats: Vec<ChatId> = conn
        .prepare_cached("SELECT id FROM chat WHERE character = ?1")?
        .query_map([Col(id)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
        .collect::<Result<_, _>>()?;
    let ids = chats.iter().map(|chat| chat.0).chain([id.0]);
    let ids: Vec<String> = ids.map(|id| format!("\"{id}\"")).collect();
    for list in ["$.imported", "$.skipped"] {
        conn.prepare_cached(
            "UPDATE import_report SET json = json_set(json, ?2, json((
                 SELECT json_group_array(json(line.value)) FROM json_each(json, ?2) AS line
                 WHERE coalesce(json_extract(line.value, '$.id'), '')
                     NOT IN (SELECT gone.value FROM json_each(?1) AS gone))))
             WHERE EXISTS (
                 SELECT 1 FROM json_each(json, ?2) AS line
                 WHERE json_extract(line.value, '$.id') IN (SELECT gone.value FROM json_each(?1) AS gone))",
        )?
        .execute(params![format!("[{}]", ids.join(",")), list])?;
    }
    Ok(())
}
