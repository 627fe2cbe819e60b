//! Preview of a restore: the characters, chats and messages that only the backup or only the
//! current data has.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::Connection;

use super::content::read_only;
use crate::visibility::{HIDDEN_CHARACTERS, HIDDEN_CHATS};
use crate::{FolderKeys, StoreError, checksum, identity, migrate};

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

/// Compares `backup` with the database of `present`, without the items that are hidden now.
pub(crate) fn compare(
    present: &Connection,
    backup: &Path,
    keys: Option<&FolderKeys>,
) -> Result<Differences, StoreError> {
    let bad = |error: rusqlite::Error| StoreError::BadBackup {
        path: backup.to_owned(),
        detail: error.to_string(),
    };
    let past = read_only(backup, keys).map_err(bad)?;
    if let Some(detail) = identity::foreign_code(&past, migrate::MIGRATIONS)? {
        return Err(StoreError::BadBackup {
            path: backup.to_owned(),
            detail,
        });
    }
    let hidden = hidden(present)?;
    let now = Content::read(present)?.without(&hidden);
    let then = Content::read(&past).map_err(bad)?.without(&hidden);
    Ok(now.differences(&then))
}

/// The items of one database, by id.
struct Content {
    characters: HashMap<[u8; 16], String>,
    chats: HashMap<[u8; 16], String>,
    /// Checksums of the texts.
    messages: HashMap<[u8; 16], i64>,
}

impl Content {
    fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let visible = visible(conn)?;
        Ok(Self {
            characters: read(conn, CHARACTERS, str::to_owned)?,
            chats: read(conn, &format!("{CHATS}{visible}"), str::to_owned)?,
            messages: read(conn, &format!("{MESSAGES}{visible}"), checksum::of)?,
        })
    }

    fn without(mut self, hidden: &HashSet<[u8; 16]>) -> Self {
        self.characters.retain(|id, _| !hidden.contains(id));
        self.chats.retain(|id, _| !hidden.contains(id));
        self.messages.retain(|id, _| !hidden.contains(id));
        self
    }

    /// The items that the restore of `then` would bring back and remove.
    fn differences(&self, then: &Self) -> Differences {
        let reworded = then
            .messages
            .iter()
            .filter(|(id, sum)| self.messages.get(*id).is_some_and(|now| now != *sum))
            .count();
        Differences {
            characters: difference(&self.characters, &then.characters, Clone::clone),
            chats: difference(&self.chats, &then.chats, Clone::clone),
            messages: difference(&self.messages, &then.messages, |_| String::new()),
            reworded,
        }
    }
}

/// The ids of the hidden characters, of their chats and of the messages in these.
fn hidden(present: &Connection) -> rusqlite::Result<HashSet<[u8; 16]>> {
    let sql = format!(
        "{HIDDEN_CHARACTERS} UNION ALL {HIDDEN_CHATS}
         UNION ALL SELECT message.id FROM message WHERE message.chat IN ({HIDDEN_CHATS})"
    );
    present
        .prepare(&sql)?
        .query_map([], |row| row.get(0))?
        .collect()
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
    let gained = only_in(then, now);
    let lost = only_in(now, then);
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
