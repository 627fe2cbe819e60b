//! Texts that are attached to chats, in passages, and the search in them (S4.27). Triggers keep the indexes.

use std::collections::HashMap;

use domain::document::{Document, Passage};
use domain::{ChatId, DocumentId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::query::{Rows, sought};
use crate::sql::{Col, one};
use crate::{Query, StoreError};

/// A passage that was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    pub document: DocumentId,
    /// Of the document.
    pub name: String,
    /// Among the document's passages, from 0.
    pub place: u32,
    pub passage: Passage,
    /// BM25: more is better, 0 is least. Compared only within one search.
    pub score: f64,
}

pub struct Documents<'a> {
    pub(crate) conn: &'a Connection,
}

/// A document with the numbers of its passages.
struct Stretch {
    document: DocumentId,
    name: String,
    rows: Rows,
}

impl Documents<'_> {
    /// `None` if there is none, or it or its chat is deleted.
    pub fn get(&self, id: DocumentId) -> Result<Option<Document>, StoreError> {
        let row = self
            .conn
            .prepare_cached(
                "SELECT document.* FROM document JOIN chat ON chat.id = document.chat
                 WHERE document.id = ?1 AND document.deleted IS NULL AND chat.deleted IS NULL",
            )?
            .query_row([Col(id)], from_row)
            .optional()?;
        Ok(row)
    }

    /// Those of a chat, the oldest first.
    pub fn of(&self, chat: ChatId) -> Result<Vec<Document>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT * FROM document WHERE chat = ?1 AND deleted IS NULL ORDER BY created, id")?
            .query_map([Col(chat)], from_row)?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// How many passages a document has.
    pub fn count_passages(&self, id: DocumentId) -> Result<u32, StoreError> {
        let mut count = self.conn.prepare_cached("SELECT count(*) FROM passage WHERE document = ?1")?;
        Ok(count.query_row([Col(id)], |row| row.get(0))?)
    }

    /// The first passages of a document, at most `limit`.
    pub fn beginning(&self, id: DocumentId, limit: u32) -> Result<Vec<Passage>, StoreError> {
        let rows = self
            .conn
            .prepare_cached("SELECT heading, text FROM passage WHERE document = ?1 ORDER BY number LIMIT ?2")?
            .query_map(params![Col(id), limit], |row| Ok(Passage { heading: row.get(0)?, text: row.get(1)? }))?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// The passages of a chat's documents that fit `query` best, at most `limit`, best first; of those that fit as well the
    /// one that was attached, or stands, first. What other chats have attached neither is found nor takes a place.
    pub fn search(&self, chat: ChatId, query: &Query, limit: u32) -> Result<Vec<FoundPassage>, StoreError> {
        let mut found: HashMap<i64, FoundPassage> = HashMap::new();
        for stretch in self.stretches(chat)? {
            for (index, words) in [("passage_words", &query.words), ("passage_letters", &query.letters)] {
                for (number, hit) in self.hits(&stretch, index, words, limit)? {
                    let score = hit.score;
                    found.entry(number).and_modify(|known| known.score += score).or_insert(hit);
                }
            }
        }
        let mut found: Vec<(i64, FoundPassage)> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
        found.truncate(limit as usize);
        Ok(found.into_iter().map(|(_, passage)| passage).collect())
    }

    /// The passage with a number of the file; `None` if it is in no document of `chat`.
    pub fn numbered(&self, chat: ChatId, number: i64) -> Result<Option<FoundPassage>, StoreError> {
        let sql = "SELECT document.id, document.name, passage.heading, passage.text,
                 passage.number - (SELECT min(number) FROM passage AS first WHERE first.document = document.id)
             FROM passage JOIN document ON document.id = passage.document
             WHERE passage.number = ?1 AND document.chat = ?2 AND document.deleted IS NULL";
        let found = |row: &Row<'_>| {
            Ok(FoundPassage {
                document: row.get::<_, Col<_>>(0)?.0,
                name: row.get(1)?,
                place: row.get(4)?,
                passage: Passage { heading: row.get(2)?, text: row.get(3)? },
                score: 0.0,
            })
        };
        Ok(self.conn.prepare_cached(sql)?.query_row(params![number, Col(chat)], found).optional()?)
    }

    fn hits(
        &self,
        stretch: &Stretch,
        index: &str,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<(i64, FoundPassage)>, StoreError> {
        let Some(sought) = sought(self.conn, index, words, stretch.rows)? else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT passage.number, passage.heading, passage.text, -{index}.rank FROM {index}
             JOIN passage ON passage.number = {index}.rowid
             WHERE {index} MATCH ?1 AND {index}.rowid BETWEEN ?2 AND ?3 ORDER BY {index}.rank LIMIT ?4"
        );
        let found = self
            .conn
            .prepare_cached(&sql)?
            .query_map(params![sought.any(), sought.rows.first, sought.rows.last, limit], |row| {
                let passage = Passage { heading: row.get(1)?, text: row.get(2)? };
                let (document, name, number) = (stretch.document, stretch.name.clone(), row.get::<_, i64>(0)?);
                let place = (number - stretch.rows.first).try_into().unwrap_or(u32::MAX);
                Ok((number, FoundPassage { document, name, place, passage, score: row.get(3)? }))
            })?
            .collect::<Result<_, _>>()?;
        Ok(found)
    }

    fn stretches(&self, chat: ChatId) -> Result<Vec<Stretch>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT id, name, (SELECT min(number) FROM passage WHERE document = id),
                     (SELECT max(number) FROM passage WHERE document = id)
                 FROM document WHERE chat = ?1 AND deleted IS NULL",
            )?
            .query_map([Col(chat)], |row| {
                let rows = Rows { first: row.get(2)?, last: row.get(3)? };
                Ok(Stretch { document: row.get::<_, Col<_>>(0)?.0, name: row.get(1)?, rows })
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }
}

