//! Characters: the imported cards with their files.

use domain::{CharacterId, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use super::lead::LeadsMut;
use crate::access::{Characters, CharactersMut};
use crate::sql::{Col, one};
use crate::visibility::{HIDDEN_CHARACTERS, HIDDEN_CHATS};
use crate::{AssetHash, StoreError};

/// A character in the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Character {
    pub id: CharacterId,
    pub name: String,
    /// The whole card, including unknown fields.
    pub card_json: String,
    /// Format that the card states, such as `chara_card_v3`.
    pub spec: String,
    pub picture: Option<AssetHash>,
    /// The imported file, unchanged.
    pub source: Option<AssetHash>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A character as the library lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCharacter {
    pub character: Character,
    /// Time of the last change in any of its chats.
    pub last_chat: Option<Timestamp>,
    pub chats: u32,
}

impl Characters<'_> {
    /// Characters that are neither deleted nor hidden, sorted by last chat, then by name.
    pub fn list(&self) -> Result<Vec<ListedCharacter>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT character.*, max(chat.updated) AS last_chat, count(chat.id) AS chats
                 FROM character
                 LEFT JOIN chat ON chat.character = character.id AND chat.deleted IS NULL
                     AND chat.id NOT IN ({HIDDEN_CHATS})
                 WHERE character.deleted IS NULL AND character.id NOT IN ({HIDDEN_CHARACTERS})
                 GROUP BY character.id
                 ORDER BY last_chat DESC NULLS LAST, character.name COLLATE NOCASE, character.id"
            ))?
            .query_map([], |row| {
                Ok(ListedCharacter {
                    character: from_row(row)?,
                    last_chat: row
                        .get::<_, Option<Col<_>>>("last_chat")?
                        .map(|Col(time)| time),
                    chats: row.get("chats")?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Names of the characters that are neither deleted nor hidden.
    pub fn names(&self) -> Result<Vec<(CharacterId, String)>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT id, name FROM character INDEXED BY character_listed
                 WHERE deleted IS NULL AND id NOT IN ({HIDDEN_CHARACTERS})"
            ))?
            .query_map([], |row| {
                Ok((row.get::<_, Col<_>>("id")?.0, row.get("name")?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Characters whose cards contain a lorebook, sorted by name.
    pub fn with_lorebooks(&self) -> Result<Vec<Character>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM character
                 WHERE deleted IS NULL AND instr(card_json, '\"character_book\"') > 0
                     AND id NOT IN ({HIDDEN_CHARACTERS})
                 ORDER BY name COLLATE NOCASE, id"
            ))?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Characters imported from a file with this content, without hidden ones.
    pub fn from_source(&self, source: AssetHash) -> Result<Vec<Character>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM character
                 WHERE source = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_CHARACTERS})"
            ))?
            .query_map([Col(source)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// `None` if it does not exist, or is deleted or hidden.
    pub fn get(&self, id: CharacterId) -> Result<Option<Character>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM character
                 WHERE id = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_CHARACTERS})"
            ))?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }
}

impl CharactersMut<'_> {
    pub fn insert(&mut self, character: &Character) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO character (id, name, card_json, spec, picture, source, created, updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            character,
        )
    }

    pub fn update(&mut self, character: &Character) -> Result<(), StoreError> {
        self.run(
            "UPDATE character
             SET name = ?2, card_json = ?3, spec = ?4, picture = ?5, source = ?6, created = ?7, updated = ?8
             WHERE id = ?1 AND deleted IS NULL",
            character,
        )
    }

    /// Hides the character and its chats until `restore` or a purge. Its groups go on with the
    /// other members.
    pub fn soft_delete(&mut self, id: CharacterId, when: Timestamp) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "UPDATE character SET deleted = ?2
                 WHERE id = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_CHARACTERS})"
            ))?
            .execute(params![Col(id), Col(when)])?;
        one(rows, "character")?;
        LeadsMut { conn: self.conn }.leave(id)
    }

    pub fn restore(&mut self, id: CharacterId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE character SET deleted = NULL WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "character")?;
        LeadsMut { conn: self.conn }.come_back(id)
    }

    /// Permanently removes characters deleted at or before `before`, with the chats that they lead.
    /// Returns how many.
    pub(crate) fn purge(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .execute("DELETE FROM character WHERE deleted <= ?1", [Col(before)])?)
    }

    fn run(&mut self, sql: &str, character: &Character) -> Result<(), StoreError> {
        let rows = self.conn.prepare_cached(sql)?.execute(params![
            Col(character.id),
            character.name,
            character.card_json,
            character.spec,
            character.picture.map(Col),
            character.source.map(Col),
            Col(character.created),
            Col(character.updated),
        ])?;
        one(rows, "character")
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Character> {
    Ok(Character {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        card_json: row.get("card_json")?,
        spec: row.get("spec")?,
        picture: row
            .get::<_, Option<Col<_>>>("picture")?
            .map(|Col(hash)| hash),
        source: row
            .get::<_, Option<Col<_>>>("source")?
            .map(|Col(hash)| hash),
        created: row.get::<_, Col<_>>("created")?.0,
        updated: row.get::<_, Col<_>>("updated")?.0,
    })
}
