//! Documents of chats, characters and lorebooks, stored as passages, and full-text search in them.
//! Triggers maintain the indexes.

use std::collections::HashMap;

use domain::document::{Document, DocumentOwner, Passage};
use domain::{DocumentId, Timestamp};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use crate::access::{Documents, DocumentsMut};
use crate::query::{RowRange, sought};
use crate::sql::{Col, one};
use crate::visibility::{HIDDEN_CHARACTERS, HIDDEN_CHATS};
use crate::{Before, Query, StoreError};

/// A passage found by a search.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    pub document: DocumentId,
    /// Name of the document.
    pub name: String,
    /// Index of the passage in its document, from 0.
    pub place: u32,
    pub passage: Passage,
    /// BM25 score; higher is better, 0 is the minimum. Comparable only within one search.
    pub score: f64,
}

/// A document and the range of its passage numbers.
struct PassageRange {
    document: DocumentId,
    name: String,
    rows: RowRange,
}

impl Documents<'_> {
    /// `None` if the document does not exist, or it or its owner is deleted or hidden.
    pub fn get(&self, id: DocumentId) -> Result<Option<Document>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!(
                "SELECT document.* FROM document LEFT JOIN chat ON chat.id = document.chat
                     LEFT JOIN character ON character.id = document.character
                     LEFT JOIN lorebook ON lorebook.id = document.lorebook
                 WHERE document.id = ?1 AND document.deleted IS NULL
                     AND coalesce(chat.deleted, character.deleted, lorebook.deleted) IS NULL
                     AND ifnull(chat.id NOT IN ({HIDDEN_CHATS}), 1)
                     AND ifnull(character.id NOT IN ({HIDDEN_CHARACTERS}), 1)"
            ))?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// Documents of one owner, oldest first.
    pub fn of(&self, owner: DocumentOwner) -> Result<Vec<Document>, StoreError> {
        let (column, id) = column(owner);
        let sql = format!(
            "SELECT * FROM document WHERE {column} = ?1 AND deleted IS NULL ORDER BY created, id"
        );
        let rows = self
            .conn
            .prepare_cached(&sql)?
            .query_map([id.as_bytes()], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Number of passages of a document.
    pub fn count_passages(&self, id: DocumentId) -> Result<u32, StoreError> {
        let mut count = self
            .conn
            .prepare_cached("SELECT count(*) FROM passage WHERE document = ?1")?;
        Ok(count.query_row([Col(id)], |row| row.get(0))?)
    }

    /// The first passages of a document, at most `limit`.
    pub fn beginning(&self, id: DocumentId, limit: u32) -> Result<Vec<Passage>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT heading, text FROM passage WHERE document = ?1 ORDER BY number LIMIT ?2",
            )?
            .query_map(params![Col(id), limit], |row| {
                Ok(Passage {
                    heading: row.get(0)?,
                    text: row.get(1)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Returns up to `limit` best matches for `query` in the documents of `owners`, best first.
    /// Equal scores are sorted by age of the document, then by position. Documents of other owners
    /// do not affect the result.
    pub fn search(
        &self,
        owners: &[DocumentOwner],
        query: &Query,
        limit: u32,
    ) -> Result<Vec<FoundPassage>, StoreError> {
        let mut found: HashMap<i64, FoundPassage> = HashMap::new();
        for stretch in self.stretches(owners)? {
            for (index, words) in [
                ("passage_words", &query.words),
                ("passage_letters", &query.letters),
            ] {
                for (number, hit) in self.hits(&stretch, index, words, limit)? {
                    let score = hit.score;
                    found
                        .entry(number)
                        .and_modify(|known| known.score += score)
                        .or_insert(hit);
                }
            }
        }
        let mut found: Vec<(i64, FoundPassage)> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
        found.truncate(limit as usize);
        Ok(found.into_iter().map(|(_, passage)| passage).collect())
    }

    /// Returns the passage with this row number; `None` if it is not in a document of `owners`.
    pub fn numbered(
        &self,
        owners: &[DocumentOwner],
        number: i64,
    ) -> Result<Option<FoundPassage>, StoreError> {
        let sql = "SELECT document.*, passage.heading, passage.text AS said,
                 passage.number - (SELECT min(number) FROM passage AS first WHERE first.document = document.id) AS place
             FROM passage JOIN document ON document.id = passage.document
             WHERE passage.number = ?1 AND document.deleted IS NULL";
        let found = |row: &Row<'_>| {
            let Document {
                id, owner, name, ..
            } = from_row(row)?;
            let passage = Passage {
                heading: row.get("heading")?,
                text: row.get("said")?,
            };
            Ok((
                owner,
                FoundPassage {
                    document: id,
                    name,
                    place: row.get("place")?,
                    passage,
                    score: 0.0,
                },
            ))
        };
        let found = self
            .conn
            .prepare_cached(sql)?
            .query_row([number], found)
            .optional()?;
        Ok(found
            .filter(|(owner, _)| owners.contains(owner))
            .map(|(_, passage)| passage))
    }

    fn hits(
        &self,
        stretch: &PassageRange,
        index: &str,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<(i64, FoundPassage)>, StoreError> {
        let Some(sought) = sought(self.conn, index, words, stretch.rows)? else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT passage.number, passage.heading, passage.text, -{index}.rank FROM {index}
             JOIN passage ON passage.number = {index}.rowid
             WHERE {index} MATCH ?1 AND {index}.rowid BETWEEN ?2 AND ?3 ORDER BY {index}.rank LIMIT ?4"
        );
        let found = self
            .conn
            .prepare_cached(&sql)?
            .query_map(
                params![sought.any(), sought.rows.first, sought.rows.last, limit],
                |row| {
                    let passage = Passage {
                        heading: row.get(1)?,
                        text: row.get(2)?,
                    };
                    let document = stretch.document;
                    let name = stretch.name.clone();
                    let number = row.get::<_, i64>(0)?;
                    let place = (number - stretch.rows.first).try_into().unwrap_or(u32::MAX);
                    Ok((
                        number,
                        FoundPassage {
                            document,
                            name,
                            place,
                            passage,
                            score: row.get(3)?,
                        },
                    ))
                },
            )?
            .collect::<Result<_, _>>()?;
        Ok(found)
    }

    fn stretches(&self, owners: &[DocumentOwner]) -> Result<Vec<PassageRange>, StoreError> {
        let mut stretches = Vec::new();
        for owner in owners {
            let (column, id) = column(*owner);
            let sql = format!(
                "SELECT id, name, (SELECT min(number) FROM passage WHERE document = id),
                     (SELECT max(number) FROM passage WHERE document = id)
                 FROM document WHERE {column} = ?1 AND deleted IS NULL"
            );
            let stretch = |row: &Row<'_>| {
                let rows = RowRange {
                    first: row.get(2)?,
                    last: row.get(3)?,
                };
                Ok(PassageRange {
                    document: row.get::<_, Col<_>>(0)?.0,
                    name: row.get(1)?,
                    rows,
                })
            };
            let mut query = self.conn.prepare_cached(&sql)?;
            for found in query.query_map([id.as_bytes()], stretch)? {
                stretches.push(found?);
            }
        }
        Ok(stretches)
    }
}

impl DocumentsMut<'_> {
    /// Stores a document with its passages, at least one.
    pub fn insert(&mut self, document: &Document, passages: &[Passage]) -> Result<(), StoreError> {
        let (column, owner) = column(document.owner);
        let sql = format!(
            "INSERT INTO document (id, {column}, name, bytes, created) VALUES (?1, ?2, ?3, ?4, ?5)"
        );
        self.conn.prepare_cached(&sql)?.execute(params![
            Col(document.id),
            owner.as_bytes(),
            document.name,
            document.bytes as i64,
            Col(document.created)
        ])?;
        let mut insert = self
            .conn
            .prepare_cached("INSERT INTO passage (document, heading, text) VALUES (?1, ?2, ?3)")?;
        for passage in passages {
            insert.execute(params![Col(document.id), passage.heading, passage.text])?;
        }
        Ok(())
    }

    /// Hides the document until `restore` or a purge.
    pub fn soft_delete(&mut self, id: DocumentId, when: Timestamp) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE document SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), Col(when)])?;
        one(rows, "document")
    }

    pub fn restore(&mut self, id: DocumentId) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE document SET deleted = NULL WHERE id = ?1")?
            .execute([Col(id)])?;
        one(rows, "document")
    }

    /// Permanently removes documents that were deleted at or before `before`, individually or with
    /// their lorebook. Returns their ids, because remaining chats may quote them.
    pub(crate) fn purge(&mut self, before: Before) -> Result<Vec<DocumentId>, StoreError> {
        let gone = self
            .conn
            .prepare_cached(
                "DELETE FROM document
                 WHERE deleted <= ?1 OR lorebook IN (SELECT id FROM lorebook WHERE deleted <= ?2) RETURNING id",
            )?
            .query_map([Col(before.rest), Col(before.trash)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(gone)
    }
}

/// Returns the column of the owner, and its id.
fn column(owner: DocumentOwner) -> (&'static str, Uuid) {
    match owner {
        DocumentOwner::Chat(id) => ("chat", id.0),
        DocumentOwner::Character(id) => ("character", id.0),
        DocumentOwner::Lorebook(id) => ("lorebook", id.0),
    }
}

fn owner(row: &Row<'_>) -> rusqlite::Result<DocumentOwner> {
    let chat = row
        .get::<_, Option<Col<_>>>("chat")?
        .map(|Col(id)| DocumentOwner::Chat(id));
    let character = row
        .get::<_, Option<Col<_>>>("character")?
        .map(|Col(id)| DocumentOwner::Character(id));
    let lorebook = row
        .get::<_, Option<Col<_>>>("lorebook")?
        .map(|Col(id)| DocumentOwner::Lorebook(id));
    let nobody = || rusqlite::Error::InvalidColumnType(1, "chat".into(), Type::Null);
    chat.or(character).or(lorebook).ok_or_else(nobody)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        id: row.get::<_, Col<_>>("id")?.0,
        owner: owner(row)?,
        name: row.get("name")?,
        bytes: row.get::<_, i64>("bytes")?.unsigned_abs(),
        created: row.get::<_, Col<_>>("created")?.0,
    })
}