pub struct DocumentsMut<'a> {
    pub(crate) conn: &'a Connection,
}

impl DocumentsMut<'_> {
    /// Keeps a document with its passages, of which there is at least one.
    pub fn insert(&mut self, document: &Document, passages: &[Passage]) -> Result<(), StoreError> {
        self.conn
            .prepare_cached("INSERT INTO document (id, chat, name, bytes, created) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![
                Col(document.id),
                Col(document.chat),
                document.name,
                document.bytes as i64,
                Col(document.created)
            ])?;
        let mut insert =
            self.conn.prepare_cached("INSERT INTO passage (document, heading, text) VALUES (?1, ?2, ?3)")?;
        for passage in passages {
            insert.execute(params![Col(document.id), passage.heading, passage.text])?;
        }
        Ok(())
    }

    /// Hides it until `restore` or a purge.
    pub fn soft_delete(&mut self, id: DocumentId, when: Timestamp) -> Result<(), StoreError> {
        let rows = self
            .conn
            .prepare_cached("UPDATE document SET deleted = ?2 WHERE id = ?1 AND deleted IS NULL")?
            .execute(params![Col(id), Col(when)])?;
        one(rows, "document")
    }

    pub fn restore(&mut self, id: DocumentId) -> Result<(), StoreError> {
        let rows = self.conn.prepare_cached("UPDATE document SET deleted = NULL WHERE id = ?1")?.execute([Col(id)])?;
        one(rows, "document")
    }

    /// Removes for good what was deleted at or before `before`; returns which.
    pub(crate) fn purge(&mut self, before: Timestamp) -> Result<Vec<DocumentId>, StoreError> {
        let gone = self
            .conn
            .prepare_cached("DELETE FROM document WHERE deleted <= ?1 RETURNING id")?
            .query_map([Col(before)], |row| Ok(row.get::<_, Col<_>>(0)?.0))?
            .collect::<Result<_, _>>()?;
        Ok(gone)
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        id: row.get::<_, Col<_>>("id")?.0,
        chat: row.get::<_, Col<_>>("chat")?.0,
        name: row.get("name")?,
        bytes: row.get::<_, i64>("bytes")?.unsigned_abs(),
        created: row.get::<_, Col<_>>("created")?.0,
    })
}
