//! Preview of a restore: the characters, chats and messages that only the backup or only the
//! current data has.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::Connection;

use super::verify;
use crate::{StoreError, identity, migrate};

/// Maximum number of names to list. The rest is only counted.
const NAMED: usize = 8;

/// The items that a restore would bring back and remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    pub gained: usize,
    pub lost: usize,
    /// The names of some of them.
    pub names_gained: Vec<String>,
    pub names_lost: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    pub characters: Difference,
    pub chats: Difference,
    /// Counts only; messages have no names.
    pub messages: Difference,
    /// Messages that are in both with different texts.
    pub reworded: usize,
}

const CHARACTERS: &str = "SELECT id, name FROM character WHERE deleted IS NULL";
const CHATS: &str =
    "SELECT chat.id, chat.title FROM chat JOIN character ON character.id = chat.character
     WHERE chat.deleted IS NULL AND ";
const MESSAGES: &str = "SELECT message.id, swipe.text FROM message
     JOIN swipe ON swipe.message = message.id AND swipe.position = message.selected
     JOIN chat ON chat.id = message.chat JOIN character ON character.id = chat.character
     WHERE message.deleted IS NULL AND chat.deleted IS NULL AND ";
/// A group is there while any of its members is, also in a copy from before groups changed their
/// lead.
const HAS_MEMBER: &str = "(character.deleted IS NULL OR EXISTS (
     SELECT 1 FROM chat_member JOIN character AS member ON member.id = chat_member.character
     WHERE chat_member.chat = chat.id AND member.deleted IS NULL))";
const HAS_CHARACTER: &str = "character.deleted IS NULL";

/// Compares `backup` with the database of `present`.
pub(crate) fn compare(present: &Connection, backup: &Path) -> Result<Differences, StoreError> {
    let bad = |error: rusqlite::Error| StoreError::BadBackup {
        path: backup.to_owned(),
        detail: error.to_string(),
    };
    let past = verify::read_only(backup).map_err(bad)?;
    if let Some(detail) = identity::foreign_code(&past, migrate::MIGRATIONS)? {
        return Err(StoreError::BadBackup {
            path: backup.to_owned(),
            detail,
        });
    }
    let named = |conn: &Connection, sql: &str| read(conn, sql, |name| name.to_owned());
    let chats = |conn: &Connection| named(conn, &format!("{CHATS}{}", visible(conn)?));
    let texts = |conn: &Connection| {
        read(
            conn,
            &format!("{MESSAGES}{}", visible(conn)?),
            crate::checksum::of,
        )
    };
    let (now, then) = (texts(present)?, texts(&past).map_err(bad)?);
    let reworded = then
        .iter()
        .filter(|(id, sum)| now.get(*id).is_some_and(|present| present != *sum))
        .count();
    Ok(Differences {
        characters: difference(
            &named(present, CHARACTERS)?,
            &named(&past, CHARACTERS).map_err(bad)?,
            Clone::clone,
        ),
        chats: difference(&chats(present)?, &chats(&past).map_err(bad)?, Clone::clone),
        messages: difference(&now, &then, |_| String::new()),
        reworded,
    })
}

/// The condition for chats that are not hidden with a deleted character. Early formats have no
/// groups.
fn visible(conn: &Connection) -> rusqlite::Result<&'static str> {
    let has_groups = conn
        .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'chat_member'")?
        .exists([])?;
    Ok(if has_groups {
        HAS_MEMBER
    } else {
        HAS_CHARACTER
    })
}

fn read<T>(
    conn: &Connection,
    sql: &str,
    keep: impl Fn(&str) -> T,
) -> rusqlite::Result<HashMap<[u8; 16], T>> {
    conn.prepare(sql)?
        .query_map([], |row| {
            Ok((
                row.get(0)?,
                keep(row.get_ref(1)?.as_str().unwrap_or_default()),
            ))
        })?
        .collect()
}

fn difference<T>(
    now: &HashMap<[u8; 16], T>,
    then: &HashMap<[u8; 16], T>,
    name: impl Fn(&T) -> String,
) -> Difference {
    let only_in = |one: &HashMap<[u8; 16], T>, other: &HashMap<[u8; 16], T>| {
        let mut names: Vec<String> = one
            .iter()
            .filter(|(id, _)| !other.contains_key(*id))
            .map(|(_, thing)| name(thing))
            .collect();
        names.sort();
        names
    };
    let (gained, lost) = (only_in(then, now), only_in(now, then));
    let some = |names: &[String]| {
        names
            .iter()
            .filter(|name| !name.is_empty())
            .take(NAMED)
            .cloned()
            .collect()
    };
    Difference {
        gained: gained.len(),
        lost: lost.len(),
        names_gained: some(&gained),
        names_lost: some(&lost),
    }
}
