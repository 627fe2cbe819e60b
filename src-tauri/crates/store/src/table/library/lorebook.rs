//! Lorebooks outside cards, and their bindings.

use std::collections::HashMap;

use domain::lorebook::Binding;
use domain::{CharacterId, ChatId, LorebookId, PersonaId, Timestamp};
use rusqlite::types::FromSqlError;
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use crate::access::{Lorebooks, LorebooksMut};
use crate::sql::{Col, one};
use crate::visibility::{HIDDEN_LOREBOOKS, hidden_characters, hidden_chats};
use crate::{AssetHash, StoreError};

/// A lorebook in the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lorebook {
    pub id: LorebookId,
    pub name: String,
    /// The whole book in its original format.
    pub json: String,
    /// The imported file, unchanged.
    pub source: Option<AssetHash>,
    /// If false, the book applies nowhere, regardless of its bindings.
    pub enabled: bool,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// The participants of a chat, which decide the lorebooks that apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatParticipants {
    pub character: CharacterId,
    pub chat: ChatId,
    pub persona: PersonaId,
}

/// A lorebook that applies in a chat through one binding. A book with several bindings occurs
/// several times.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BoundLorebook {
    pub id: LorebookId,
    pub name: String,
    pub updated: Timestamp,
    pub binding: Binding,
}

/// SQL condition: the book applies for character `?1`, chat `?2` and persona `?3`.
pub(crate) const APPLIES_IN: &str =
    "lorebook.enabled AND lorebook.deleted IS NULL AND (lorebook_binding.scope = 'global'
    OR lorebook_binding.scope = 'character' AND owner = ?1 OR lorebook_binding.scope = 'chat' AND owner = ?2
    OR lorebook_binding.scope = 'persona' AND owner = ?3)";

/// SQL condition for a binding that is not to a hidden character or chat.
const SHOWN_BINDING: &str = concat!(
    "owner NOT IN (",
    hidden_characters!(),
    " UNION ALL ",
    hidden_chats!(),
    ")"
);

