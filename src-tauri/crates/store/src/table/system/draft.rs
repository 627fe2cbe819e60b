//! Drafts: texts that were typed into a form and are not stored in their item yet.
//!
//! Each writer, such as a window, has its own row. A writer replaces the row that it wrote before,
//! so two windows never replace each other's text.

use domain::Timestamp;
use rusqlite::{Row, params};
use uuid::Uuid;

use crate::StoreError;
use crate::access::{Drafts, DraftsMut};
use crate::sql::Col;

/// Maximum number of drafts of one place. The oldest are removed first.
const MAX_PER_PLACE: u32 = 50;

/// The form that a draft belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPlace {
    pub kind: String,
    /// The item that the form belongs to; empty if there is none.
    pub owner: String,
    /// The part of the item; empty if the form is the item's only one.
    pub target: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub id: Uuid,
    pub place: DraftPlace,
    pub text: String,
    /// Identifies the stored value that the writer saw.
    pub base: String,
    pub saved: Timestamp,
}

impl Drafts<'_> {
    /// The drafts of an owner, newest first.
    pub fn of(&self, kind: &str, owner: &str) -> Result<Vec<Draft>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT id, kind, owner, target, text, base, saved FROM draft WHERE kind = ?1 AND owner = ?2
                 ORDER BY saved DESC, rowid DESC",
            )?
            .query_map([kind, owner], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

impl DraftsMut<'_> {
    /// Stores a draft in the place of `before`, the draft that the same writer stored last. An
    /// equal draft of another writer is replaced too.
    ///
    /// # Errors
    /// `NotFound` if the owner is an id that no item has.
    pub fn write(&mut self, draft: &Draft, before: Option<Uuid>) -> Result<(), StoreError> {
        let Draft {
            id,
            place,
            text,
            base,
            saved,
        } = draft;
        let [owner, target] = [&place.owner, &place.target].map(|id| Uuid::parse_str(id).ok());
        let [owner, target] = [owner, target].map(|id| id.map(|id| id.as_bytes().to_vec()));
        self.conn
            .prepare_cached(
                "DELETE FROM draft WHERE kind = ?1 AND owner = ?2 AND target = ?3 AND (id = ?4 OR text = ?5)",
            )?
            .execute(params![place.kind, place.owner, place.target, before.map(|id| id.as_bytes().to_vec()), text])?;
        let rows = self
            .conn
            .prepare_cached(
                "INSERT INTO draft (id, kind, owner, target, text, base, saved, chat, message, character, lorebook,
                     persona, memory, model)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, found.* FROM (SELECT
                     (SELECT id FROM chat WHERE id = ?8) AS chat,
                     (SELECT id FROM message WHERE id = ?9) AS message,
                     (SELECT id FROM character WHERE id = ?8) AS character,
                     (SELECT id FROM lorebook WHERE id = ?8) AS lorebook,
                     (SELECT id FROM persona WHERE id = ?9) AS persona,
                     (SELECT id FROM memory WHERE id = ?9) AS memory,
                     (SELECT id FROM model WHERE id = ?8) AS model) AS found
                 WHERE ?8 IS NULL OR coalesce(found.chat, found.character, found.lorebook, found.model) IS NOT NULL",
            )?
            .execute(params![
                id.as_bytes().as_slice(),
                place.kind,
                place.owner,
                place.target,
                text,
                base,
                Col(*saved),
                owner,
                target,
            ])?;
        crate::sql::one(rows, "item")?;
        self.limit(place)
    }

    fn limit(&mut self, place: &DraftPlace) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "DELETE FROM draft WHERE id IN (
                     SELECT id FROM draft WHERE kind = ?1 AND owner = ?2 AND target = ?3
                     ORDER BY saved DESC, rowid DESC LIMIT -1 OFFSET ?4)",
            )?
            .execute(params![
                place.kind,
                place.owner,
                place.target,
                MAX_PER_PLACE
            ])?;
        Ok(())
    }

    /// Removes a draft. A draft that does not exist is no error.
    pub fn discard(&mut self, id: Uuid) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM draft WHERE id = ?1")?
            .execute([id.as_bytes().as_slice()])?;
        Ok(())
    }

    /// Removes the drafts of an owner that have this text.
    pub fn discard_text(&mut self, kind: &str, owner: &str, text: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM draft WHERE kind = ?1 AND owner = ?2 AND text = ?3")?
            .execute([kind, owner, text])?;
        Ok(())
    }

    /// Removes all drafts of a part of an item, because the part is deleted.
    pub fn forget(&mut self, kind: &str, owner: &str, target: &str) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("DELETE FROM draft WHERE kind = ?1 AND owner = ?2 AND target = ?3")?
            .execute([kind, owner, target])?;
        Ok(())
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Draft> {
    Ok(Draft {
        id: Uuid::from_bytes(row.get("id")?),
        place: DraftPlace {
            kind: row.get("kind")?,
            owner: row.get("owner")?,
            target: row.get("target")?,
        },
        text: row.get("text")?,
        base: row.get("base")?,
        saved: row.get::<_, Col<_>>("saved")?.0,
    })
}