impl Lorebooks<'_> {
    /// Lorebooks that are neither deleted nor hidden, sorted by name.
    pub fn list(&self) -> Result<Vec<Lorebook>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM lorebook
                 WHERE deleted IS NULL AND id NOT IN ({HIDDEN_LOREBOOKS})
                 ORDER BY name COLLATE NOCASE, id"
            ))?
            .query_map([], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Names of the lorebooks that are neither deleted nor hidden.
    pub fn names(&self) -> Result<Vec<(LorebookId, String)>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT id, name FROM lorebook WHERE deleted IS NULL AND id NOT IN ({HIDDEN_LOREBOOKS})"
            ))?
            .query_map([], |row| {
                Ok((row.get::<_, Col<_>>("id")?.0, row.get("name")?))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// `None` if it does not exist, or is deleted or hidden.
    pub fn get(&self, id: LorebookId) -> Result<Option<Lorebook>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM lorebook
                 WHERE id = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_LOREBOOKS})"
            ))?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// Lorebooks imported from a file with this content.
    pub fn from_source(&self, source: AssetHash) -> Result<Vec<Lorebook>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM lorebook
                 WHERE source = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_LOREBOOKS})"
            ))?
            .query_map([Col(source)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The oldest lorebook with identical JSON.
    pub fn find_identical(&self, json: &str) -> Result<Option<Lorebook>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT * FROM lorebook
                 WHERE json = ?1 AND deleted IS NULL AND id NOT IN ({HIDDEN_LOREBOOKS})
                 ORDER BY id LIMIT 1"
            ))?
            .query_row([json], from_row)
            .optional()?;
        Ok(row)
    }

    /// Bindings of all lorebooks, except to hidden characters and chats.
    pub fn bindings(&self) -> Result<HashMap<LorebookId, Vec<Binding>>, StoreError> {
        let mut all: HashMap<LorebookId, Vec<Binding>> = HashMap::new();
        let mut rows = self.conn.prepare_cached(&format!(
            "SELECT lorebook, scope, owner FROM lorebook_binding
             WHERE {SHOWN_BINDING} ORDER BY lorebook, scope, owner"
        ))?;
        for row in rows.query_map([], |row| {
            Ok((row.get::<_, Col<_>>("lorebook")?.0, binding(row)?))
        })? {
            let (id, binding) = row?;
            all.entry(id).or_default().push(binding);
        }
        Ok(all)
    }

    /// Bindings of one lorebook, except to hidden characters and chats.
    pub fn bindings_of(&self, id: LorebookId) -> Result<Vec<Binding>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT scope, owner FROM lorebook_binding
                 WHERE lorebook = ?1 AND {SHOWN_BINDING} ORDER BY scope, owner"
            ))?
            .query_map([Col(id)], binding)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Lorebooks that apply in this chat, sorted by age, then by binding. Excludes disabled and
    /// deleted ones.
    pub fn bound(&self, company: ChatParticipants) -> Result<Vec<BoundLorebook>, StoreError> {
        let ChatParticipants {
            character,
            chat,
            persona,
        } = company;
        let sql = format!(
            "SELECT id, name, updated, scope, owner
             FROM lorebook_binding JOIN lorebook ON lorebook.id = lorebook_binding.lorebook
             WHERE {APPLIES_IN} ORDER BY id, scope"
        );
        let rows = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![Col(character), Col(chat), Col(persona)], |row| {
                Ok(BoundLorebook {
                    id: row.get::<_, Col<_>>("id")?.0,
                    name: row.get("name")?,
                    updated: row.get::<_, Col<_>>("updated")?.0,
                    binding: binding(row)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl LorebooksMut<'_> {
    pub fn insert(&mut self, book: &Lorebook) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO lorebook (id, name, json, source, enabled, created, updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            book,
        )
    }

    /// `updated` increases with every change, even within one millisecond, because it identifies
    /// the version.
    pub fn update(&mut self, book: &Lorebook) -> Result<(), StoreError> {
        self.run(
            "UPDATE lorebook
             SET name = ?2, json = ?3, source = ?4, enabled = ?5, created = ?6, updated = max(?7, updated + 1)
             WHERE id = ?1 AND deleted IS NULL",
            book,
        )
    }

    /// Replaces all bindings of a lorebook, except those to hidden characters and chats.
    pub fn bind(&mut self, id: LorebookId, bindings: &[Binding]) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(&format!(
                "DELETE FROM lorebook_binding WHERE lorebook = ?1 AND {SHOWN_BINDING}"
            ))?
            .execute([Col(id)])?;
        bindings
            .iter()
            .try_for_each(|binding| self.add_binding(id, *binding))
    }

    /// Adds a binding to a lorebook.
    pub fn add_binding(&mut self, id: LorebookId, binding: Binding) -> Result<(), StoreError> {
        let (scope, owner) = columns(binding);
        self.conn
            .prepare_cached("INSERT OR IGNORE INTO lorebook_binding (lorebook, scope, owner) VALUES (?1, ?2, ?3)")?
            .execute(params![Col(id), scope, owner])?;
        Ok(())
    }

    /// Hides the lorebook until `restore` or a purge.
    pub fn soft_delete(&mut self, id: LorebookId, when: Timestamp) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE lorebook SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), Col(when)])?;
        one(rows, "lorebook")
    }

    pub fn restore(&mut self, id: LorebookId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE lorebook SET deleted = NULL WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "lorebook")
    }

    /// Permanently removes lorebooks deleted at or before `before`. Returns how many.
    pub(crate) fn purge(&mut self, before: Timestamp) -> Result<usize, StoreError> {
        Ok(self
            .conn
            .execute("DELETE FROM lorebook WHERE deleted <= ?1", [Col(before)])?)
    }

    fn run(&mut self, sql: &str, book: &Lorebook) -> Result<(), StoreError> {
        let rows = self.conn.prepare_cached(sql)?.execute(params![
            Col(book.id),
            book.name,
            book.json,
            book.source.map(Col),
            book.enabled,
            Col(book.created),
            Col(book.updated),
        ])?;
        one(rows, "lorebook")
    }
}

/// Returns the column values of a binding.
pub(super) fn columns(binding: Binding) -> (&'static str, Vec<u8>) {
    let (scope, owner) = match binding {
        Binding::Global => return ("global", Vec::new()),
        Binding::Character(CharacterId(id)) => ("character", id),
        Binding::Chat(ChatId(id)) => ("chat", id),
        Binding::Persona(PersonaId(id)) => ("persona", id),
    };
    (scope, owner.as_bytes().to_vec())
}

fn binding(row: &Row<'_>) -> rusqlite::Result<Binding> {
    let scope: String = row.get("scope")?;
    let id = || row.get("owner").map(Uuid::from_bytes);
    Ok(match scope.as_str() {
        "global" => Binding::Global,
        "character" => Binding::Character(CharacterId(id()?)),
        "chat" => Binding::Chat(ChatId(id()?)),
        "persona" => Binding::Persona(PersonaId(id()?)),
        _ => return Err(FromSqlError::InvalidType.into()),
    })
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Lorebook> {
    Ok(Lorebook {
        id: row.get::<_, Col<_>>("id")?.0,
        name: row.get("name")?,
        json: row.get("json")?,
        source: row
            .get::<_, Option<Col<_>>>("source")?
            .map(|Col(hash)| hash),
        enabled: row.get("enabled")?,
        created: row.get::<_, Col<_>>("created")?.0,
        updated: row.get::<_, Col<_>>("updated")?.0,
    })
}
